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

// For CO-RE libbpf searches all types of the kernel for each type of ours. The excerpt has only those with the name of
// one of ours, flavours (`___`) aside, and those of their members. What pointers point to is left out, and so are the
// types of the kernel's modules. Ids are those of `kernel`. Null: it could not be made.
[[nodiscard]] Btf excerpt_for(const btf* programs, const btf* kernel);

}  // namespace evictd::kernel
