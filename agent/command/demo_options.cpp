// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/demo_options.hpp"

#include <CLI/CLI.hpp>

#include "command/one_of.hpp"

namespace evictd::command {

void add_demo_options(CLI::App& program, DemoOptions& options) {
    program
        .add_option(
            "--scenario", options.scenario,
            "spike: a pod allocates memory at full speed; leak: it allocates slowly and exits on SIGTERM; pagecache: "
            "its files fill the page cache, and no pod is evicted; sockets: it opens connections until new ones are "
            "refused, and no pod is evicted; oomrace: the kernel's OOM killer acts first, and kills the pod that "
            "evictd would have evicted; thrash: it reads more files than fit in memory, and tasks stall although "
            "memory is available")
        ->check(one_of<Scenario>())
        ->capture_default_str();
    program.add_option("-o,--output", options.output, "text, or json: the agent's event records, one a line")
        ->check(one_of({"text", "json"}))
        ->capture_default_str();
    program.add_flag("--no-bpf", options.no_bpf, "run the agent without BPF, as on a kernel that does not allow it");
    program.add_flag("--no-steering", options.no_steering,
                     "with --scenario oomrace: let the kernel choose by itself, to see which pod it takes");
    program.parse_complete_callback([&options] {
        if (options.no_steering && options.scenario != name(Scenario::oomrace)) {
            throw CLI::ValidationError("--no-steering", "requires --scenario oomrace");
        }
    });
}

}  // namespace evictd::command
