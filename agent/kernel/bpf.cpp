// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/bpf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "kernel/bpf_links.hpp"
#include "kernel/bpf_settings.hpp"
#include "kernel/loader.hpp"
#include "kernel/pinned_maps.hpp"
#include "kernel/pins.hpp"
#include "kernel/usage_rows.hpp"

namespace evictd::kernel {

struct Bpf::Loaded : LoadedPrograms {
    explicit Loaded(LoadedPrograms programs) : LoadedPrograms(std::move(programs)) {}
    std::map<std::string, Link> links;  // by program
    Link usage;                         // none while there is no pods' root
    sys::Fd root;                       // its directory
    bpf_program* exits_program = nullptr;
    Link exits;  // while watch_exits()
    std::optional<UsageRows> usage_rows;
};

Bpf::Bpf(LoadedPrograms programs, BpfOptions options)
    : options_(std::move(options)),
      loaded_(std::make_unique<Loaded>(std::move(programs))),
      settings_(initial_settings(options_)),
      rows_(loaded_->choice.rows) {}

Bpf::~Bpf() {
    if (pins_) {
        remove_pins(*pins_);
    }
}

Result<std::unique_ptr<Bpf>> Bpf::load(Choice choice, const BpfOptions& options) {
    // Every turn refuses one program more.
    for (std::size_t turn = 0; turn <= candidates().size(); turn++) {
        auto programs = load_programs(std::move(choice));
        if (!programs) {
            return tl::unexpected(programs.error());
        }
        std::unique_ptr<Bpf> bpf(new Bpf(std::move(*programs), options));
        if (auto opened = bpf->open_maps(); !opened) {
            return tl::unexpected(opened.error());
        }
        auto refusal = bpf->attach();
        if (!refusal) {
            const auto& loaded = *bpf->loaded_;
            bpf->sockets_ =
                std::make_unique<Sockets>(loaded.skeleton->obj, loaded.choice, bpf->options_.unified_mount, bpf->rows_);
            bpf->pin();
            return bpf;
        }
        auto next = choose_without(bpf->loaded_->choice, std::move(*refusal));
        if (!next) {
            return tl::unexpected(next.error());
        }
        choice = std::move(*next);
    }
    return bpf_error("attach", EINVAL);
}

Status Bpf::open_maps() {
    const auto& maps = loaded_->skeleton->maps;
    auto rows = UsageRows::open(bpf_map__fd(maps.usage_rows));
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    loaded_->usage_rows = std::move(*rows);
    pods_.emplace(bpf_map__fd(maps.pods));
    if (kernel::feeds(loaded_->choice, "stall")) {
        stalls_.emplace(bpf_map__fd(maps.stall), bpf_map__fd(maps.stall_lines));
    }
    return write_settings();
}

bool Bpf::feeds(std::string_view hook) const { return kernel::feeds(loaded_->choice, hook); }

const std::vector<Refusal>& Bpf::refused() const { return loaded_->choice.refused; }

std::optional<Refusal> Bpf::attach() {
    for (const auto* candidate : loaded_->choice.chosen) {
        if (candidate->attach == Attach::iterator || candidate->attach == Attach::cgroup) {
            continue;  // follow() attaches those that go over cgroups, Sockets its own
        }
        if (candidate->attach == Attach::timer) {
            if (const auto started = start_timer(); !started) {
                return Refusal{candidate->program, started.error().text()};
            }
            continue;
        }
        bpf_program* program = find_program(*loaded_, candidate->program);
        if (candidate->on_demand) {
            loaded_->exits_program = program;
            continue;
        }
        Link link(bpf_program__attach_trace(program));
        if (!link) {
            return Refusal{candidate->program, std::string("cannot be attached: ") + std::strerror(errno)};
        }
        loaded_->links[candidate->program] = std::move(link);
    }
    return std::nullopt;
}

Status Bpf::start_timer() {
    bpf_test_run_opts run{};
    run.sz = sizeof(run);
    if (bpf_prog_test_run_opts(bpf_program__fd(loaded_->skeleton->progs.start_watermarks), &run) != 0) {
        return bpf_error("timer", errno);
    }
    if (run.retval != 0) {
        return fail(ErrorKind::failed, "BPF timer", "the root memory cgroup was not found",
                    "boot without cgroup_disable=memory");
    }
    return {};
}

Status Bpf::write_settings() {
    const std::uint32_t zero = 0;
    const int map = bpf_map__fd(loaded_->skeleton->maps.settings);
    return bpf_map_update_elem(map, &zero, &settings_, BPF_ANY) == 0 ? Status{} : bpf_error("settings", errno);
}

int Bpf::events_map() const { return bpf_map__fd(loaded_->skeleton->maps.events); }

int Bpf::history_map() const { return bpf_map__fd(loaded_->skeleton->maps.history); }

evictd_drops Bpf::drops() const {
    evictd_drops drops{};
    const std::uint32_t zero = 0;
    (void)bpf_map_lookup_elem(bpf_map__fd(loaded_->skeleton->maps.drops), &zero, &drops);
    return drops;
}

evictd_timer_stats Bpf::timer_stats() const {
    evictd_timer_stats stats{};
    const std::uint32_t zero = 0;
    (void)bpf_map_lookup_elem(bpf_map__fd(loaded_->skeleton->maps.timer), &zero, &stats);
    return stats;
}

Status Bpf::follow(const std::optional<port::PodsRoot>& root) {
    loaded_->usage.reset();
    settings_.pods_root_id = root ? root->id.value : 0;
    settings_.pods_root_level = root ? root->level : 0;
    if (auto written = write_settings(); !written || !root) {
        return written;
    }
    auto directory = sys::open(options_.memory_mount + root->path, O_RDONLY | O_DIRECTORY);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    if (feeds("watermark") || feeds("usage")) {
        const auto at =
            attach_cgroup_iterator(loaded_->skeleton->progs.find_pods_root, *directory, BPF_CGROUP_ITER_SELF_ONLY);
        if (auto found = at ? run_iterator(at.get(), "pods' cgroup") : Status(bpf_error("pods' cgroup", errno));
            !found) {
            return found;
        }
    }
    if (feeds("usage")) {
        loaded_->usage = attach_own_task_iterator(loaded_->skeleton->progs.read_usage);
        if (!loaded_->usage) {
            return bpf_error("usage iterator", errno);
        }
    }
    loaded_->root = std::move(*directory);
    return {};
}

int Bpf::root_directory() const { return loaded_->usage ? loaded_->root.get() : -1; }

Status Bpf::watch_exits(bool on) {
    const bool attach = on && !loaded_->exits && loaded_->exits_program != nullptr;
    if (attach || !on) {
        loaded_->exits.reset(attach ? bpf_program__attach_trace(loaded_->exits_program) : nullptr);
    }
    return attach && !loaded_->exits ? Status(bpf_error("exits", errno)) : Status{};
}

Status Bpf::set_thresholds(const std::vector<evictd_watermark>& lines) {
    if (lines.size() > EVICTD_MAX_WATERMARKS) {
        return fail(ErrorKind::invalid, "thresholds",
                    fmt::format("{} lines to watch, at most {} fit", lines.size(), EVICTD_MAX_WATERMARKS),
                    "configure fewer thresholds");
    }
    settings_.watermarks = 0;  // the timer must not compare half of the old with half of the new
    if (auto written = write_settings(); !written) {
        return written;
    }
    const int map = bpf_map__fd(loaded_->skeleton->maps.thresholds);
    evictd_watermark unused{};
    for (std::uint32_t i = 0; i < EVICTD_MAX_WATERMARKS; i++) {
        if (bpf_map_update_elem(map, &i, i < lines.size() ? &lines[i] : &unused, BPF_ANY) != 0) {
            return bpf_error("thresholds", errno);
        }
    }
    settings_.watermarks = static_cast<std::uint32_t>(lines.size());
    return write_settings();
}

Status Bpf::count_memory(MemoryAvailable counted) {
    const bool reclaimable = counted == MemoryAvailable::reclaimable;
    settings_.memory_available = reclaimable ? EVICTD_AVAILABLE_RECLAIMABLE : EVICTD_AVAILABLE_KUBELET;
    return write_settings();
}

Status Bpf::pass_over_cgroups() {
    auto& shared = *loaded_->skeleton->bss;
    shared.usage_count = 0;
    shared.pages_moved = 0;
    auto passed = run_iterator(loaded_->usage.get(), "usage iterator");
    if (!passed && spare_) {
        spare_.reset();
        passed = run_iterator(loaded_->usage.get(), "usage iterator");
    }
    return passed;
}

Result<std::span<const std::byte>> Bpf::read_usage(port::Pass pass) {
    auto& shared = *loaded_->skeleton->bss;
    shared.pass_node_available = 0;
    if (!loaded_->usage) {
        return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
    }
    const bool keeps = pass != port::Pass::with_processes && shared.usage_count <= EVICTD_MAX_CGROUPS;
    shared.usage_known = keeps ? shared.usage_count : 0;
    shared.keep_unchanged = keeps && pass == port::Pass::changed_rows;
    auto passed = pass_over_cgroups();
    if (shared.pages_moved != 0) {
        shared.keep_unchanged = 0;
        passed = pass_over_cgroups();
    }
    if (!spare_) {
        spare_ = sys::open("/dev/null", O_RDONLY).value_or(sys::Fd());
    }
    if (!passed) {
        return tl::unexpected(passed.error());
    }
    return loaded_->usage_rows->first(loaded_->skeleton->bss->usage_count);
}

std::optional<port::NodeMemoryReading> Bpf::node_memory() const {
    const auto& shared = *loaded_->skeleton->bss;
    if (shared.pass_node_available == 0) {
        return std::nullopt;
    }
    return port::NodeMemoryReading{.total = {},
                                   .available = {static_cast<std::int64_t>(shared.pass_node_available)},
                                   .reclaimable = {static_cast<std::int64_t>(shared.pass_node_reclaimable)}};
}

Status Bpf::show_pods(const std::vector<std::pair<CgroupId, evictd_pod>>& pods) {
    auto shown = pods_->show(pods);
    auto kept = stalls_ ? stalls_->keep(pods_->shown()) : Status{};
    return shown ? kept : shown;
}

// Pins are for people and their tools: without them everything still works.
void Bpf::pin() {
    if (options_.pin_path.empty()) {
        return;
    }
    std::vector<Pin> all;
    for (const auto& map : pinned_maps()) {
        all.push_back({bpf_object__find_map_fd_by_name(loaded_->skeleton->obj, map.name), map.name, PinKind::map});
    }
    for (const auto& [program, link] : loaded_->links) {
        all.push_back({bpf_link__fd(link.get()), program, PinKind::link});
    }
    SourceRow row{.hook = "pins", .chosen = {}, .fallback = false, .detail = {}};
    if (auto prepared = prepare_pins(options_.pin_path); !prepared) {
        row.detail = prepared.error().text();
    } else {
        pins_ = std::move(*prepared);
        const auto done = pin_at(*pins_, all);
        (done ? row.chosen : row.detail) = done ? options_.pin_path : done.error().text();
    }
    rows_.push_back(std::move(row));
}

}  // namespace evictd::kernel
