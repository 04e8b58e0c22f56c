// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_scores.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* score_file = "oom_score_adj";
// Descriptors held at a time. A pod that forked ten thousand times must not take all that there are.
constexpr std::size_t at_once = 256;

class HeldProcess final : public port::ScoredProcess {
public:
    HeldProcess(pid_t pid, sys::Fd directory, const std::string& pod_path)
        : pid_(pid), directory_(std::move(directory)), pod_path_(pod_path) {}

    [[nodiscard]] pid_t pid() const override { return pid_; }
    [[nodiscard]] std::uint64_t started() const override { return start_time_in(text_of("stat")); }
    [[nodiscard]] std::string container() const override { return container_cgroup_in(text_of("cgroup"), pod_path_); }
    [[nodiscard]] Result<int> score() const override {
        auto file = sys::openat(directory_.get(), score_file, O_RDONLY);
        std::string text;
        auto read = file ? sys::read_text(file->get(), text) : Status(tl::unexpected(file.error()));
        if (!read) {
            return tl::unexpected(read.error());
        }
        int score = 0;
        const bool number = std::from_chars(text.data(), text.data() + text.size(), score).ec == std::errc();
        return number ? Result<int>(score) : fail(ErrorKind::failed, score_file, "is no number");
    }
    [[nodiscard]] Status set_score(int score) override {
        auto file = sys::openat(directory_.get(), score_file, O_WRONLY);
        return file ? sys::write_text(file->get(), std::to_string(score)) : tl::unexpected<Error>(file.error());
    }

private:
    [[nodiscard]] std::string text_of(const char* name) const {
        std::string text;
        if (auto file = sys::openat(directory_.get(), name, O_RDONLY)) {
            (void)sys::read_text(file->get(), text);
        }
        return text;
    }

    pid_t pid_;
    sys::Fd directory_;
    const std::string& pod_path_;
};

}  // namespace

// Opened first, listed again afterwards: whoever is listed then was in the cgroup while we held it, for a pid cannot be
// given to another process as long as its own has not ended, and then the directory is dead.
Status ProcScores::each(const port::PodCgroup& pod, const std::function<void(port::ScoredProcess&)>& visit) {
    auto listed = pod.processes();
    if (!listed) {
        return tl::unexpected(listed.error());
    }
    for (std::size_t begin = 0; begin < listed->size(); begin += at_once) {
        std::vector<std::unique_ptr<HeldProcess>> held;
        for (std::size_t i = begin; i < std::min(begin + at_once, listed->size()); i++) {
            const pid_t pid = (*listed)[i];
            auto directory = sys::open("/proc/" + std::to_string(pid), O_PATH | O_DIRECTORY);
            if (directory && pid != getpid()) {
                held.push_back(std::make_unique<HeldProcess>(pid, std::move(*directory), pod.path()));
            }
        }
        auto still = pod.processes();
        if (!still) {
            return tl::unexpected(still.error());
        }
        std::sort(still->begin(), still->end());
        for (const auto& process : held) {
            if (std::binary_search(still->begin(), still->end(), process->pid())) {
                visit(*process);
            }
        }
    }
    return {};
}

std::string container_cgroup_in(const std::string& proc_cgroup, const std::string& pod_path) {
    const std::string wanted = pod_path.substr(pod_path.rfind('/')) + "/";
    std::istringstream lines(proc_cgroup);
    std::string line;
    std::string found;
    while (std::getline(lines, line)) {
        const auto controllers = line.find(':');
        const auto path = line.find(':', controllers + 1);
        const auto at = path == std::string::npos ? path : line.find(wanted, path);
        if (at == std::string::npos) {
            continue;
        }
        const auto name = at + wanted.size();
        found = line.substr(name, line.find('/', name) - name);
        if (("," + line.substr(controllers + 1, path - controllers - 1) + ",").find(",memory,") != std::string::npos) {
            break;
        }
    }
    return found;
}

// The name in parentheses may hold anything, so what counts begins behind the last of them: with field 3.
std::uint64_t start_time_in(const std::string& proc_stat) {
    const auto end = proc_stat.rfind(')');
    if (end == std::string::npos) {
        return 0;
    }
    std::istringstream fields(proc_stat.substr(end + 1));
    std::string skipped;
    for (int field = 3; field < 22; field++) {
        fields >> skipped;
    }
    std::uint64_t start = 0;
    return fields >> start ? start : 0;
}

}  // namespace evictd::kernel
