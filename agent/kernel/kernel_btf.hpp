// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kernel's types (BTF), and the few of them that our programs read.
#pragma once

#include <memory>

struct btf;

namespace evictd::kernel {

struct FreeBtf {
    void operator()(btf* types) const;
};
using Btf = std::unique_ptr<btf, FreeBtf>;

// For CO-RE libbpf goes over all types of the kernel for each of ours. This has what it can find, and little else: the
// types of `kernel` that are called as one of `programs` is, flavours (`___`) aside, and those of their members; what
// pointers point to is left out, and so are the kernel's modules, which have none of ours. Every type has the id that
// it has in `kernel`. Null: it could not be made.
[[nodiscard]] Btf excerpt_for(const btf* programs, const btf* kernel);

}  // namespace evictd::kernel
