// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/demo_options.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command/one_of.hpp"

namespace evictd::command {
namespace {

std::vector<std::string> scenarios() {
    const auto& names = names_of<Scenario>();
    std::vector<std::string> words(names.begin(), names.end());
    words.emplace_back(disk_scenario);
    words.emplace_back(forkbomb_scenario);
    words.emplace_back(cluster_scenario);
    return words;
}

void check_combination(const DemoOptions& options) {
    if (options.no_steering && options.scenario != name(Scenario::oomrace)) {
        throw CLI::ValidationError("--no-steering", "requires --scenario oomrace");
    }
    if (is_script(options.scenario) && (options.no_bpf || options.output != "text")) {
        throw CLI::ValidationError(options.no_bpf ? "--no-bpf" : "--output " + options.output,
                                   "not available with --scenario " + options.scenario);
    }
}

}  // namespace

void add_demo_options(CLI::App& program, DemoOptions& options) {
    program
        .add_option(
            "--scenario", options.scenario,
            "(spike) spike: a pod allocates memory at full speed; leak: it allocates slowly and exits on SIGTERM; "
            "pagecache: "
            "its files fill the page cache, and no pod is evicted; sockets: it opens connections until new ones are "
            "refused, and no pod is evicted; oomrace: the kernel's OOM killer acts first, and kills the pod that "
            "evictd would have evicted; thrash: it reads more files than fit in memory, and tasks stall although "
            "memory is available; disk: dead containers and unused images fill a disk and are removed, then a pod "
            "fills it and is evicted, in evictd's source tree only; forkbomb: a pod forks as fast as it can and is "
            "evicted before the node has no PIDs left, likewise; cluster: a real API server, kubelet and ReplicaSet, "
            "likewise")
        ->check(one_of(scenarios()))
        ->type_name("NAME")
        ->option_text(CLI::detail::join(scenarios(), "|"));
    program.add_option("-o,--output", options.output, "(text) json: the agent's event records, one a line")
        ->check(one_of({"text", "json"}))
        ->type_name("FORMAT")
        ->option_text("text|json");
    program.add_flag("--no-bpf", options.no_bpf, "run the agent without BPF, as on a kernel that does not allow it");
    program.add_flag("--no-steering", options.no_steering,
                     "with --scenario oomrace: let the kernel choose by itself, to see which pod it takes");
    program.footer(
        "Exit status: 0 all went as it should, 1 something did not, 2 wrong usage, 4 not permitted.\n"
        "\nExamples:\n"
        "  evictd demo\n"
        "  evictd demo --scenario leak\n"
        "  evictd demo --scenario oomrace --no-steering");
    program.parse_complete_callback([&options] { check_combination(options); });
}

}  // namespace evictd::command
