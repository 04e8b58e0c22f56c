// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd demo: the main job on this machine, by itself.
#include "demo/demo.hpp"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/one_of.hpp"
#include "cli/terminal.hpp"
#include "cli/verb.hpp"

namespace evictd::cli {
namespace {

struct DemoOptions {
    std::string scenario = "spike";
    std::string output = "text";
    bool no_bpf = false;
    bool no_steering = false;
};

Exit run_demo(const DemoOptions& options) {
    if (options.scenario == "thrash" && options.no_bpf) {
        return tell({ErrorKind::invalid, "demo", "without BPF it is not known which pod causes a stall",
                     "leave --no-bpf out, or play another scenario"});
    }
    const auto faults = demo::run_demo({.scenario = *demo::scenario_from(options.scenario),
                                        .json = options.output == "json",
                                        .bpf = !options.no_bpf,
                                        .steering = !options.no_steering,
                                        .style = [] { return style_of(STDOUT_FILENO); },
                                        .rows = [] { return rows_of(STDOUT_FILENO); }});
    if (!faults) {
        return tell(faults.error());
    }
    if (options.output == "json") {
        for (const auto& fault : *faults) {
            std::cerr << "evictd: demo: " << fault << '\n';
        }
    }
    return faults->empty() ? Exit::fine : Exit::no;
}

}  // namespace

void add_demo(CLI::App& program, Action& action) {
    auto options = std::make_shared<DemoOptions>();
    auto* verb = program.add_subcommand(
        "demo",
        "Show the main job on this machine: real pods, real pressure, one eviction; then clean up (needs root)");
    verb->add_option(
            "--scenario", options->scenario,
            "spike: a pod takes memory at full speed; leak: slowly, and it shuts down when asked; pagecache: its files "
            "fill the page cache, and no pod may be evicted; sockets: it opens connections until it gets no more of "
            "them, and no pod is evicted; oomrace: the kernel's OOM killer is faster, and kills the pod that evictd "
            "would have evicted; thrash: it reads more files than fit, so that tasks stall though bytes are free")
        ->check(one_of({"spike", "leak", "pagecache", "sockets", "oomrace", "thrash"}))
        ->capture_default_str();
    verb->add_option("-o,--output", options->output, "text, or json: the agent's event records, one a line")
        ->check(one_of({"text", "json"}))
        ->capture_default_str();
    verb->add_flag("--no-bpf", options->no_bpf, "let the agent do without BPF, as where the kernel does not allow it");
    verb->add_flag("--no-steering", options->no_steering,
                   "oomrace: let the kernel choose by itself, to see which pod it takes");
    verb->callback([options, &action] { action = [options] { return run_demo(*options); }; });
}

}  // namespace evictd::cli
