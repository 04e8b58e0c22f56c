// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
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

#include "evictd/model/text.hpp"

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

struct CloseDirectory {
    void operator()(DIR* directory) const { (void)::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// `vanished` and `invalid` prove that there is no such directory; any other error says nothing of what is in it.
tl::unexpected<Error> fail_directory(const std::string& path, int error_number) {
    auto failed = sys::fail_errno(path, error_number);
    auto& error = failed.value();
    if (error_number == ENOENT) {
        error.remedy = "it is watched for: make it, or name another directory";
    } else if (error_number == ENOTDIR || error_number == ELOOP || error_number == ENAMETOOLONG) {
        error.kind = ErrorKind::invalid;
    } else if (error.kind == ErrorKind::vanished || error.kind == ErrorKind::invalid) {
        error.kind = ErrorKind::failed;
    }
    return failed;
}

Result<Directory> open_directory(const std::string& path) {
    sys::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Directory directory(fd ? ::fdopendir(fd.get()) : nullptr);
    if (!directory) return fail_directory(path, errno);
    (void)fd.release();  // closedir() closes it
    return directory;
}

// All of them, or an error.
Result<std::set<std::string>> manifests_in(DIR* directory, const std::string& path) {
    std::set<std::string> names;
    for (errno = 0; const dirent* entry = ::readdir(directory); errno = 0) {
        if (!is_manifest_name(entry->d_name)) continue;
        names.insert(entry->d_name);
        if (names.size() > most_manifests)
            return fail(ErrorKind::failed, path, "has more than " + std::to_string(most_manifests) + " manifests",
                        "is it the right directory?");
    }
    if (errno != 0) return fail_directory(path, errno);
    return names;
}

// With the error's kind `invalid`, the text is refused; any other says nothing of it.
Result<Manifest> parse(int fd, const std::string& path, std::optional<PodOrigin> origin) {
    const auto text = sys::read_all(fd, largest_manifest);
    if (text) return parse_manifest(path, *text, origin);
    const bool is_refused = text.error().kind == ErrorKind::invalid;
    return fail(text.error().kind, {}, text.error().why, is_refused ? "split it into several files" : "");
}

}  // namespace

bool is_manifest_name(std::string_view name) {
    constexpr std::array<std::string_view, 3> endings{".yaml", ".yml", ".json"};
    return !name.starts_with('.') &&
           std::any_of(endings.begin(), endings.end(), [&](auto ending) { return name.ends_with(ending); });
}

ManifestDirectory::ManifestDirectory(std::string path, std::optional<PodOrigin> origin)
    : path_(std::move(path)), origin_(origin) {}

void ManifestDirectory::read_again(const std::string& name) {
    if (const auto known = known_.find(name); known != known_.end()) known->second.read_again = true;
}

void ManifestDirectory::read_all_again() {
    for (auto& known : known_) known.second.read_again = true;
}

std::string ManifestDirectory::shown(const std::string& name) const { return excerpt(path_of(name), 512); }

port::PodSet ManifestDirectory::look(const std::set<std::string>& unfinished) {
    declared_.clear();
    const auto directory = open_directory(path_);
    if (!directory) return look_without_list(directory.error());
    const auto names = manifests_in(directory->get(), path_);
    if (!names) return look_without_list(names.error());
    std::erase_if(known_, [&](const auto& known) { return !names->contains(known.first); });
    port::PodSet set;
    for (const std::string& name : *names) {
        if (!unfinished.contains(name))
            read(::dirfd(directory->get()), name, set);
        else if (const auto known = known_.find(name); known != known_.end())
            add(known->second.manifest, set);
    }
    settle_uids(set);
    return set;
}

port::PodSet ManifestDirectory::look_without_list(Error error) {
    port::PodSet set;
    if (error.kind == ErrorKind::vanished || error.kind == ErrorKind::invalid) {
        known_.clear();
        known_pods_.clear();
        set.rejected.push_back(std::move(error));
        return set;
    }
    for (const auto& known : known_) add(known.second.manifest, set);
    settle_uids(set);
    error.why += set.pods.empty() ? "; no pods are known from it until it can be read"
                                  : "; the pods known from it are kept as they were";
    if (error.kind == ErrorKind::not_permitted) error.remedy = "let evictd's user read it";
    set.unread.push_back(std::move(error));
    return set;
}

void ManifestDirectory::read(int directory, const std::string& name, port::PodSet& set) {
    const sys::Fd fd = open_beneath(directory, name);
    if (!fd) return judge_unopened(directory, name, errno, set);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return keep(name, sys::fail_errno({}, errno).value(), set);
    if (!S_ISREG(status.st_mode)) return reject(name, "not a regular file", "remove it, or give it another name", set);
    const auto known = known_.find(name);
    if (known != known_.end() && !known->second.read_again && is_same(known->second.status, status))
        return add(known->second.manifest, set);
    auto manifest = parse(fd.get(), path_of(name), origin_);
    if (manifest)
        return add(known_.insert_or_assign(name, Known{status, std::move(*manifest)}).first->second.manifest, set);
    if (manifest.error().kind == ErrorKind::invalid)
        return reject(name, manifest.error().why, manifest.error().remedy, set);
    keep(name, manifest.error(), set);
}

// The error of open() alone proves little: the file may have been replaced since.
void ManifestDirectory::judge_unopened(int directory, const std::string& name, int error_number, port::PodSet& set) {
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        // Removed since it was listed: no news that the next look would not bring.
        if (errno == ENOENT)
            known_.erase(name);
        else
            keep(name, sys::fail_errno({}, error_number).value(), set);
        return;
    }
    const bool is_link = S_ISLNK(status.st_mode);
    if (is_link && (error_number == EXDEV || error_number == ELOOP))
        return reject(name, "symbolic link leads out of the directory",
                      "link to a path within it, relative to it, or copy the file", set);
    if (is_link && (error_number == ENOENT || error_number == ENOTDIR || error_number == ENAMETOOLONG))
        return reject(name, "symbolic link leads nowhere", "remove it", set);
    // A socket cannot be opened, nor can a device without a driver.
    if (!S_ISREG(status.st_mode) && (error_number == ENXIO || error_number == ENODEV))
        return reject(name, "not a regular file", "remove it", set);
    keep(name, sys::fail_errno({}, error_number).value(), set);
}

void ManifestDirectory::reject(const std::string& name, std::string why, std::string remedy, port::PodSet& set) {
    known_.erase(name);
    set.rejected.push_back(invalid(shown(name), std::move(why), std::move(remedy)));
}

void ManifestDirectory::keep(const std::string& name, const Error& error, port::PodSet& set) {
    const auto known = known_.find(name);
    const bool has_pods = known != known_.end() && !known->second.manifest.pods.empty();
    set.unread.push_back({error.kind, shown(name),
                          error.why + (has_pods ? "; its pods are kept as they were"
                                                : "; no pods are known from it until it can be read"),
                          error.kind == ErrorKind::not_permitted ? "let evictd's user read it" : ""});
    if (known != known_.end()) add(known->second.manifest, set);
}

void ManifestDirectory::add(const Manifest& manifest, port::PodSet& set) {
    set.rejected.insert(set.rejected.end(), manifest.rejected.begin(), manifest.rejected.end());
    for (const auto& [pod, uid_line] : manifest.pods) {
        declared_.push_back({pod, excerpt(pod->source, 512) + ":" + std::to_string(uid_line)});
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
