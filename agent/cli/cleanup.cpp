// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd cleanup: removes evictd's conditions and taints from this node or from all, for whoever uninstalls evictd
// where an agent never comes back. What an agent changed on its own host is `evictd undo`'s.
#include "app/cleanup.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/pod_sources.hpp"
#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "config/load.hpp"
#include "evictd/model/text.hpp"

namespace evictd::cli {
namespace {

struct CleanupOptions {
    std::optional<std::string> config;
    std::optional<std::string> kubeconfig;
    std::optional<std::string> node;
    bool all_nodes = false;
    bool dry_run = false;
};

std::string node_line(const reconcile::CleanedNode& cleaned, bool dry_run) {
    std::string list;
    for (const auto& one : cleaned.removed) {
        list += (list.empty() ? "" : ", ") + one;
    }
    if (list.empty()) {
        return cleaned.node + ": " + (cleaned.failed.empty() ? "nothing to remove" : "nothing was removed") + '\n';
    }
    return cleaned.node + (dry_run ? ": would remove " : ": removed ") + printable(list) + '\n';
}

// The worst of both: a missing right is what a person can mend.
Exit worse(Exit before, Exit now) {
    if (before == Exit::not_permitted || now == Exit::not_permitted) {
        return Exit::not_permitted;
    }
    return before == Exit::fine ? now : before;
}

Exit clean_up(const CleanupOptions& options) {
    auto config = config::load_files(std::nullopt, options.config);
    if (!config) {
        return tell(config.error());
    }
    auto& cluster = config->agent.cluster;
    if (options.kubeconfig) {
        cluster.kubeconfig = *options.kubeconfig;
    }
    cluster.api_server = ApiServerUse::automatic;  // off is for agents; here it is asked for
    const auto node = options.all_nodes ? std::string{} : options.node.value_or(app::node_name(*config));
    Exit code = Exit::fine;
    const auto on_node = [&](const reconcile::CleanedNode& cleaned) {
        const auto printed = command::print(node_line(cleaned, options.dry_run));
        if (!printed) {
            code = worse(code, tell(printed.error()));
        }
        for (const auto& error : cleaned.failed) {
            code = worse(code, tell(error));
        }
        return printed.has_value();
    };
    const auto done = app::cleanup(cluster, {.node = node, .dry_run = options.dry_run}, on_node);
    return done ? code : worse(code, tell(done.error()));
}

}  // namespace

void add_cleanup(CLI::App& program, Action& action) {
    auto options = std::make_shared<CleanupOptions>();
    auto* verb = program.add_subcommand("cleanup", "Remove evictd's conditions and taints from nodes of the cluster");
    auto* node = verb->add_option("--node", options->node, "this node (default: the one it runs on)");
    node->type_name("NAME")->check(CLI::Validator(
        [](const std::string& text) { return text.empty() ? std::string("is empty (expected a name)") : ""; }, ""));
    verb->add_flag("--all-nodes", options->all_nodes, "every node of the cluster")->excludes(node);
    verb->add_flag("--dry-run", options->dry_run, "print what would be removed, and remove nothing");
    verb->add_option("--kubeconfig", options->kubeconfig, "where the API server is, and the credentials")
        ->type_name("FILE");
    verb->add_option("--config", options->config, "the agent's configuration (YAML)")->type_name("FILE");
    verb->footer(
        "Removes conditions and taints whose name begins with evictd.io/, and no other, and prints a line for each\n"
        "node. For nodes whose agent is gone: one that runs puts its own back within about 15 minutes. Needs get and\n"
        "patch of nodes and patch of nodes/status, with --all-nodes also list of nodes. Without --kubeconfig: as the\n"
        "configuration says, or the service account of the pod it runs in.\n"
        "Exit status: 0 if nothing is left, 1 if something is, 3 if the API server cannot be reached, 4 if a right is\n"
        "missing.\n"
        "\nExamples:\n"
        "  evictd cleanup --all-nodes --dry-run --kubeconfig ~/.kube/config\n"
        "  evictd cleanup --node worker-7");
    verb->callback([options, &action] { action = [options] { return clean_up(*options); }; });
}

}  // namespace evictd::cli
