// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/demo.hpp"

#include <unistd.h>

#include "demo/oomrace.hpp"
#include "demo/play.hpp"
#include "kernel/proc_files.hpp"

namespace evictd::demo {

Result<std::vector<std::string>> run_demo(const DemoOptions& options) {
    if (geteuid() != 0) {
        return fail(ErrorKind::not_permitted, "demo", "needs root to make cgroups and to watch the kernel",
                    "sudo evictd demo");
    }
    if (options.scenario == Scenario::sockets && !options.bpf) {
        return fail(ErrorKind::invalid, "demo", "without BPF no pod can be kept from sockets",
                    "leave --no-bpf out, or play another scenario");
    }
    auto node = kernel::ProcFiles::open();
    const auto memory = node ? (*node)->read(false) : tl::unexpected<Error>(node.error());
    if (!memory) {
        return tl::unexpected(memory.error());
    }
    const auto limit = limit_for(memory->available);
    if (!limit) {
        return tl::unexpected(limit.error());
    }
    auto play = Play::make(options);
    if (!play) {
        return tl::unexpected(play.error());
    }
    return (*play)->run(options.scenario == Scenario::oomrace ? oomrace_plan(*limit, memory->total, options.steering)
                                                              : plan_for(options.scenario, *limit));
}

}  // namespace evictd::demo
