// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd gc: removes now what a reclaim under disk pressure would remove, or says what that would be.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "app/collect_garbage.hpp"
#include "cli/output_format.hpp"
#include "cli/verb.hpp"
#include "command/interrupt.hpp"
#include "command/one_of.hpp"
#include "command/terminal.hpp"
#include "config/load.hpp"
#include "sys/log.hpp"

namespace evictd::cli {

using command::print;
using command::style_of;

namespace {

struct GcOptions {
    bool dry_run = false;
    std::string images;  // empty: as configured
    std::optional<std::string> config;
    std::optional<std::string> kubelet_config;
    std::optional<std::string> socket;
    std::string output = "text";
};

// What was not printed does not keep anything from being removed; it is told at the end.
class Screen {
public:
    explicit Screen(bool text) : text_(text), terminal_(isatty(STDOUT_FILENO) == 1) {}

    void plan(const codec::GcReport& report) {
        total_ = report.goes.size();
        if (text_) show(codec::gc_plan_text(report, style_of(STDOUT_FILENO)));
        if (text_ && !report.dry_run && total_ > 0) show("\n");
    }
    void removal(std::size_t done, const Garbage& one, const GarbageOutcome& outcome) {
        if (!text_) return;
        if (!terminal_) return show(codec::gc_step_text(one, outcome));
        show("\r" + codec::gc_progress_text(done, total_, one, style_of(STDOUT_FILENO)) + "\x1b[K");
        if (done == total_) show("\n");
        is_open_ = done != total_;
    }
    void summary(const codec::GcReport& report) {
        if (std::exchange(is_open_, false)) show("\n");
        show(text_ ? codec::gc_summary_text(report, style_of(STDOUT_FILENO)) : codec::gc_json(report));
    }
    [[nodiscard]] const Status& printed() const { return printed_; }

private:
    void show(const std::string& text) {
        if (printed_) printed_ = print(text);
    }

    bool text_;
    bool terminal_;
    bool is_open_ = false;  // the line of the bar
    std::size_t total_ = 0;
    Status printed_;
};

Exit collect(const GcOptions& options) {
    if (geteuid() != 0) {
        return tell({ErrorKind::not_permitted, "gc", "needs root to ask the container runtime", "sudo evictd gc"});
    }
    auto config = config::load_files(options.kubelet_config, options.config);
    if (!config) {
        return tell(config.error());
    }
    // A pattern of keepImages that keeps nothing is to be seen before the image is gone.
    for (const auto& warning : config->warnings) sys::log::warn(warning);
    config->agent.socket_path = options.socket.value_or(config->agent.socket_path);
    if (options.images == "unused") config->eviction.garbage.images = ReclaimedImages::unused;
    if (options.images == "enough") config->eviction.garbage.images = ReclaimedImages::enough;
    Screen screen(options.output == "text");
    app::CollectGarbage how;
    how.dry_run = options.dry_run || config->agent.dry_run;
    how.images = options.images != "none";
    how.on_plan = [&](const codec::GcReport& report) {
        screen.plan(report);
        if (!report.dry_run) command::note_interrupts();
    };
    how.on_removal = [&](std::size_t done, const Garbage& one, const GarbageOutcome& outcome) {
        screen.removal(done, one, outcome);
    };
    how.is_interrupted = command::is_interrupted;
    const auto report = app::collect_garbage(*config, how);
    if (!report) {
        return tell(report.error());
    }
    screen.summary(*report);
    for (const auto& trouble : report->troubles) (void)tell({ErrorKind::failed, "gc", trouble, ""});
    if (!screen.printed()) {
        return tell(screen.printed().error());
    }
    return report->fine() ? Exit::fine : Exit::no;
}

}  // namespace

void add_gc(CLI::App& program, Action& action) {
    auto options = std::make_shared<GcOptions>();
    auto* verb = program.add_subcommand(
        "gc", "Remove dead containers, sandboxes, their logs and unused images, and say why the rest stays");
    verb->add_flag("--dry-run", options->dry_run, "print what would be removed, and remove nothing");
    verb->add_option("--images", options->images,
                     "all unused, those unused longest until thresholds are met, or none (evictd.gc.images)")
        ->type_name("WHICH")
        ->option_text("unused|enough|none")
        ->check(command::one_of({"unused", "enough", "none"}));
    add_output(*verb, options->output, {"text", "json"});
    verb->add_option("--config", options->config, "evictd's configuration (YAML or JSON)")->type_name("FILE");
    verb->add_option("--kubelet-config", options->kubelet_config, "the kubelet's configuration")->type_name("FILE");
    verb->add_option("--socket", options->socket, "socket of a running agent, which knows the pods")->type_name("PATH");
    verb->footer(
        "Nothing that is in use goes, and nothing of a pod that runs. Of a pod that neither a manifest nor a running\n"
        "agent knows, the newest of each container, the newest sandbox and the logs stay. Each object is looked at\n"
        "again right before it is removed. Ctrl-C ends it after the removal under way; what is left is found again.\n"
        "Without --config the defaults hold: what a file says of keepImages and containerRuntimeEndpoint is not "
        "known.\n"
        "Exit status: 0 if everything removable was removed, 1 if something was refused, could not be asked or was\n"
        "left, 3 if there is no container runtime or it does not answer, 4 without root.\n"
        "\nExamples:\n"
        "  evictd gc --config /etc/evictd/config.yaml --dry-run\n"
        "  evictd gc --config /etc/evictd/config.yaml --images none\n"
        "  evictd gc --config /etc/evictd/config.yaml -o json | jq '.done.freed_bytes'");
    verb->callback([options, &action] { action = [options] { return collect(*options); }; });
}

}  // namespace evictd::cli
