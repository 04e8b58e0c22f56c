// SPDX-License-Identifier: Apache-2.0
#include "demo/pod_process.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::demo {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t page = 4096;
constexpr std::size_t proc_limit = 65536;
// A slow leak takes its next bite so often: finer than a threshold's distance, coarser than a scheduler's tick.
constexpr int bite_ms = 10;
// A signal that comes just before poll() does not end it: this much later it is seen.
constexpr int idle_ms = 50;

// The only thing a signal handler may touch.
volatile std::sig_atomic_t asked_to_end = 0;  // NOLINT(*-avoid-non-const-global-variables)

void on_terminate(int /*signal*/) { asked_to_end = 1; }

void say(char word) { (void)!::write(STDOUT_FILENO, &word, 1); }

// Sleeps; true as soon as stdin ends or SIGTERM comes.
bool ended_within(int milliseconds) {
    if (asked_to_end != 0) {
        return true;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, milliseconds);
    return asked_to_end != 0 || (ready > 0 && (input.revents & POLLHUP) != 0);
}

bool wait_for(char order) {
    char word = 0;
    while (true) {
        const ssize_t got = ::read(STDIN_FILENO, &word, 1);
        if (got < 0 && errno == EINTR && asked_to_end == 0) {
            continue;
        }
        return got == 1 && word == order;
    }
}

// Memory that is there but not yet taken: touching it takes it.
class Hoard {
public:
    explicit Hoard(std::size_t most) : most_(most) {
        void* at = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        start_ = at == MAP_FAILED ? nullptr : static_cast<volatile char*>(at);
    }
    void grow_to(std::size_t size) {
        const std::size_t goal = start_ == nullptr ? 0 : std::min(size, most_);
        for (; taken_ < goal && asked_to_end == 0; taken_ += page) {
            start_[taken_] = 1;
        }
    }
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    std::size_t most_;
    volatile char* start_ = nullptr;
    std::size_t taken_ = 0;
};

void grow(Hoard& hoard, std::int64_t mib_per_second, std::size_t most) {
    if (mib_per_second == 0) {
        hoard.grow_to(most);
        return;
    }
    const std::size_t bite = static_cast<std::size_t>(mib_per_second) * mib * bite_ms / 1000;
    // By the clock, so that a slow machine leaks as fast; it may catch up by some bites, never by a leap.
    constexpr std::size_t catch_up = 5;
    const sys::SystemClock clock;
    const auto began = clock.monotonic();
    const std::size_t from = hoard.taken();
    while (hoard.taken() < most && !ended_within(bite_ms)) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.monotonic() - began).count();
        const std::size_t due =
            from + static_cast<std::size_t>(mib_per_second) * static_cast<std::size_t>(ms) * mib / 1000;
        hoard.grow_to(std::min({due, hoard.taken() + catch_up * bite, most}));
    }
}

// One file of page cache. Written, brought to the disk, dropped, and read once: a page that is touched twice counts as
// active, which the kubelet counts as used, and this is about cache that nobody needs.
bool write_and_read(const std::string& path, std::size_t size, std::vector<char>& buffer) {
    const auto file = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file) {
        return false;
    }
    for (std::size_t done = 0; done < size; done += buffer.size()) {
        if (!sys::write_text(file->get(), {buffer.data(), buffer.size()})) {
            return false;
        }
    }
    if (::fdatasync(file->get()) != 0) {
        return false;
    }
    (void)::posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
    (void)::lseek(file->get(), 0, SEEK_SET);
    while (::read(file->get(), buffer.data(), buffer.size()) > 0) {}
    return true;
}

void fill_page_cache(const PodProcessOptions& options) {
    constexpr std::size_t file_mib = 16;
    std::vector<char> buffer(mib, 'c');
    const auto files = static_cast<std::size_t>(options.files_mib) / file_mib + 1;
    for (std::size_t i = 0; !ended_within(0); i++) {
        const std::string path = options.files + "/file-" + std::to_string(i % files);
        (void)::unlink(path.c_str());
        if (!write_and_read(path, file_mib * mib, buffer)) {
            say(said_no_files);
            return;
        }
        if (i + 1 == files) {
            say(said_filled);
        }
    }
}

void prepare(bool shuts_down) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends the demo ends its pods
    if (shuts_down) {
        struct sigaction action {};
        action.sa_handler = on_terminate;
        (void)::sigaction(SIGTERM, &action, nullptr);
    }
}

}  // namespace

bool is_inside(const std::string& proc_cgroup, const std::string& path) {
    std::istringstream lines(proc_cgroup);
    std::string line;
    std::string unified;
    while (std::getline(lines, line)) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        if (controllers.find(",memory,") != std::string::npos) {
            return line.substr(second + 1) == path;
        }
        if (line.starts_with("0::")) {
            unified = line.substr(second + 1);
        }
    }
    return unified == path;
}

int run_pod_process(const PodProcessOptions& options) {
    prepare(options.shutdown_ms > 0);
    say(said_started);
    if (!wait_for(order_hold)) {
        return 0;
    }
    const auto where = sys::read_file("/proc/self/cgroup", proc_limit);
    if (!where || !is_inside(*where, options.cgroup)) {
        say(said_outside);
        return 1;
    }
    const auto hold = static_cast<std::size_t>(options.hold_mib) * mib;
    const auto most = std::max(hold, static_cast<std::size_t>(options.grow_to_mib) * mib);
    Hoard hoard(most);
    hoard.grow_to(hold);
    say(said_holding);
    if (!wait_for(order_act)) {
        return 0;
    }
    if (options.grows) {
        grow(hoard, options.mib_per_second, most);
    } else if (!options.files.empty()) {
        fill_page_cache(options);
    }
    while (!ended_within(idle_ms)) {}
    if (asked_to_end != 0) {
        say(said_asked);
        (void)::poll(nullptr, 0, static_cast<int>(options.shutdown_ms));
    }
    return 0;
}

}  // namespace evictd::demo
