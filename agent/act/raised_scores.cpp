// SPDX-License-Identifier: Apache-2.0
#include "act/raised_scores.hpp"

#include <algorithm>
#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::act {
namespace {

constexpr const char* head = "evictd raised oom_score_adj 1";
// 20 bytes a process: a hundred thousand of them.
constexpr std::size_t most_text = std::size_t{4} << 20U;

std::string boot_id() {
    auto text = sys::read_file("/proc/sys/kernel/random/boot_id", 4096).value_or("");
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

bool is_same(const RaisedProcess& raised, const port::ScoredProcess& process) {
    return raised.pid == process.pid() && raised.started == process.started();
}

}  // namespace

bool RaisedPod::knows(const port::ScoredProcess& process) const {
    return std::any_of(processes.begin(), processes.end(), [&](const auto& one) { return is_same(one, process); });
}

std::optional<int> RaisedPod::before(const port::ScoredProcess& process) const {
    std::optional<int> highest;
    for (const auto& one : processes) {
        if (is_same(one, process)) {
            return one.score;
        }
        highest = std::max(highest.value_or(one.score), one.score);
    }
    return highest;
}

std::string raised_text(const std::map<PodUid, RaisedPod>& raised, const std::string& boot) {
    std::ostringstream text;
    text << head << "\nboot " << boot << '\n';
    for (const auto& [uid, pod] : raised) {
        text << "pod " << uid.value << ' ' << pod.cgroup.value << '\n';
        for (const auto& process : pod.processes) {
            text << "process " << process.pid << ' ' << process.started << ' ' << process.score << '\n';
        }
    }
    return text.str();
}

std::map<PodUid, RaisedPod> raised_from(const std::string& text, const std::string& boot) {
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != head || !std::getline(lines, line) || line != "boot " + boot) {
        return {};
    }
    std::map<PodUid, RaisedPod> raised;
    RaisedPod* pod = nullptr;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string word;
        PodUid uid;
        CgroupId cgroup;
        RaisedProcess process;
        words >> word;
        if (word == "pod" && words >> uid.value >> cgroup.value) {
            pod = &raised[uid];
            pod->cgroup = cgroup;
        } else if (word == "process" && pod != nullptr && words >> process.pid >> process.started >> process.score) {
            pod->processes.push_back(process);
        } else {
            return {};  // half of a file is nobody's truth
        }
    }
    return raised;
}

Status remember_raised(const std::string& path, const std::map<PodUid, RaisedPod>& raised) {
    if (raised.empty()) {
        return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status{} : sys::fail_errno(path, errno);
    }
    if (auto made = sys::make_directories(path.substr(0, path.rfind('/')), 0755); !made) {
        return made;
    }
    const std::string fresh = path + ".new";
    auto file = sys::open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    auto written =
        file ? sys::write_text(file->get(), raised_text(raised, boot_id())) : tl::unexpected<Error>(file.error());
    if (written && ::rename(fresh.c_str(), path.c_str()) != 0) {
        return sys::fail_errno(path, errno);
    }
    return written;
}

std::map<PodUid, RaisedPod> remembered_raised(const std::string& path) {
    const auto text = sys::read_file(path, most_text);
    return text ? raised_from(*text, boot_id()) : std::map<PodUid, RaisedPod>{};
}

}  // namespace evictd::act
