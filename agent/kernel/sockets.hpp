// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The socket programs and their maps. The one that refuses hangs on the v2 hierarchy's root and is never pinned: when
// the agent dies, however it dies, the kernel detaches it and nobody is refused a socket any more.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evictd/model/signal_source.hpp"
#include "evictd/port/sockets.hpp"
#include "kernel/bpf_links.hpp"
#include "kernel/programs.hpp"

struct bpf_object;

namespace evictd::kernel {

class Sockets final : public port::Sockets {
public:
    // Attaches those of `choice` that count sockets. `object` is loaded and outlives it. `unified`: where the v2
    // hierarchy is mounted; empty: nowhere. A program that cannot be attached is reported in its row of `rows`.
    Sockets(bpf_object* object, const Choice& choice, const std::string& unified, std::vector<SourceRow>& rows);

    // A pod's cgroup was removed: what is left open of it is whose process holds it.
    void forget(CgroupId pod);

    Result<std::vector<PodSockets>> read() override;
    Status refuse(std::span<const CgroupId> pods, MonotonicTime until) override;
    [[nodiscard]] std::int64_t refused(CgroupId pod) const override;

private:
    void attach(const Candidate& candidate, const std::string& unified, SourceRow& row);
    [[nodiscard]] int map(const char* name) const;

    bpf_object* object_;
    Link files_;                     // the pass over all open files
    Link made_;                      // socket(2)
    std::vector<CgroupId> refused_;  // as told last
};

}  // namespace evictd::kernel
