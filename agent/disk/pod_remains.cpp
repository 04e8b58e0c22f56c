// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_remains.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "disk/pod_mounts.hpp"
#include "disk/remove_tree.hpp"
#include "evictd/model/log_names.hpp"
#include "evictd/model/text.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

constexpr const char* volumes_directory = "volumes";
constexpr const char* empty_dirs = "kubernetes.io~empty-dir";
// What the kubelet keeps there beside volumes: termination logs, its plugins' own files, and the places that subpaths
// were mounted on.
constexpr std::array own_directories{"containers", "plugins", "volume-subpaths"};
constexpr const char* hosts_file = "etc-hosts";
// Far more than there are volumes of a pod.
constexpr std::size_t most_names = 4096;

// Also that it is mounted read-only, or a capability is missing: somebody may change that.
bool may_pass(int error) {
    const std::array passing{EMFILE, ENFILE, ENOMEM, EIO, EAGAIN, EROFS, EACCES, EPERM};
    return std::find(passing.begin(), passing.end(), error) != passing.end();
}

// Another call would not remove it either, unless the error passes.
Status left(const std::string& what, int error) {
    auto why = sys::fail_errno(printable(what), error).value();
    why.kind = may_pass(error) ? ErrorKind::failed : ErrorKind::invalid;
    return tl::unexpected(std::move(why));
}

// What vanished meanwhile is as wanted.
Status remove_entry(const sys::Fd& directory, const std::string& name, int flags) {
    if (::unlinkat(directory.get(), name.c_str(), flags) == 0 || errno == ENOENT) return {};
    return left(name, errno);
}

Result<sys::Fd> open_in(const sys::Fd& directory, const std::string& name) {
    auto opened = sys::open_directory_below(directory.get(), name.c_str(), sys::Mounts::refuse);
    if (opened) return opened;
    if (errno == ENOENT) return sys::fail_errno(printable(name), errno);
    return tl::unexpected(left(name, errno).error());
}

Result<std::vector<std::string>> names_in(const sys::Fd& directory, const std::string& shown) {
    std::vector<std::string> names;
    EntryReader reader;
    while (names.size() <= most_names) {
        const int error = reader.read(directory.get(), false);
        if (error != 0) return tl::unexpected(left(shown, error).error());
        if (reader.entries().empty()) return names;
        for (const auto& entry : reader.entries()) names.emplace_back(entry.name);
    }
    return tl::unexpected(left(shown, EFBIG).error());
}

class VolumeRemover {
public:
    VolumeRemover(sys::Fd pod, Duration longest) : pod_(std::move(pod)), deadline_(clock_.monotonic() + longest) {}

    // What is not the kubelet's own first: while some of that is left, nothing with contents goes.
    Status run() {
        auto done = remove_volumes();
        for (const auto* name : own_directories) {
            if (done) done = remove_whole(pod_, name);
        }
        return done ? remove_entry(pod_, hosts_file, 0) : done;
    }

private:
    Status remove_volumes() {
        const auto volumes = open_in(pod_, volumes_directory);
        if (!volumes) return unless_vanished(volumes.error());
        const auto plugins = names_in(*volumes, volumes_directory);
        if (!plugins) return tl::unexpected(plugins.error());
        for (const auto& plugin : *plugins) {
            if (plugin == empty_dirs) continue;
            if (auto done = remove_empty(*volumes, plugin); !done) return done;
        }
        if (auto done = remove_whole(*volumes, empty_dirs); !done) return done;
        return remove_entry(pod_, volumes_directory, AT_REMOVEDIR);
    }
    static Status remove_empty(const sys::Fd& volumes, const std::string& plugin) {
        const auto directory = open_in(volumes, plugin);
        if (!directory) return unless_vanished(directory.error());
        const auto names = names_in(*directory, plugin);
        if (!names) return tl::unexpected(names.error());
        for (const auto& name : *names) {
            if (auto done = remove_entry(*directory, name, AT_REMOVEDIR); !done) return done;
        }
        return remove_entry(volumes, plugin, AT_REMOVEDIR);
    }
    Status remove_whole(const sys::Fd& parent, const char* name) {
        const auto removal = remove_tree(parent.get(), name, clock_, deadline_);
        if (removal && removal->is_done) return {};
        if (removal) {
            return fail(ErrorKind::exhausted, name,
                        "is larger than can be removed at once: " + std::to_string(removal->removed) +
                            " entries were, and the next removal goes on");
        }
        auto error = removal.error();
        if (error.kind == ErrorKind::vanished) return {};
        // All that errno says of a tree may pass, also that it is read-only or that the disk fails. What is invalid is
        // the tree itself.
        if (error.kind != ErrorKind::invalid) error.kind = ErrorKind::failed;
        return tl::unexpected(std::move(error));
    }
    static Status unless_vanished(const Error& error) {
        return error.kind == ErrorKind::vanished ? Status{} : tl::unexpected(error);
    }

    const sys::SystemClock clock_;
    sys::Fd pod_;
    MonotonicTime deadline_;
};

// Where all pods have theirs. That it is not there says nothing of one pod: it is not mounted, or elsewhere.
Error unseen(Error error) {
    error.kind = ErrorKind::failed;
    return error;
}

struct Opened {
    sys::Fd pods;
    sys::Fd pod;
};

Result<Opened> open_pod(const std::string& pods, const PodUid& pod) {
    if (!is_plain_name(pod.value)) {
        return fail(ErrorKind::invalid, printable(pod.value), "is not the name of a directory");
    }
    auto root = sys::open(pods, O_RDONLY | O_DIRECTORY);
    if (!root) return tl::unexpected(unseen(root.error()));
    auto directory = open_in(*root, pod.value);
    if (!directory) return tl::unexpected(directory.error());
    return Opened{std::move(*root), std::move(*directory)};
}

}  // namespace

Result<std::string> PodRemains::life(const PodUid& pod) { return process_in_pod(places_, pod); }

Status PodRemains::check_volumes(const PodUid& pod) {
    const auto opened = open_pod(places_.pods, pod);
    return opened ? check_unmounted(places_, pod) : tl::unexpected(opened.error());
}

Status PodRemains::remove_volumes(const PodUid& pod) {
    auto opened = open_pod(places_.pods, pod);
    if (!opened) return tl::unexpected(opened.error());
    if (auto unmounted = check_unmounted(places_, pod); !unmounted) return unmounted;
    if (auto done = VolumeRemover(std::move(opened->pod), longest_removal_).run(); !done) return done;
    return remove_entry(opened->pods, pod.value, AT_REMOVEDIR);
}

}  // namespace evictd::disk
