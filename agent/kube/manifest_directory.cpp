// SPDX-License-Identifier: Apache-2.0
// Files are opened beneath the directory only, as the kernel understands it, and never waited for.
#include "kube/manifest_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kube/printable.hpp"

namespace evictd::kube {
namespace {

constexpr std::uint64_t open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Relative links that stay inside are followed (a mounted ConfigMap's files are such), others are EXDEV.
sys::Fd open_beneath(int directory, const std::string& name) {
    open_how how{};
    how.flags = open_flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const long fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof(how));
    if (fd >= 0) return sys::Fd(static_cast<int>(fd));
    // A sandbox that does not know openat2 answers one of these; without it no link can be trusted.
    if (errno != ENOSYS && errno != EPERM) return {};
    return sys::Fd(::openat(directory, name.c_str(), static_cast<int>(open_flags) | O_NOFOLLOW));
}

bool is_same(const struct stat& a, const struct stat& b) {
    const auto same_time = [](const timespec& x, const timespec& y) {
        return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
    };
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) &&
           same_time(a.st_ctim, b.st_ctim);
}

Error invalid(std::string what, std::string why, std::string remedy) {
    return {ErrorKind::invalid, std::move(what), std::move(why), std::move(remedy)};
}

Error not_opened(const std::string& path, int error_number) {
    switch (error_number) {
        case EXDEV:
        case ELOOP:
            return invalid(path, "symbolic link leads out of the directory",
                           "link to a path within it, relative to it, or copy the file");
        case ENOENT:
            return invalid(path, "symbolic link leads nowhere", "remove it");
        // A socket cannot be opened, nor can a device without a driver.
        case ENXIO:
        case ENODEV:
            return invalid(path, "not a regular file", "remove it");
        default:
            return sys::fail_errno(path, error_number, "let evictd's user read it").value();
    }
}

}  // namespace

bool is_manifest_name(std::string_view name) {
    constexpr std::array<std::string_view, 3> endings{".yaml", ".yml", ".json"};
    return !name.starts_with('.') &&
           std::any_of(endings.begin(), endings.end(), [&](auto ending) { return name.ends_with(ending); });
}

ManifestDirectory::ManifestDirectory(std::string path, std::optional<PodOrigin> origin)
    : path_(std::move(path)), origin_(origin) {}

Result<std::set<std::string>> ManifestDirectory::list(int directory) const {
    const int copy = ::fcntl(directory, F_DUPFD_CLOEXEC, 0);  // closedir() closes it
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy), ::closedir);
    if (!entries) return sys::fail_errno(path_, errno);
    std::set<std::string> names;
    while (const dirent* entry = ::readdir(entries.get())) {
        if (!is_manifest_name(entry->d_name)) continue;
        names.insert(entry->d_name);
        if (names.size() > most_manifests)
            return fail(ErrorKind::invalid, path_, "has more than " + std::to_string(most_manifests) + " manifests",
                        "is it the right directory?");
    }
    return names;
}

port::PodSet ManifestDirectory::look(const std::set<std::string>& unfinished) {
    port::PodSet set;
    declared_.clear();
    const auto directory = sys::open(path_, O_RDONLY | O_DIRECTORY);
    auto names = directory ? list(directory->get()) : Result<std::set<std::string>>(tl::unexpected(directory.error()));
    if (!names) {
        known_.clear();
        Error error = std::move(names.error());
        if (error.kind == ErrorKind::vanished) error.remedy = "it is watched for: make it, or name another directory";
        set.rejected.push_back(std::move(error));
        return set;
    }
    std::erase_if(known_, [&](const auto& known) { return !names->contains(known.first); });
    for (const std::string& name : *names) {
        if (!unfinished.contains(name))
            read(directory->get(), name, set);
        else if (const auto known = known_.find(name); known != known_.end())
            add(known->second.manifest, set);
    }
    settle_uids(set);
    return set;
}

void ManifestDirectory::read(int directory, const std::string& name, port::PodSet& set) {
    const std::string path = printable(path_of(name), 512);
    const sys::Fd fd = open_beneath(directory, name);
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        const int error_number = errno;
        known_.erase(name);
        // Removed since it was listed: no news that the next look would not bring.
        if (error_number == ENOENT && ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
        set.rejected.push_back(not_opened(path, error_number));
        return;
    }
    if (!S_ISREG(status.st_mode)) {
        known_.erase(name);
        set.rejected.push_back(invalid(path, "not a regular file", "remove it, or give it another name"));
        return;
    }
    const auto known = known_.find(name);
    if (known != known_.end() && is_same(known->second.status, status)) return add(known->second.manifest, set);
    auto manifest = parse(fd.get(), name);
    if (!manifest) {
        known_.erase(name);
        set.rejected.push_back(invalid(path, manifest.error().why, manifest.error().remedy));
        return;
    }
    add(known_.insert_or_assign(name, Known{status, std::move(*manifest)}).first->second.manifest, set);
}

Result<Manifest> ManifestDirectory::parse(int fd, const std::string& name) const {
    const auto text = sys::read_all(fd, largest_manifest);
    if (!text) return fail(text.error().kind, {}, text.error().why, "split it into several files");
    return parse_manifest(path_of(name), *text, origin_);
}

void ManifestDirectory::add(const Manifest& manifest, port::PodSet& set) {
    set.rejected.insert(set.rejected.end(), manifest.rejected.begin(), manifest.rejected.end());
    for (const auto& [pod, uid_line] : manifest.pods) {
        declared_.push_back({pod, printable(pod->source, 512) + ":" + std::to_string(uid_line)});
    }
}

void ManifestDirectory::settle_uids(port::PodSet& set) {
    // 2: the same pod in the same file, 1: in the same file, 0: new.
    const auto claim_of = [&](const PodPtr& pod) {
        const auto known = known_pods_.find(pod->uid);
        if (known == known_pods_.end() || known->second->source != pod->source) return 0;
        return known->second->full_name() == pod->full_name() ? 2 : 1;
    };
    std::map<PodUid, const Declared*> owners;
    for (const auto& declared : declared_) {
        const auto [owner, is_new] = owners.emplace(declared.pod->uid, &declared);
        if (!is_new && claim_of(declared.pod) > claim_of(owner->second->pod)) owner->second = &declared;
    }
    known_pods_.clear();
    for (const auto& declared : declared_) {
        const auto* owner = owners.at(declared.pod->uid);
        if (owner == &declared) {
            known_pods_.emplace(declared.pod->uid, declared.pod);
            set.pods.push_back(declared.pod);
            continue;
        }
        set.rejected.push_back(
            invalid(declared.where,
                    "metadata.uid: " + declared.pod->uid.value + " is already that of the pod in " + owner->where,
                    "a pod's uid is its own: remove one of the two"));
    }
    declared_.clear();
}

}  // namespace evictd::kube
