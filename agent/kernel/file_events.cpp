// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/file_events.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kernel/usage_files.hpp"

namespace evictd::kernel {
namespace {

// 100 ms lost in 2 s: the shortest window that needs no CAP_SYS_RESOURCE is 2 s. Half as much stalls fires on harmless
// bursts of reclaim; twice as much comes when the node already crawls.
constexpr const char* pressure_trigger = "some 100000 2000000";

// How fast memory is taken to shrink between two looks of our own: what a hog at full speed does.
constexpr Bytes growth_per_second = 2_GiB;
constexpr Duration shortest_look = std::chrono::milliseconds(10);
constexpr Duration longest_look = std::chrono::seconds(1);

// A v1 level moves with the page cache. Setting one anew takes the kernel a grace period of RCU, 20 ms and more, in
// which nobody looks: behind the look only, not often, and not for less than this. The timed look covers what is in
// between.
constexpr std::int64_t level_slack = (4_MiB).value;
constexpr Duration between_renewals = std::chrono::seconds(1);

// Pods that live at a limit of their own change memory.events a hundred times a second, which is a look each time. What
// is left out meanwhile is seen by the timed look.
constexpr Duration limits_rest = std::chrono::milliseconds(100);

// What epoll says of the watch over the pods' cgroups, and of levels to set anew; a number below is an index of
// `watched_`.
constexpr std::uint64_t pods_ready = ~std::uint64_t{0};
constexpr std::uint64_t levels_ready = pods_ready - 1;

// So that it is not ready any more: an eventfd's count, and of a file what has changed until now.
void take_note(int fd) {
    std::array<char, 4096> text{};
    (void)::lseek(fd, 0, SEEK_SET);
    (void)!::read(fd, text.data(), text.size());
}

std::int64_t read_number(const std::string& path) {
    auto file = sys::open(path, O_RDONLY);
    std::string text;
    std::int64_t value = 0;
    if (file && sys::read_text(file->get(), text)) {
        (void)std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

}  // namespace

FileEvents::FileEvents(Hierarchies hierarchies, std::unique_ptr<CgroupNews> cgroups, const sys::Clock& clock,
                       std::string why)
    : hierarchies_(std::move(hierarchies)),
      cgroups_(std::move(cgroups)),
      clock_(clock),
      why_(std::move(why)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      levels_due_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Result<std::unique_ptr<FileEvents>> FileEvents::make(Hierarchies hierarchies, std::unique_ptr<CgroupNews> cgroups,
                                                     const sys::Clock& clock, std::string why) {
    std::unique_ptr<FileEvents> events(
        new FileEvents(std::move(hierarchies), std::move(cgroups), clock, std::move(why)));
    const auto& pods = *events->cgroups_;
    if (!events->listen(events->levels_due_.get(), EPOLLIN, levels_ready) ||
        (pods.works() && !events->listen(pods.fd(), EPOLLIN, pods_ready))) {
        return sys::fail_errno("epoll", errno);
    }
    return events;
}

bool FileEvents::listen(int fd, std::uint32_t events, std::uint64_t which) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = which;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void FileEvents::add(Watched watched, std::uint32_t events) {
    if (listen(watched.fd.get(), events, watched_.size())) {
        watched_.push_back(std::move(watched));
    }
}

// The page cache that counts as available.
std::int64_t FileEvents::free_cache(const std::string& directory) const {
    auto file = sys::open(directory + "/memory.stat", O_RDONLY);
    std::string text;
    if (!file || !sys::read_text(file->get(), text)) {
        return 0;
    }
    const bool all = counted_ == MemoryAvailable::reclaimable;
    return flat_value(text, "total_inactive_file") + (all ? flat_value(text, "total_active_file") : 0);
}

std::string FileEvents::usage_directory(const Watermark& watermark) const {
    return hierarchies_.memory + (watermark.signal == Signal::memory_available || !root_ ? "" : root_->path);
}

// As the kubelet's memcg notifier does: usage may rise to capacity minus threshold, plus what is free page cache now.
std::int64_t FileEvents::usage_level(const Watermark& watermark) const {
    const std::string directory = usage_directory(watermark);
    const std::int64_t node_capacity = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const std::int64_t limit = watermark.signal == Signal::memory_available
                                   ? node_capacity
                                   : std::min(node_capacity, read_number(directory + "/memory.limit_in_bytes"));
    return limit - watermark.threshold.value + free_cache(directory);
}

std::optional<FileEvents::Watched> FileEvents::usage_watch(const Watermark& watermark) const {
    if (watermark.signal != Signal::memory_available && !root_) {
        return std::nullopt;
    }
    const std::string directory = usage_directory(watermark);
    const std::int64_t level = usage_level(watermark);
    auto counter = sys::open(directory + "/memory.usage_in_bytes", O_RDONLY);
    auto control = sys::open(directory + "/cgroup.event_control", O_WRONLY);
    sys::Fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (level <= 0 || !counter || !control || !event) {
        return std::nullopt;
    }
    const std::string request = fmt::format("{} {} {}", event.get(), counter->get(), level);
    if (!sys::write_text(control->get(), request)) {
        return std::nullopt;
    }
    return Watched{.file = directory + "/memory.usage_in_bytes",
                   .fd = std::move(event),
                   .counter = std::move(*counter),
                   .watermark = watermark,
                   .level = level,
                   .rest = shortest_look};
}

void FileEvents::arm_memory_events() {
    const std::string path = hierarchies_.memory + root_->path + "/memory.events";
    if (auto file = sys::open(path, O_RDONLY)) {
        std::string text;
        (void)sys::read_text(file->get(), text);  // only changes from now on
        add({.file = path, .fd = std::move(*file), .rest = limits_rest}, EPOLLPRI);
    }
}

void FileEvents::arm_pressure(const std::string& path) {
    auto file = sys::open(path, O_RDWR | O_NONBLOCK);
    if (file && sys::write_text(file->get(), std::string_view(pressure_trigger,
                                                              std::char_traits<char>::length(pressure_trigger) + 1))) {
        add({.file = path, .fd = std::move(*file)}, EPOLLPRI);
    }
}

void FileEvents::arm() {
    watched_.clear();  // closing an fd takes it out of the epoll set
    if (hierarchies_.v2) {
        if (root_) {
            arm_memory_events();
            arm_pressure(hierarchies_.memory + root_->path + "/memory.pressure");
        }
    } else {
        for (const auto& watermark : watermarks_) {
            if (auto usage = usage_watch(watermark)) {
                add(std::move(*usage), EPOLLIN);
            }
        }
    }
    arm_pressure("/proc/pressure/memory");
}

Status FileEvents::watch(std::span<const Watermark> watermarks) {
    watermarks_.assign(watermarks.begin(), watermarks.end());
    arm();
    return {};
}

Status FileEvents::count_memory(MemoryAvailable counted) {
    counted_ = counted;
    arm();
    return {};
}

Status FileEvents::follow(const std::optional<port::PodsRoot>& root) {
    root_ = root;
    cgroups_->follow(root);
    arm();
    return {};
}

void FileEvents::drain(const Sink& sink) {
    std::array<epoll_event, 16> ready{};
    const int count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    if (count <= 0) {
        return;
    }
    cgroups_->drain(sink);
    bool told = false, due = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); i++) {
        const auto which = ready[i].data.u64;
        due = due || which == levels_ready;
        if (which < watched_.size()) {
            told = tell(watched_[which], sink) || told;
        }
    }
    if (told) {
        put_off_levels();
    } else if (due) {
        renew_levels();
    }
}

// False: it rests.
bool FileEvents::tell(Watched& watched, const Sink& sink) {
    take_note(watched.fd.get());
    const auto now = clock_.monotonic();
    if (now - watched.told_at < watched.rest) {
        return false;
    }
    watched.told_at = now;
    sink(KernelEvent{now, StallTriggered{watched.file}});
    return true;
}

// Until the loop comes back from the look that is due now.
void FileEvents::put_off_levels() {
    if (!hierarchies_.v2 && clock_.monotonic() - levels_renewed_ >= between_renewals) {
        const std::uint64_t one = 1;
        (void)!::write(levels_due_.get(), &one, sizeof(one));
    }
}

void FileEvents::renew_levels() {
    take_note(levels_due_.get());
    levels_renewed_ = clock_.monotonic();
    for (std::size_t i = 0; i < watched_.size(); i++) {
        const auto& watermark = watched_[i].watermark;
        if (!watermark || std::abs(usage_level(*watermark) - watched_[i].level) <= level_slack) {
            continue;
        }
        auto renewed = usage_watch(*watermark);
        if (renewed && listen(renewed->fd.get(), EPOLLIN, i)) {
            watched_[i] = std::move(*renewed);  // the old one leaves the epoll set when it is closed
        }
    }
}

std::optional<TimedLooks> FileEvents::timed_looks() const {
    return TimedLooks{.shortest = shortest_look, .longest = longest_look, .growth_per_second = growth_per_second};
}

bool FileEvents::pressure_is_watched() const {
    return std::any_of(watched_.begin(), watched_.end(),
                       [](const Watched& watched) { return watched.file.find("pressure") != std::string::npos; });
}

std::vector<SourceRow> FileEvents::sources() const {
    std::string files;
    for (const auto& watched : watched_) {
        if (files.find(watched.file) == std::string::npos) {
            files += (files.empty() ? "" : ", ") + watched.file;
        }
    }
    const std::string lost = "BPF is not used: " + why_;
    std::vector<SourceRow> rows{
        {.hook = "watermark",
         .chosen = "timed look, 10 ms to 1 s" + (files.empty() ? "" : "; " + files),
         .fallback = true,
         .detail = lost},
        {.hook = "usage", .chosen = "control files", .fallback = true, .detail = "slower by a factor of fifty"},
        {.hook = "cgroup_populated", .chosen = "cgroup.procs at each look", .fallback = true, .detail = {}},
        {.hook = "oom", .chosen = {}, .fallback = true, .detail = "OOM kills by the kernel are not reported"},
        {.hook = "oom_score", .chosen = "oom_score_adj at each regular look", .fallback = true, .detail = {}},
        {.hook = "stall",
         .chosen = pressure_is_watched() ? "PSI trigger; /proc/pressure at each look" : "",
         .fallback = true,
         .detail = "stalls of single pods are not known"},
        {.hook = "memcg",
         .chosen = hierarchies_.v2 ? "memory.events of the pods' root" : "",
         .fallback = true,
         .detail = hierarchies_.v2 ? "PodAtMemoryLimit is not reported" : ""},
    };
    const auto pods = cgroups_->rows();
    rows.insert(rows.end(), pods.begin(), pods.end());
    return rows;
}

}  // namespace evictd::kernel
