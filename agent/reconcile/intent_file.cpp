// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sys/own_directory.hpp"

namespace evictd::reconcile {
namespace {

constexpr std::uint64_t file_magic = 0x31746e6469766565U;  // "eevidnt1": changes with the layout

enum class SlotState : std::uint32_t { free, writing, noted };

// As in memory: one build reads what another wrote only if the magic is the same.
struct Noted {
    std::int64_t wall = 0;
    std::int64_t decided = 0;
    std::int64_t generation = 0;
    std::int32_t attempt = 0;
    std::uint8_t disruption_target = 0;
    std::uint8_t given_up = 0;
    std::array<char, 2> unused{};
    std::array<char, 64> pod{};
    std::array<char, 64> name_space{};
    std::array<char, 256> name{};
    std::array<char, 64> reason{};
    std::array<char, IntentFile::most_of_a_message> message{};
};
static_assert(std::is_trivially_copyable_v<Noted>);

struct Slot {
    SlotState state = SlotState::free;
    std::uint32_t unused = 0;
    std::uint64_t sum = 0;  // of `noted`
    Noted noted;
};

// As checksum(), of eight bytes at a time: a quarter of a microsecond.
std::uint64_t sum_of(const Noted& noted) {
    static_assert(sizeof(Noted) % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, sizeof(Noted) / sizeof(std::uint64_t)> words{};
    std::memcpy(words.data(), &noted, sizeof(noted));
    std::uint64_t sum = checksum({});
    for (const auto word : words) {
        sum = (sum ^ word) * checksum_prime;
    }
    return sum;
}

SlotState state_of(Slot& slot) { return std::atomic_ref(slot.state).load(std::memory_order_acquire); }
void set_state(Slot& slot, SlotState state) { std::atomic_ref(slot.state).store(state, std::memory_order_release); }

// With an end; false: it does not fit.
template <std::size_t n>
bool put(std::array<char, n>& into, std::string_view text) {
    if (text.size() >= n) {
        return false;
    }
    into.fill('\0');
    std::copy(text.begin(), text.end(), into.begin());
    return true;
}
template <std::size_t n>
std::string text_in(const std::array<char, n>& from) {
    return {from.data(), ::strnlen(from.data(), n)};
}

std::string_view first_part(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) {
        most--;
    }
    return text.substr(0, most);
}

Intent intent_in(const Noted& noted) {
    Intent intent;
    intent.noted_at = WallTime(Duration(noted.wall));
    auto& status = intent.status;
    status.pod.value = text_in(noted.pod);
    status.name_space = text_in(noted.name_space);
    status.name = text_in(noted.name);
    status.reason = text_in(noted.reason);
    status.message = text_in(noted.message);
    status.decided_at = MonotonicTime(Duration(noted.decided));
    status.generation = noted.generation;
    status.attempt = noted.attempt;
    status.disruption_target = noted.disruption_target != 0;
    status.given_up = noted.given_up != 0;
    return intent;
}

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

Status check_file(int file, const std::string& path, IntentFile::Needs needs) {
    struct stat status {};
    if (fstat(file, &status) != 0) {
        return sys::fail_errno(path, errno);
    }
    const bool is_ours = S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1 &&
                         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_ours) {
        return fail(ErrorKind::invalid, path, "not a regular file of this user alone, with mode 0600", "remove it");
    }
    if (needs == IntentFile::Needs::tmpfs && !is_on_tmpfs(file)) {
        return fail(ErrorKind::invalid, path, "not on a tmpfs, so that a kill could wait for a disk",
                    "name a file below /run as evictd.intentsPath");
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

// A file that was allocated by an agent that was killed right then has only zeros: it is as good as new.
Result<sys::Fd> IntentFile::open_whole(int directory, const std::string& name, const std::string& path, Needs needs,
                                       std::string& set_aside) {
    for (int tries = 0; tries < 2; tries++) {
        sys::Fd file(::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
        if (!file) {
            return sys::fail_errno(path, errno, errno == ELOOP ? "it is a symbolic link: remove it" : "");
        }
        if (auto checked = check_file(file.get(), path, needs); !checked) {
            return tl::unexpected(checked.error());
        }
        std::array<std::uint64_t, 2> head{};
        const auto count = ::pread(file.get(), head.data(), sizeof(head), 0);
        struct stat status {};
        if (count < 0 || fstat(file.get(), &status) != 0) {
            return sys::fail_errno(path, errno);
        }
        const bool is_new = status.st_size == 0 || (head[0] == 0 && status.st_size <= off_t{sizeof(Layout)});
        const bool is_ours =
            head[0] == file_magic && head[1] == sizeof(Slot) * slot_count && status.st_size == off_t{sizeof(Layout)};
        if (is_new || is_ours) {
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
    std::string aside;
    auto file = open_whole(directory->get(), path.substr(slash + 1), path, needs, aside);
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
    if (auto checked = check_file(file.get(), path, Needs::nothing); !checked) {
        return tl::unexpected(checked.error());
    }
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || status.st_size != off_t{sizeof(Layout)}) {
        return fail(ErrorKind::invalid, path, "not a file of intents");
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
        auto& noted = slot.noted;
        noted = Noted{};
        noted.wall = now.time_since_epoch().count();
        noted.decided = status.decided_at.time_since_epoch().count();
        noted.generation = status.generation;
        noted.attempt = status.attempt;
        noted.disruption_target = status.disruption_target ? 1 : 0;
        noted.given_up = status.given_up ? 1 : 0;
        const bool fits = put(noted.pod, status.pod.value) && put(noted.name_space, status.name_space) &&
                          put(noted.name, status.name) && put(noted.reason, status.reason) &&
                          put(noted.message, first_part(status.message, most_of_a_message - 1));
        slot.sum = sum_of(noted);
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
        if (state_of(slot) == SlotState::noted && slot.noted.attempt <= attempt &&
            text_in(slot.noted.pod) == pod.value) {
            set_state(slot, SlotState::free);
        }
    }
}

}  // namespace evictd::reconcile
