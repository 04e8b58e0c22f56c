// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/proc_scores.hpp"

#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* score_file = "oom_score_adj";

// Linux sets a process's oom_score_adj_min, below which it cannot lower its own score again, to whatever is written
// with CAP_SYS_RESOURCE (__set_oom_adj in fs/proc/base.c). So nothing is written with it that can be written without:
// raising a score and putting it back leave the process free to do what it could do before. Of this thread alone.
class WithoutResource {
public:
    WithoutResource() : held_(::syscall(SYS_capget, &head_, had_.data()) == 0 && (had_[0].effective & bit) != 0) {
        set(false);
    }
    WithoutResource(const WithoutResource&) = delete;
    WithoutResource& operator=(const WithoutResource&) = delete;
    ~WithoutResource() { set(true); }
    [[nodiscard]] bool held() const { return held_; }
    void set(bool effective) {
        if (held_) {
            auto wanted = had_;
            wanted[0].effective = effective ? wanted[0].effective : wanted[0].effective & ~bit;
            (void)::syscall(SYS_capset, &head_, wanted.data());
        }
    }

private:
    static constexpr std::uint32_t bit = 1U << static_cast<unsigned>(CAP_SYS_RESOURCE);
    __user_cap_header_struct head_{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> had_{};
    bool held_ = false;
};

class HeldProcess final : public port::ScoredProcess {
public:
    HeldProcess(pid_t pid, sys::Fd directory, const std::string& pod_path, WithoutResource& resource)
        : pid_(pid), directory_(std::move(directory)), pod_path_(pod_path), resource_(resource) {}

    [[nodiscard]] pid_t pid() const override { return pid_; }
    [[nodiscard]] std::uint64_t started() const override { return start_time_in(text_of("stat").value_or("")); }
    [[nodiscard]] std::string container() const override {
        return container_cgroup_in(text_of("cgroup").value_or(""), pod_path_);
    }
    [[nodiscard]] Result<int> score() const override {
        const auto text = text_of(score_file);
        if (!text) {
            return tl::unexpected(text.error());
        }
        int score = 0;
        const bool number = std::from_chars(text->data(), text->data() + text->size(), score).ec == std::errc();
        return number ? Result<int>(score) : fail(ErrorKind::failed, score_file, "not a number");
    }
    // A pid that was listed and was given to another process before it was opened is found here: the directory is that
    // process's, and so is the cgroup that it names.
    [[nodiscard]] Status set_score(int score) override {
        const auto cgroup = text_of("cgroup");
        if (!cgroup) {
            return tl::unexpected(cgroup.error());
        }
        if (!is_in_pod(*cgroup, pod_path_)) {
            return fail(ErrorKind::vanished, score_file,
                        "pid " + std::to_string(pid_) + " is not a process of the pod");
        }
        auto written = write(score);
        if (!written && written.error().kind == ErrorKind::not_permitted && resource_.held()) {
            resource_.set(true);
            written = write(score);
            resource_.set(false);
        }
        return written;
    }

private:
    [[nodiscard]] Status write(int score) {
        auto file = sys::openat(directory_.get(), score_file, O_WRONLY);
        return file ? sys::write_text(file->get(), std::to_string(score)) : tl::unexpected<Error>(file.error());
    }
    [[nodiscard]] Result<std::string> text_of(const char* name) const {
        const auto file = sys::openat(directory_.get(), name, O_RDONLY);
        std::string text;
        auto read = file ? sys::read_text(file->get(), text) : Status(tl::unexpected(file.error()));
        return read ? Result<std::string>(std::move(text)) : tl::unexpected(read.error());
    }

    pid_t pid_;
    sys::Fd directory_;
    const std::string& pod_path_;
    WithoutResource& resource_;
};

// The path that /proc/PID/cgroup has for the memory controller: its own hierarchy on v1, the only one on v2.
std::string memory_path_in(const std::string& proc_cgroup) {
    std::istringstream lines(proc_cgroup);
    std::string line;
    std::string unified;
    while (std::getline(lines, line)) {
        const auto controllers = line.find(':');
        const auto path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
        if (path == std::string::npos) {
            continue;
        }
        const auto names = "," + line.substr(controllers + 1, path - controllers - 1) + ",";
        if (names.find(",memory,") != std::string::npos) {
            return line.substr(path + 1);
        }
        if (names == ",,") {
            unified = line.substr(path + 1);
        }
    }
    return unified;
}

}  // namespace

Result<std::vector<pid_t>> ProcScores::list(const port::PodCgroup& pod) { return pod.processes(); }

Status ProcScores::visit(const port::PodCgroup& pod, std::span<const pid_t> pids, const Visit& visit) {
    WithoutResource resource;
    const pid_t self = ::getpid();
    Status result;
    for (const pid_t pid : pids) {
        auto directory = sys::open("/proc/" + std::to_string(pid), O_PATH | O_DIRECTORY);
        if (directory && pid != self) {
            HeldProcess process(pid, std::move(*directory), pod.path(), resource);
            visit(process);
        } else if (!directory && directory.error().kind != ErrorKind::vanished && result) {
            result = tl::unexpected(directory.error());
        }
    }
    return result;
}

// Our mount may show a part of the hierarchy only, so the path may begin with more than the pod's. From another cgroup
// namespace it begins with "/.." and may lack what both have in common: there only the pod's own name can be compared.
// A process that makes cgroups of such names deceives about itself alone.
bool is_in_pod(const std::string& proc_cgroup, const std::string& pod_path) {
    const auto path = memory_path_in(proc_cgroup) + "/";
    const auto& wanted = path.starts_with("/..") ? pod_path.substr(pod_path.rfind('/')) : pod_path;
    return path.find(wanted + "/") != std::string::npos;
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
