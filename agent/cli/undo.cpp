// SPDX-License-Identifier: Apache-2.0
// evictd undo: puts back what an agent that was killed left, for ExecStopPost. The next agent does so too; this is for
// when there is none. In the man page, but no verb of every day, so no help speaks of it.
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/guard.hpp"
#include "app/ladder_lanes.hpp"
#include "app/sources.hpp"
#include "cli/verb.hpp"
#include "config/load.hpp"
#include "sys/claim.hpp"

namespace evictd::cli {
namespace {

// Under a running agent it would only be done again.
Status refuse_beside_agent(const Config& config) {
    auto cgroups = app::open_cgroups(config);
    if (!cgroups) {
        return tl::unexpected(cgroups.error());
    }
    const auto root = (*cgroups)->find_pods_root();
    if (!root) {
        return {};
    }
    return sys::claim_directory((*cgroups)->hierarchies().memory + root->path, "an evictd works on these pods",
                                "it puts everything back itself when it is stopped")
        .map([](const sys::Fd&) {});
}

Exit undo(const std::optional<std::string>& file) {
    const auto config = config::load_files(std::nullopt, file);
    if (!config) {
        return tell(config.error());
    }
    if (auto alone = refuse_beside_agent(*config); !alone) {
        return tell(alone.error());
    }
    const auto done = app::undo_rungs(app::rungs_path(config->agent));
    return done ? Exit::fine : tell(done.error());
}

}  // namespace

void add_undo(CLI::App& program, Action& action) {
    auto file = std::make_shared<std::optional<std::string>>();
    auto* verb = program.add_subcommand("undo", "Put back limits and freezes that a killed evictd left")->group("");
    verb->add_option("--config", *file, "evictd's configuration (YAML)")->type_name("FILE");
    verb->callback([file, &action] { action = [file] { return undo(*file); }; });
}

}  // namespace evictd::cli
