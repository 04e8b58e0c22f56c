// SPDX-License-Identifier: Apache-2.0
#include "act/raised_scores.hpp"

#include <algorithm>
#include <sstream>

#include "act/memory_file.hpp"
#include "sys/file.hpp"

namespace evictd::act {
namespace {

constexpr const char* head = "evictd raised oom_score_adj 1";
// 20 bytes a process: a hundred thousand of them.
constexpr std::size_t most_text = std::size_t{4} << 20U;

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
    return remember_text(path, raised.empty() ? "" : raised_text(raised, boot_id()));
}

std::map<PodUid, RaisedPod> remembered_raised(const std::string& path) {
    const auto text = sys::read_file(path, most_text);
    return text ? raised_from(*text, boot_id()) : std::map<PodUid, RaisedPod>{};
}

}  // namespace evictd::act
