// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The comparison's own witness: once a millisecond it reads how much memory is left and how much the growing pod holds,
// and it takes from the tracer who was sent a deadly signal, all on CLOCK_MONOTONIC. It starts the growth and ends with
// the run. It judges nothing: raw samples and the tracer's lines go to a file, report.awk makes numbers of them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t mib = 1'048'576;
constexpr std::int64_t period = ms;
// Quiet samples before the growth begins: what the plot and the baseline are drawn from.
constexpr std::int64_t quiet = 300 * ms;
// Once it is back, so long more, to see a second pod being shot.
constexpr std::int64_t afterwards = 150 * ms;
// The pod's cgroup and the tracer are read with every fourth sample: 4 ms is fine enough for them, and costs a quarter.
constexpr std::size_t seldom = 4;
// Far from the threshold every tenth sample is kept.
constexpr std::int64_t near = 64 * mib;

struct Sample {
    std::int64_t at = 0;
    std::int64_t free = 0;
    std::int64_t available = 0;
    std::int64_t inactive_file = 0;
    std::int64_t pod = 0;
};

struct Options {
    std::string out;
    std::string pod;    // its cgroup
    std::string go;     // the pipe its processes wait at, a byte for each
    std::string kill;   // all pods' cgroup.kill
    std::string trace;  // the tracer's instance
    int processes = 1;
    std::int64_t limit = 15'000 * ms;
    // How long it waits for the growing pod's memory after the first kill.
    std::int64_t patience = 3000 * ms;
};

[[noreturn]] void die(const std::string& what) {
    (void)std::fprintf(stderr, "observer: %s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

int open_or_die(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (file < 0) die(path);
    return file;
}

std::int64_t now() {
    timespec time{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t number(const char* text) { return std::strtoll(text, nullptr, 10); }

// A line of /proc/meminfo, in bytes. The file is read at one go, so its lines belong together.
std::int64_t line(const char* text, const char* name) {
    const char* found = std::strstr(text, name);
    if (found == nullptr) die(std::string("meminfo has no ") + name);
    return number(found + std::strlen(name)) * 1024;
}

class Witness {
public:
    explicit Witness(const Options& options)
        : options_(options),
          meminfo_(open_or_die("/proc/meminfo", O_RDONLY)),
          pod_(open_or_die(options.pod + "/memory.current", O_RDONLY)),
          trace_(open_or_die(options.trace + "/trace_pipe", O_RDONLY | O_NONBLOCK)),
          total_(line(read_meminfo(), "MemTotal:")) {
        // Taken now: a witness that asks for memory while there is none would be part of the case.
        samples_.reserve(static_cast<std::size_t>(options.limit / period) + 1000);
        lines_.reserve(1U << 20U);
    }

    void watch() {
        const std::int64_t began = now();
        std::int64_t next = began;
        while (next < began + options_.limit && !over(next)) {
            const timespec until{next / 1'000'000'000, next % 1'000'000'000};
            (void)::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
            look();
            if (go_at_ == 0 && now() - began >= quiet) go();
            next = std::max(next + period, now() / period * period);
        }
        read_trace(now());
        release();
    }

    void write() const {
        std::FILE* out = std::fopen(options_.out.c_str(), "we");
        if (out == nullptr) die(options_.out);
        (void)std::fprintf(out, "# total %lld\n# go %lld\n", static_cast<long long>(total_),
                           static_cast<long long>(go_at_));
        (void)std::fwrite(lines_.data(), 1, lines_.size(), out);
        (void)std::fputs("ns,free,available,inactive_file,pod\n", out);
        std::size_t kept = 0;
        for (const auto& sample : samples_) {
            if (kept++ % 10 != 0 && !interesting(sample)) continue;
            (void)std::fprintf(out, "%lld,%lld,%lld,%lld,%lld\n", static_cast<long long>(sample.at),
                               static_cast<long long>(sample.free), static_cast<long long>(sample.available),
                               static_cast<long long>(sample.inactive_file), static_cast<long long>(sample.pod));
        }
        if (std::fclose(out) != 0) die(options_.out);
    }

private:
    const char* read_meminfo() {
        const auto size = ::pread(meminfo_, text_.data(), text_.size() - 1, 0);
        if (size <= 0) die("/proc/meminfo");
        text_[static_cast<std::size_t>(size)] = '\0';
        return text_.data();
    }

    void look() {
        Sample sample;
        sample.at = now();
        const char* text = read_meminfo();
        sample.free = line(text, "MemFree:");
        sample.available = line(text, "MemAvailable:");
        sample.inactive_file = line(text, "Inactive(file):");
        if (samples_.size() % seldom == 0) pod_now_ = read_pod();
        sample.pod = pod_now_;
        pod_peak_ = std::max(pod_peak_, pod_now_);
        if (samples_.size() % seldom == 2) read_trace(sample.at);
        samples_.push_back(sample);
        if (back_at_ == 0 && pod_peak_ > 32 * mib && pod_now_ < pod_peak_ / 10) back_at_ = sample.at;
    }

    std::int64_t read_pod() const {
        std::array<char, 32> text{};
        return ::pread(pod_, text.data(), text.size() - 1, 0) > 0 ? number(text.data()) : 0;
    }

    void read_trace(std::int64_t at) {
        std::array<char, 16384> text{};
        for (;;) {
            const auto size = ::read(trace_, text.data(), text.size());
            if (size <= 0) return;
            lines_.append(text.data(), static_cast<std::size_t>(size));
            if (kill_at_ == 0 && lines_.find("signal_generate") != std::string::npos) kill_at_ = at;
        }
    }

    void go() {
        const int pipe = open_or_die(options_.go, O_WRONLY);
        const std::string bytes(static_cast<std::size_t>(options_.processes), '!');
        go_at_ = now();
        if (::write(pipe, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) die(options_.go);
        (void)::close(pipe);
    }

    // What is left of the pods would hold up everybody who needs memory to report. Locked in memory, this process does
    // not.
    void release() const {
        if (options_.kill.empty()) return;
        const int file = open_or_die(options_.kill, O_WRONLY);
        (void)!::write(file, "1", 1);
        (void)::close(file);
    }

    bool over(std::int64_t at) const {
        return (back_at_ != 0 && at > back_at_ + afterwards) || (kill_at_ != 0 && at > kill_at_ + options_.patience);
    }

    bool interesting(const Sample& sample) const {
        const std::int64_t least = std::min(sample.available, sample.free + sample.inactive_file);
        return least < total_ * 15 / 100 + near;
    }

    Options options_;
    int meminfo_;
    int pod_;
    int trace_;
    std::array<char, 4096> text_{};
    std::vector<Sample> samples_;
    std::string lines_;
    std::int64_t total_;
    std::int64_t go_at_ = 0;
    std::int64_t kill_at_ = 0;
    std::int64_t back_at_ = 0;
    std::int64_t pod_now_ = 0;
    std::int64_t pod_peak_ = 0;
};

[[noreturn]] void usage() {
    (void)std::fputs(
        "usage: peers_observer --out CSV --pod CGROUP --go PIPE --trace INSTANCE "
        "[--kill FILE] [--processes N] [--limit-ms MS] [--patience-ms MS]\n",
        stderr);
    std::exit(2);
}

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        const char* value = words[i + 1];
        if (name == "--out") {
            options.out = value;
        } else if (name == "--pod") {
            options.pod = value;
        } else if (name == "--go") {
            options.go = value;
        } else if (name == "--trace") {
            options.trace = value;
        } else if (name == "--kill") {
            options.kill = value;
        } else if (name == "--processes") {
            options.processes = static_cast<int>(number(value));
        } else if (name == "--limit-ms") {
            options.limit = number(value) * ms;
        } else if (name == "--patience-ms") {
            options.patience = number(value) * ms;
        } else {
            usage();
        }
    }
    if (options.out.empty() || options.pod.empty() || options.go.empty() || options.trace.empty()) usage();
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    Witness witness(parse(argc, argv));
    // The lowest real-time priority: above everything ordinary, below a contender that asks for more.
    const sched_param priority{.sched_priority = 1};
    if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) die("SCHED_FIFO");
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) die("mlockall");
    witness.watch();
    // Nothing is urgent any more.
    const sched_param ordinary{.sched_priority = 0};
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    witness.write();
}
