// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd pod-process: what runs in the demo's pods. For the demo alone, so no help speaks of it.
#include "demo/pod_process.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/verb.hpp"

namespace evictd::cli {

void add_pod_process(CLI::App& program, Action& action) {
    auto options = std::make_shared<demo::PodProcessOptions>();
    auto* verb = program.add_subcommand("pod-process", "A process of a pod of evictd demo")->group("");
    verb->add_option("--cgroup", options->cgroup)->required();
    verb->add_option("--hold", options->hold_mib)->required();
    verb->add_flag("--grow", options->grows);
    verb->add_option("--rate", options->mib_per_second);
    verb->add_option("--up-to", options->grow_to_mib);
    verb->add_option("--processes", options->processes);
    verb->add_option("--files", options->files);
    verb->add_option("--files-mib", options->files_mib);
    verb->add_flag("--connect", options->connects);
    verb->add_flag("--open-sockets", options->opens_sockets);
    verb->add_option("--reread", options->reread);
    verb->add_option("--shutdown-ms", options->shutdown_ms);
    verb->callback(
        [options, &action] { action = [options] { return static_cast<Exit>(demo::run_pod_process(*options)); }; });
}

}  // namespace evictd::cli
