// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_file.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "reconcile/intent_slot.hpp"
#include "sys/own_directory.hpp"

namespace evictd::reconcile {
namespace {

constexpr std::uint64_t file_magic = 0x32746e6469766565U;  // "eevidnt2": changes with the layout

bool is_on_tmpfs(int file) {
    struct statfs status {};
    return fstatfs(file, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

}  // namespace

struct IntentFile::Layout {
    std::uint64_t magic = 0;
    std::uint64_t slots_size = 0;
    std::array<Slot, slot_count> slots{};
};

namespace {

Status check_file(int file, const std::string& path) {
    struct stat status {};
    if (fstat(file, &status) != 0) {
        return sys::fail_errno(path, errno);
    }
    const bool is_ours = S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1 &&
                         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_ours) {
        return fail(ErrorKind::invalid, path, "not a regular file of this user alone, with mode 0600", "remove it");
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const bool is_taken = errno == EWOULDBLOCK;
        return is_taken ? Status(fail(ErrorKind::unreachable, path, "another evictd notes its intents there",
                                      "give this one another evictd.intentsPath"))
                        : Status(sys::fail_errno(path, errno));
    }
    return {};
}

}  // namespace

// A file that was allocated by an agent that was killed right then has only zeros.
bool IntentFile::is_unused(const Head& head, std::int64_t size) {
    return size == 0 || (head[0] == 0 && size <= std::int64_t{sizeof(Layout)});
}

bool IntentFile::has_layout(const Head& head, std::int64_t size) {
    return head[0] == file_magic && head[1] == sizeof(Slot) * slot_count && size == std::int64_t{sizeof(Layout)};
}

Result<sys::Fd> IntentFile::open_whole(int directory, const std::string& name, const std::string& path,
                                       std::string& set_aside) {
    for (int tries = 0; tries < 2; tries++) {
        sys::Fd file(::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
        if (!file) {
            return sys::fail_errno(path, errno, errno == ELOOP ? "it is a symbolic link: remove it" : "");
        }
        if (auto checked = check_file(file.get(), path); !checked) {
            return tl::unexpected(checked.error());
        }
        Head head{};
        const auto count = ::pread(file.get(), head.data(), sizeof(head), 0);
        struct stat status {};
        if (count < 0 || fstat(file.get(), &status) != 0) {
            return sys::fail_errno(path, errno);
        }
        if (is_unused(head, status.st_size) || has_layout(head, status.st_size)) {
            const int full = posix_fallocate(file.get(), 0, sizeof(Layout));
            return full == 0 ? Result<sys::Fd>(std::move(file)) : sys::fail_errno(path, full);
        }
        const auto broken = name + ".broken";
        if (renameat(directory, name.c_str(), directory, broken.c_str()) != 0) {
            return sys::fail_errno(path, errno);
        }
        set_aside = path + ".broken";
    }
    return fail(ErrorKind::invalid, path, "another program writes it", "remove it");
}

Result<std::unique_ptr<IntentFile>> IntentFile::open(const std::string& path, Needs needs) {
    const auto slash = path.rfind('/');
    auto directory = sys::make_own_directories(path.substr(0, slash), sys::Access::readable);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    if (needs == Needs::tmpfs && !is_on_tmpfs(directory->get())) {
        return fail(ErrorKind::invalid, path, "not on a tmpfs, so that a kill could wait for a disk",
                    "name a file below /run as evictd.intentsPath");
    }
    std::string aside;
    auto file = open_whole(directory->get(), path.substr(slash + 1), path, aside);
    if (!file) {
        return tl::unexpected(file.error());
    }
    auto made = map(std::move(*file), path);
    if (made) {
        (*made)->layout_->slots_size = sizeof(Slot) * slot_count;
        (*made)->layout_->magic = file_magic;
        (*made)->set_aside_ = std::move(aside);
        (*made)->drop_torn();
    }
    return made;
}

Result<std::unique_ptr<IntentFile>> IntentFile::map(sys::Fd file, const std::string& path) {
    void* mapped = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    if (mapped == MAP_FAILED) {
        return sys::fail_errno(path, errno);
    }
    (void)mlock(mapped, sizeof(Layout));  // refused: a tmpfs page may be swapped out, and is read back
    return std::unique_ptr<IntentFile>(new IntentFile(std::move(file), static_cast<Layout*>(mapped)));
}

Result<std::vector<Intent>> IntentFile::read_left(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto directory = sys::open_own_directory(path.substr(0, slash), sys::Access::readable, false);
    if (!directory) {
        const bool is_gone = directory.error().kind == ErrorKind::vanished;
        return is_gone ? Result<std::vector<Intent>>({}) : tl::unexpected(directory.error());
    }
    sys::Fd file(
        ::openat(directory->get(), path.substr(slash + 1).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) {
        return errno == ENOENT ? Result<std::vector<Intent>>({}) : sys::fail_errno(path, errno);
    }
    if (auto checked = check_file(file.get(), path); !checked) {
        return tl::unexpected(checked.error());
    }
    struct stat status {};
    Head head{};
    const bool is_read = fstat(file.get(), &status) == 0 && ::pread(file.get(), head.data(), sizeof(head), 0) >= 0;
    if (!is_read) {
        return sys::fail_errno(path, errno);
    }
    if (is_unused(head, status.st_size)) {
        return std::vector<Intent>();
    }
    if (!has_layout(head, status.st_size)) {
        return fail(ErrorKind::invalid, path, "not a file of intents of this version");
    }
    const auto mapped = map(std::move(file), path);
    if (!mapped) {
        return tl::unexpected(mapped.error());
    }
    (*mapped)->drop_torn();
    return (*mapped)->read();
}

IntentFile::~IntentFile() { (void)munmap(layout_, sizeof(Layout)); }

void IntentFile::drop_torn() {
    for (auto& slot : layout_->slots) {
        const auto state = state_of(slot);
        const bool is_whole = state == SlotState::noted && slot.sum == sum_of(slot.noted);
        if (state != SlotState::free && !is_whole) {
            torn_++;
            set_state(slot, SlotState::free);
        }
    }
}

// Only this thread takes a free slot, and only the other one frees one.
bool IntentFile::note(const DesiredPodStatus& status, WallTime now) noexcept {
    for (auto& slot : layout_->slots) {
        if (state_of(slot) != SlotState::free) {
            continue;
        }
        set_state(slot, SlotState::writing);
        const bool fits = put_intent(slot.noted, status, now);
        slot.sum = sum_of(slot.noted);
        set_state(slot, fits ? SlotState::noted : SlotState::free);
        return fits;
    }
    return false;
}

std::vector<Intent> IntentFile::read() const {
    std::vector<Intent> intents;
    for (auto& slot : layout_->slots) {
        if (state_of(slot) == SlotState::noted) {
            intents.push_back(intent_in(slot.noted));
        }
    }
    return intents;
}

void IntentFile::clear(const PodUid& pod, std::int32_t attempt) {
    for (auto& slot : layout_->slots) {
        if (state_of(slot) == SlotState::noted && slot.noted.attempt <= attempt && is_of(slot.noted, pod)) {
            set_state(slot, SlotState::free);
        }
    }
}

}  // namespace evictd::reconcile
