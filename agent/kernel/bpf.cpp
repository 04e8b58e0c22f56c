// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/bpf_settings.hpp"
#include "kernel/pins.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/usage_rows.hpp"

namespace evictd::kernel {
namespace {

struct FreeSkeleton {
    void operator()(evictd_bpf* skeleton) const { evictd_bpf__destroy(skeleton); }
};
struct FreeLink {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, FreeLink>;

tl::unexpected<Error> bpf_error(const std::string& what, int error) {
    const auto kind = error == EPERM || error == EACCES ? ErrorKind::not_permitted : ErrorKind::failed;
    return fail(kind, "BPF " + what, std::strerror(error), "evictd doctor tells what this kernel takes");
}

}  // namespace

struct Bpf::Loaded {
    std::unique_ptr<evictd_bpf, FreeSkeleton> skeleton;
    std::map<std::string, Link> links;  // by program
    Link usage;                         // below the pods' root; none while there is no root
    bpf_program* exits_program = nullptr;
    Link exits;  // while watch_exits()
    std::optional<UsageRows> usage_rows;
};

Bpf::Bpf(BpfOptions options)
    : options_(std::move(options)), loaded_(std::make_unique<Loaded>()), settings_(initial_settings(options_)) {}

Bpf::~Bpf() {
    if (pins_) {
        remove_pins(options_.pin_path);
    }
}

Result<std::unique_ptr<Bpf>> Bpf::load(const Choice& choice, BpfOptions options) {
    std::unique_ptr<Bpf> bpf(new Bpf(std::move(options)));
    auto& skeleton = bpf->loaded_->skeleton;
    skeleton.reset(evictd_bpf__open());
    if (!skeleton) {
        return bpf_error("open", errno);
    }
    skeleton->rodata->page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    skeleton->rodata->numa_nodes = possible_numa_nodes();
    std::set<std::string> wanted;
    for (const auto* candidate : choice.chosen) {
        wanted.insert(candidate->program);
    }
    skeleton->rodata->oom_is_told = wanted.contains("on_oom_kill_process") ? 1 : 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        bpf_program__set_autoload(program, wanted.contains(bpf_program__name(program)));
    }
    if (const int error = evictd_bpf__load(skeleton.get()); error != 0) {
        return bpf_error("load", -error);
    }
    auto rows = UsageRows::open(bpf_map__fd(skeleton->maps.usage_rows));
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    bpf->loaded_->usage_rows = std::move(*rows);
    bpf->rows_ = choice.rows;
    if (wanted.contains("on_stalled_exit")) {
        bpf->stalls_.emplace(bpf_map__fd(skeleton->maps.stall), bpf_map__fd(skeleton->maps.stall_lines));
    }
    if (auto attached = bpf->attach(choice); !attached) {
        return tl::unexpected(attached.error());
    }
    bpf->sockets_ = std::make_unique<Sockets>(skeleton->obj, choice, bpf->options_.unified_mount, bpf->rows_);
    bpf->pin();
    return bpf;
}

Status Bpf::attach(const Choice& choice) {
    if (auto written = write_settings(); !written) {
        return written;
    }
    for (const auto* candidate : choice.chosen) {
        if (candidate->attach == Attach::iterator || candidate->attach == Attach::cgroup) {
            continue;  // follow() attaches that of usage below the pods' root, Sockets its own
        }
        if (candidate->attach == Attach::timer) {
            if (auto started = start_timer(); !started) {
                return started;
            }
            continue;
        }
        bpf_program* program = bpf_object__find_program_by_name(loaded_->skeleton->obj, candidate->program);
        if (candidate->on_demand) {
            loaded_->exits_program = program;
            continue;
        }
        Link link(bpf_program__attach(program));
        if (!link) {
            return bpf_error(candidate->program, errno);
        }
        loaded_->links[candidate->program] = std::move(link);
    }
    return {};
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
    bpf_iter_link_info info{};
    info.cgroup.cgroup_fd = static_cast<std::uint32_t>(directory->get());
    info.cgroup.order = BPF_CGROUP_ITER_DESCENDANTS_PRE;
    bpf_iter_attach_opts options{};
    options.sz = sizeof(options);
    options.link_info = &info;
    options.link_info_len = sizeof(info);
    loaded_->usage.reset(bpf_program__attach_iter(loaded_->skeleton->progs.read_usage, &options));
    if (!loaded_->usage) {
        return bpf_error("usage iterator", errno);
    }
    return {};
}

Status Bpf::watch_exits(bool on) {
    const bool attach = on && !loaded_->exits && loaded_->exits_program != nullptr;
    if (attach || !on) {
        loaded_->exits.reset(attach ? bpf_program__attach(loaded_->exits_program) : nullptr);
    }
    return attach && !loaded_->exits ? Status(bpf_error("exits", errno)) : Status{};
}

Status Bpf::set_thresholds(const std::vector<evictd_watermark>& lines) {
    if (lines.size() > EVICTD_MAX_WATERMARKS) {
        return fail(
            ErrorKind::invalid, "thresholds",
            std::to_string(lines.size()) + " lines to watch, at most " + std::to_string(EVICTD_MAX_WATERMARKS) + " fit",
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

Result<std::span<const std::byte>> Bpf::read_usage() {
    if (!loaded_->usage) {
        return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
    }
    const sys::Fd iterator(bpf_iter_create(bpf_link__fd(loaded_->usage.get())));
    if (!iterator) {
        return bpf_error("usage iterator", errno);
    }
    loaded_->skeleton->bss->usage_count = 0;
    ssize_t got = 0;
    do {
        std::byte nothing{};  // what it finds, it leaves in the map
        got = read(iterator.get(), &nothing, sizeof(nothing));
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0) {
        return bpf_error("usage iterator", errno);
    }
    return loaded_->usage_rows->first(loaded_->skeleton->bss->usage_count);
}

Status Bpf::show_pods(const std::vector<std::pair<CgroupId, evictd_pod>>& pods) {
    const int map = bpf_map__fd(loaded_->skeleton->maps.pods);
    std::vector<CgroupId> now;
    std::vector<evictd_pod> entries;
    now.reserve(pods.size());
    entries.reserve(pods.size());
    for (const auto& [id, pod] : pods) {
        now.push_back(id);
        entries.push_back(pod);
    }
    auto count = static_cast<std::uint32_t>(pods.size());
    bpf_map_batch_opts all{};
    all.sz = sizeof(all);
    const bool shown = pods.empty() || bpf_map_update_batch(map, now.data(), entries.data(), &count, &all) == 0;
    Status result = shown ? Status{} : bpf_error("pods", errno);
    std::sort(now.begin(), now.end());
    for (const auto id : shown_) {
        if (!std::binary_search(now.begin(), now.end(), id)) {
            (void)bpf_map_delete_elem(map, &id.value);
        }
    }
    shown_ = std::move(now);
    if (auto kept = stalls_ ? stalls_->keep(shown_) : Status{}; result && !kept) {
        result = std::move(kept);
    }
    return result;
}

// Pins are for people and their tools: without them everything still works.
void Bpf::pin() {
    if (options_.pin_path.empty()) {
        return;
    }
    const auto& maps = loaded_->skeleton->maps;
    std::vector<Pin> all;
    for (const bpf_map* map : {maps.thresholds, maps.settings, maps.drops, maps.timer, maps.history, maps.pods,
                               maps.sockets, maps.events, maps.stall, maps.stall_lines}) {
        all.push_back({bpf_map__fd(map), bpf_map__name(map)});
    }
    for (const auto& [program, link] : loaded_->links) {
        all.push_back({bpf_link__fd(link.get()), "links/" + program});
    }
    SourceRow row{.hook = "pins", .chosen = {}, .fallback = false, .detail = {}};
    if (auto prepared = prepare_pins(options_.pin_path); !prepared) {
        row.detail = prepared.error().text();
    } else {
        pins_ = std::move(*prepared);
        const auto done = pin_at(options_.pin_path, all);
        (done ? row.chosen : row.detail) = done ? options_.pin_path : done.error().text();
    }
    rows_.push_back(std::move(row));
}

}  // namespace evictd::kernel
