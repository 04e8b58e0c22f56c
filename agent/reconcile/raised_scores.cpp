// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/raised_scores.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "reconcile/ledger_file.hpp"

namespace evictd::reconcile {
namespace {

constexpr const char* scores_head = "evictd raised oom_score_adj 1";

bool is_same(const RaisedProcess& raised, const port::ScoredProcess& process) {
    return raised.pid == process.pid() && raised.started == process.started();
}

void add_pod(std::ostringstream& text, const PodUid& uid, CgroupId cgroup) {
    text << "pod " << uid.value << ' ' << cgroup.value << '\n';
}

void add_process(std::ostringstream& text, const RaisedProcess& process) {
    text << "process " << process.pid << ' ' << process.started << ' ' << process.score << '\n';
}

}  // namespace

RaisedProcesses::RaisedProcesses(std::initializer_list<RaisedProcess> processes) {
    for (const auto& process : processes) {
        add(process);
    }
}

void RaisedProcesses::add(const RaisedProcess& process) {
    all_.insert_or_assign(process.pid, process);
    highest_ = std::max(highest_.value_or(process.score), process.score);
}

void RaisedProcesses::keep_only(const std::vector<pid_t>& pids) {
    const std::unordered_set<pid_t> kept(pids.begin(), pids.end());
    std::erase_if(all_, [&](const auto& entry) { return !kept.contains(entry.first); });
}

const RaisedProcess* RaisedProcesses::find(pid_t pid) const {
    const auto found = all_.find(pid);
    return found == all_.end() ? nullptr : &found->second;
}

bool RaisedPod::knows(const port::ScoredProcess& process) const {
    const auto* known = processes.find(process.pid());
    return known != nullptr && is_same(*known, process);
}

std::optional<int> RaisedPod::before(const port::ScoredProcess& process) const {
    const auto* known = processes.find(process.pid());
    return known != nullptr && is_same(*known, process) ? std::optional(known->score) : processes.highest();
}

std::string raised_text(const RaisedPods& raised, const std::string& boot) {
    std::ostringstream text;
    text << scores_head << "\nboot " << boot << '\n';
    for (const auto& [uid, pod] : raised) {
        add_pod(text, uid, pod.cgroup);
        for (const auto& [pid, process] : pod.processes.all()) {
            add_process(text, process);
        }
    }
    return text.str();
}

Result<RaisedPods> raised_from(const std::string& text, const std::string& boot) {
    std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
    std::string line;
    if (!std::getline(lines, line) || line != scores_head || !std::getline(lines, line) || !line.starts_with("boot ")) {
        return fail(ErrorKind::invalid, "raised scores", "not a list of raised scores");
    }
    RaisedPods raised;
    if (line != "boot " + boot) {
        return raised;
    }
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
            pod->processes.add(process);
        } else {
            return fail(ErrorKind::invalid, "raised scores", "invalid line \"" + line + "\"");
        }
    }
    return raised;
}

Status remember_raised(const std::string& path, const RaisedPods& raised) {
    return write_ledger(path, raised.empty() ? "" : raised_text(raised, boot_id()));
}

Status remember_more(const std::string& path, const PodUid& pod, CgroupId cgroup,
                     std::span<const RaisedProcess> processes) {
    std::ostringstream text;
    add_pod(text, pod, cgroup);
    for (const auto& process : processes) {
        add_process(text, process);
    }
    return append_ledger(path, text.str());
}

Result<RaisedPods> remembered_raised(const std::string& path) {
    const auto text = read_ledger(path);
    if (!text) {
        return tl::unexpected(text.error());
    }
    if (!*text) {
        return RaisedPods{};
    }
    auto raised = raised_from(**text, boot_id());
    if (!raised) {
        return fail(raised.error().kind, path, raised.error().why,
                    "look at the pods' oom_score_adj, then remove the file");
    }
    return raised;
}

}  // namespace evictd::reconcile
