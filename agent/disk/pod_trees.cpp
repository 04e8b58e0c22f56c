// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_trees.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>

#include "disk/entries.hpp"
#include "evictd/model/log_names.hpp"
#include "evictd/model/text.hpp"
#include "sys/file.hpp"
#include "sys/mount_info.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

// Only root makes entries in these directories. Many times what a node has.
constexpr std::size_t most_trees = std::size_t{1} << 16U;

// As the kubelet names the directories of plugins (EscapeQualifiedName).
struct Plugin {
    const char* directory;
    TreeKind kind;
};
constexpr std::array plugins{Plugin{"kubernetes.io~empty-dir", TreeKind::empty_dir},
                             Plugin{"kubernetes.io~configmap", TreeKind::config_map},
                             Plugin{"kubernetes.io~git-repo", TreeKind::git_repo}};

// Those that answer without a server.
constexpr std::array<std::string_view, 6> local_filesystems{"tmpfs", "ramfs", "hugetlbfs", "ext4", "xfs", "btrfs"};

std::string joined(std::string_view directory, std::string_view name) {
    std::string path(directory);
    path += '/';
    path += name;
    return path;
}

bool is_of_logs(TreeKind kind) { return kind == TreeKind::container_logs || kind == TreeKind::pod_logs; }

class Lister {
public:
    Lister(const PodDirectories& directories, const std::function<void()>& beat)
        : directories_(directories), beat_(beat) {}
    TreeListing run() {
        list_pods();
        list_logs();
        return std::move(listing_);
    }

private:
    void list_pods();
    void list_volumes(const sys::Fd& pods, const std::string& uid);
    void list_logs();
    // Directories in it. What vanished is empty; what cannot be read is noted.
    [[nodiscard]] std::vector<std::string> directories_in(const sys::Fd& parent, const char* path,
                                                          const std::string& shown);
    [[nodiscard]] sys::Fd open_root(const std::string& path);
    void note(const std::string& what, int error);
    void add(TreePlace place);

    const PodDirectories& directories_;
    const std::function<void()>& beat_;
    TreeListing listing_;
    EntryReader reader_;
};

void Lister::note(const std::string& what, int error) {
    if (listing_.trouble.empty()) listing_.trouble = sys::fail_errno(printable(what), error).value().text();
}

void Lister::add(TreePlace place) {
    if (listing_.trees.size() < most_trees) return listing_.trees.push_back(std::move(place));
    if (listing_.trouble.empty()) listing_.trouble = "more than " + std::to_string(most_trees) + " directories of pods";
}

// The directories themselves may be links that root made.
sys::Fd Lister::open_root(const std::string& path) {
    auto root = sys::open(path, O_PATH | O_DIRECTORY);
    if (root) return std::move(*root);
    if (listing_.trouble.empty()) listing_.trouble = root.error().text();
    return {};
}

std::vector<std::string> Lister::directories_in(const sys::Fd& parent, const char* path, const std::string& shown) {
    beat_();
    std::vector<std::string> names;
    const auto directory = sys::open_directory_below(parent.get(), path, sys::Mounts::refuse);
    if (!directory) {
        if (errno != ENOENT) note(shown, errno);
        return names;
    }
    while (names.size() <= most_trees) {
        const int error = reader_.read(directory.get(), false);
        if (error != 0 && error != ENOENT) note(shown, error);
        if (error != 0 || reader_.entries().empty()) break;
        for (const auto& entry : reader_.entries()) {
            if (entry.may_be_directory != IsDirectory::no) names.emplace_back(entry.name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void Lister::list_volumes(const sys::Fd& pods, const std::string& uid) {
    for (const auto& plugin : plugins) {
        const std::string path = uid + "/volumes/" + plugin.directory;
        for (auto& name : directories_in(pods, path.c_str(), joined(directories_.pods, path))) {
            std::string below = joined(path, name);
            add({PodUid{uid}, plugin.kind, std::move(name), std::move(below)});
        }
    }
    const std::string hosts = uid + "/etc-hosts";
    if (sys::open_below(pods.get(), hosts.c_str(), O_PATH, sys::Mounts::refuse))
        add({PodUid{uid}, TreeKind::etc_hosts, {}, hosts});
}

void Lister::list_pods() {
    const auto pods = open_root(directories_.pods);
    if (!pods) return;
    for (const auto& uid : directories_in(pods, ".", directories_.pods)) list_volumes(pods, uid);
}

void Lister::list_logs() {
    const auto logs = open_root(directories_.logs);
    if (!logs) return;
    for (const auto& pod : directories_in(logs, ".", directories_.logs)) {
        const PodUid uid{pod_of_log_directory(pod)};
        if (uid.value.empty() || uid.value == pod) continue;
        add({uid, TreeKind::pod_logs, {}, pod});
        for (auto& container : directories_in(logs, pod.c_str(), joined(directories_.logs, pod))) {
            std::string below = joined(pod, container);
            add({uid, TreeKind::container_logs, std::move(container), std::move(below)});
        }
    }
}

// The type of the filesystem of a mount; none: there is no such mount any more.
std::optional<std::string> type_of_mount(std::string_view mountinfo, std::uint64_t id) {
    const std::string wanted = std::to_string(id);
    std::optional<std::string> type;
    sys::each_mount(mountinfo, [&](const sys::MountInfo& mount) {
        if (mount.id == wanted) type = mount.type;
        return !type;
    });
    return type;
}

// Looks at what is mounted there without asking it anything.
Result<sys::Fd> open_mounted(const sys::Fd& root, const std::string& path) {
    const auto mounted = sys::open_below(root.get(), path.c_str(), O_PATH | O_DIRECTORY, sys::Mounts::enter);
    if (!mounted) return sys::fail_errno(printable(path), errno);
    struct statx status {};
    if (::statx(mounted.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) != 0) {
        return sys::fail_errno(printable(path), errno);
    }
    constexpr std::size_t limit = std::size_t{32} << 20U;  // some 100,000 mounts
    const auto mountinfo = sys::read_file("/proc/self/mountinfo", limit);
    if (!mountinfo) return tl::unexpected(mountinfo.error());
    const auto type = type_of_mount(*mountinfo, status.stx_mnt_id);
    if (!type) return fail(ErrorKind::vanished, printable(path), "the mount there has gone");
    if (std::find(local_filesystems.begin(), local_filesystems.end(), *type) == local_filesystems.end()) {
        return fail(ErrorKind::invalid, printable(path), "a mount of type " + printable(*type) + " is in its place");
    }
    auto directory = sys::open_directory_below(mounted.get(), ".", sys::Mounts::enter);
    return directory ? Result<sys::Fd>(std::move(directory)) : sys::fail_errno(printable(path), errno);
}

}  // namespace

TreeListing list_trees(const PodDirectories& directories, const std::function<void()>& beat) {
    return Lister(directories, beat).run();
}

Result<sys::Fd> open_tree(const PodDirectories& directories, const TreePlace& place) {
    const auto root = sys::open(is_of_logs(place.kind) ? directories.logs : directories.pods, O_PATH | O_DIRECTORY);
    if (!root) return tl::unexpected(root.error());
    auto found = place.kind == TreeKind::etc_hosts
                     ? sys::open_below(root->get(), place.path.c_str(), O_PATH, sys::Mounts::refuse)
                     : sys::open_directory_below(root->get(), place.path.c_str(), sys::Mounts::refuse);
    if (found) return found;
    if (errno == EXDEV && !is_of_logs(place.kind)) return open_mounted(*root, place.path);
    return sys::fail_errno(printable(place.path), errno);
}

}  // namespace evictd::disk
