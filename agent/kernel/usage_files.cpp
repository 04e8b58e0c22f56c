// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/usage_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include "evictd/abi/event.h"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

// v1 says "no limit" as the largest number of whole pages.
constexpr std::int64_t no_limit_v1 = std::int64_t{1} << 62;

// Listing takes 1 us a process and 8 us a cgroup, and a pod has as many as it likes. A count that is ten seconds old is
// as good as the kubelet's, which asks that often.
constexpr int count_share = 50;  // of a CPU
constexpr Duration count_at_most_every = std::chrono::seconds(1);
constexpr Duration count_at_least_every = std::chrono::seconds(10);
constexpr std::int32_t most_processes = 32768;

// A tenth of the time after which a real-time thread loses its priority: machines that emulate are ten times slower. A
// hundredth of the time is lost by it.
constexpr Duration rest_after = std::chrono::milliseconds(100);
constexpr Duration rest_time = std::chrono::milliseconds(1);

// A directory on each level down to the pods, and the walk over a pod's own cgroups.
constexpr std::size_t descriptors_of_a_pass = 8;

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

Status read_file(const std::string& path, std::string& into) {
    auto file = sys::open(path, O_RDONLY);
    return file ? sys::read_text(file->get(), into) : tl::unexpected<Error>(file.error());
}

// Its pods' pages are theirs: what is left is the root's own.
void subtract(port::CgroupUsage& root, const port::CgroupUsage& pod) {
    const auto less = [](Bytes& from, Bytes by) { from = std::max(Bytes{0}, from - by); };
    less(root.inactive_file, pod.inactive_file);
    less(root.active_file, pod.active_file);
    less(root.anon, pod.anon);
}

// As the cgroup itself says, and not one of its files.
bool is_gone(const port::PodCgroup& cgroup) {
    const auto populated = cgroup.populated();
    return !populated && populated.error().kind == ErrorKind::vanished;
}

bool is_gone(const Result<port::PodsRoot>& root) { return !root && root.error().kind == ErrorKind::vanished; }

}  // namespace

std::int64_t flat_value(const std::string& text, const std::string& key) {
    const std::string label = key + " ";
    std::size_t at = text.starts_with(label) ? 0 : text.find("\n" + label);
    if (at == std::string::npos) {
        return 0;
    }
    at = text.find(label, at) + label.size();
    std::int64_t value = 0;
    (void)std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

// v1 has the cgroup's own pages and, with this prefix, those of the whole subtree; v2 has only the latter, and the
// kernel's own memory with them.
port::RootCount whole_tree_count(const std::string& memory_stat, std::optional<Bytes> kernel_memory_v1) {
    const bool v1 = memory_stat.find("\ntotal_inactive_file ") != std::string::npos;
    const auto value = [&](const char* key) {
        return Bytes{flat_value(memory_stat, (v1 ? "total_" : "") + std::string(key))};
    };
    const auto kernel = v1 ? kernel_memory_v1 : std::optional(value("kernel") + value("sock"));
    const Bytes pages = v1 ? value("rss") + value("cache") : value("anon") + value("file");
    return {.inactive_file = value("inactive_file"),
            .active_file = value("active_file"),
            .at = {},
            .accounted = kernel ? std::optional(pages + *kernel) : std::nullopt};
}

Bytes file_pages(const std::string& memory_stat) {
    const bool v1 = memory_stat.find("\ntotal_cache ") != std::string::npos;
    return {flat_value(memory_stat, v1 ? "total_cache" : "file")};
}

UsageFiles::UsageFiles(Hierarchies hierarchies, port::Cgroups& cgroups, const sys::Clock& clock)
    : hierarchies_(std::move(hierarchies)), cgroups_(cgroups), clock_(clock), spare_(descriptors_of_a_pass) {}

Result<Bytes> UsageFiles::read_usage(const std::string& path) {
    const char* file = hierarchies_.v2 ? "/memory.current" : "/memory.usage_in_bytes";
    if (auto read = read_file(hierarchies_.memory + path + file, text_); !read) {
        return tl::unexpected(read.error());
    }
    return Bytes{number(text_).value_or(0)};
}

Result<port::CgroupUsage> UsageFiles::read_one(const std::string& path) {
    const std::string directory = hierarchies_.memory + path + "/";
    const std::string prefix = hierarchies_.v2 ? "" : "total_";
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) {
        return sys::fail_errno(path, errno);
    }
    port::CgroupUsage row{.id = {status.st_ino}};
    if (auto usage = read_usage(path)) {
        row.usage = *usage;
    } else {
        return tl::unexpected(usage.error());
    }
    if (read_file(directory + (hierarchies_.v2 ? "memory.max" : "memory.limit_in_bytes"), text_)) {
        const auto limit = number(text_);  // "max" is no number
        row.limit = limit && *limit < no_limit_v1 ? std::optional(Bytes{*limit}) : std::nullopt;
    }
    if (auto read = read_file(directory + "memory.stat", text_); !read) {
        return tl::unexpected(read.error());
    }
    row.inactive_file = {flat_value(text_, prefix + "inactive_file")};
    row.active_file = {flat_value(text_, prefix + "active_file")};
    row.anon = {flat_value(text_, prefix + "inactive_anon") + flat_value(text_, prefix + "active_anon")};
    return row;
}

// A real-time thread that never waits would keep its CPU from everything else, and lose its priority (RealtimeLimit).
void UsageFiles::rest(MonotonicTime& since) const {
    if (clock_.monotonic() - since >= rest_after) {
        std::this_thread::sleep_for(rest_time);
        since = clock_.monotonic();
    }
}

// They rank a pod where process ids are short, and are shown: nothing else hangs on them. Of each pod as many cgroups
// and processes as the BPF program reads; more are there and not counted.
void UsageFiles::count_processes(const std::vector<port::FoundPod>& pods) {
    const auto begin = clock_.monotonic();
    if (begin < count_again_at_) {
        return;
    }
    Duration rested{0};
    auto since = begin;
    processes_.clear();
    for (const auto& pod : pods) {
        auto& count = processes_[pod.cgroup->id()];
        int cgroups = 0;
        (void)pod.cgroup->each_batch(port::Listing::quick, [&](const port::ProcessBatch& batch) {
            count += static_cast<std::int32_t>(batch.pids.size());
            return ++cgroups < EVICTD_MAX_POD_CGROUPS && count < most_processes;
        });
        const auto before = clock_.monotonic();
        rest(since);
        rested += clock_.monotonic() - before;
    }
    const auto now = clock_.monotonic();
    count_again_at_ = now + std::clamp(count_share * (now - begin - rested), count_at_most_every, count_at_least_every);
}

Status UsageFiles::read(std::vector<port::CgroupUsage>& rows, port::Pass /*pass*/) {
    auto done = read_all(rows);
    if (!done && done.error().kind != ErrorKind::vanished && spare_.release()) {
        done = read_all(rows);
    }
    spare_.refill();
    return done;
}

Status UsageFiles::read_all(std::vector<port::CgroupUsage>& rows) {
    rows.clear();
    const auto root = cgroups_.find_pods_root();
    if (!root) {
        return tl::unexpected(root.error());
    }
    auto whole = read_one(root->path);
    auto pods = cgroups_.list_pods();
    if (!whole || !pods) {
        const Error& error = whole ? pods.error() : whole.error();
        const bool gone = error.kind == ErrorKind::vanished && is_gone(cgroups_.find_pods_root());
        return fail(gone ? ErrorKind::vanished : ErrorKind::failed, error.what, error.why);
    }
    count_processes(*pods);
    whole->level = static_cast<std::int32_t>(root->level);
    rows.push_back(*whole);
    if (auto done = read_pods(*pods, rows); !done) {
        return done;
    }
    // Again, and last: a victim whose processes were gone above must not still be in what is said to be used, or a
    // second pod would pay for it.
    if (auto usage = read_usage(root->path)) {
        rows.front().usage = *usage;
    }
    return {};
}

Status UsageFiles::read_pods(const std::vector<port::FoundPod>& pods, std::vector<port::CgroupUsage>& rows) {
    auto since = clock_.monotonic();
    const auto level = rows.front().level + 1;
    for (const auto& pod : pods) {
        rest(since);
        const auto populated = pod.cgroup->populated();  // before its usage, see read()
        auto row = read_one(pod.cgroup->path());
        if (!row && row.error().kind == ErrorKind::vanished && is_gone(*pod.cgroup)) {
            continue;
        }
        if (!row) {  // a pod that could not be read has not gone, also where one file says so
            return fail(ErrorKind::failed, row.error().what, row.error().why);
        }
        const auto counted = processes_.find(row->id);
        row->level = level;
        row->processes = counted == processes_.end() ? 0 : counted->second;
        row->populated = populated ? *populated : populated.error().kind != ErrorKind::vanished;
        rows.front().populated = rows.front().populated || row->populated;
        subtract(rows.front(), *row);
        rows.push_back(*row);
    }
    return {};
}

}  // namespace evictd::kernel
