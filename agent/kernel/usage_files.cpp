// SPDX-License-Identifier: Apache-2.0
#include "kernel/usage_files.hpp"

#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

// v1 says "no limit" as the largest number of whole pages.
constexpr std::int64_t no_limit_v1 = std::int64_t{1} << 62;

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

// v1 has the cgroup's own pages and, with this prefix, those of the whole subtree; v2 has only the latter.
port::RootCount whole_tree_count(const std::string& memory_stat) {
    const std::string prefix = memory_stat.find("\ntotal_inactive_file ") != std::string::npos ? "total_" : "";
    return {.inactive_file = {flat_value(memory_stat, prefix + "inactive_file")},
            .active_file = {flat_value(memory_stat, prefix + "active_file")},
            .at = {}};
}

UsageFiles::UsageFiles(Hierarchies hierarchies, port::Cgroups& cgroups)
    : hierarchies_(std::move(hierarchies)), cgroups_(cgroups) {}

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

Status UsageFiles::read(std::vector<port::CgroupUsage>& rows) {
    rows.clear();
    const auto root = cgroups_.find_pods_root();
    if (!root) {
        return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
    }
    auto whole = read_one(root->path);
    auto pods = cgroups_.list_pods();
    if (!whole || !pods) {
        return tl::unexpected(whole ? pods.error() : whole.error());
    }
    whole->level = static_cast<std::int32_t>(root->level);
    rows.push_back(*whole);
    for (const auto& pod : *pods) {
        const auto populated = pod.cgroup->populated();  // before its usage, see below
        const bool empty = populated && !*populated;
        const auto processes = empty ? std::vector<pid_t>{} : pod.cgroup->processes();
        auto row = read_one(pod.cgroup->path());
        if (!row && row.error().kind == ErrorKind::vanished) {
            continue;
        }
        if (!row) {
            return tl::unexpected(row.error());  // a pod that could not be read has not gone
        }
        row->level = whole->level + 1;
        row->processes = processes ? static_cast<std::int32_t>(processes->size()) : 0;
        row->populated = populated ? *populated : populated.error().kind != ErrorKind::vanished;
        rows.front().populated = rows.front().populated || row->populated;
        subtract(rows.front(), *row);
        rows.push_back(*row);
    }
    // Again, and last: a victim whose processes were gone above must not still be in what is said to be used, or a
    // second pod would pay for it.
    if (auto usage = read_usage(root->path)) {
        rows.front().usage = *usage;
    }
    return {};
}

}  // namespace evictd::kernel
