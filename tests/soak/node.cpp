// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "node.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.hpp"

namespace evictd::soak {
namespace fs = std::filesystem;
namespace {

constexpr const char* cgroups = "/sys/fs/cgroup";
constexpr int ready_within_ms = 10'000;
constexpr std::size_t pids_limit = 400;  // of a pod

}  // namespace

Node::Node(std::string evictd, std::string attacker)
    : evictd_(std::move(evictd)), attacker_(std::move(attacker)), name_("evictd-soak-" + std::to_string(::getpid())) {
    const std::string controllers = " " + read_file(std::string(cgroups) + "/cgroup.controllers");
    v2_ = controllers.find(" memory") != std::string::npos;
    if (v2_) {
        mounts_ = {cgroups};
    } else {
        for (const char* one : {"memory", "freezer", "pids"}) {
            if (fs::exists(std::string(cgroups) + "/" + one + "/cgroup.procs"))
                mounts_.push_back(std::string(cgroups) + "/" + one);
        }
    }
    std::string pattern = "/tmp/evictd-soak.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) return;
    work_ = pattern;
    made_ = make();
}

bool Node::make() {
    if (mounts_.empty() || mounts_.front().find("freezer") != std::string::npos) return false;
    if (!make_cgroup("kubepods/burstable") || !make_cgroup("kubepods/besteffort")) return false;
    const std::string root = mounts_.front() + "/" + name_ + "/kubepods/";
    const std::string file = root + (v2_ ? "memory.max" : "memory.limit_in_bytes");
    if (!write_file(file, std::to_string(limit_mib << 20U))) return false;
    fs::create_directories(work_ + "/pods");
    fs::create_directories(volume());
    if (::mount("none", volume().c_str(), "tmpfs", 0, "size=128m") != 0) return false;
    std::ofstream(big_file()).close();
    fs::resize_file(big_file(), std::uintmax_t{64} << 20U);
    write_config(4);
    return true;
}

Node::~Node() {
    if (agent_ > 0) kill_agent();
    empty(name_);
    (void)::umount2(volume().c_str(), MNT_DETACH);
    std::error_code ignored;
    fs::remove_all("/sys/fs/bpf/" + name_, ignored);
    if (!work_.empty()) fs::remove_all(work_, ignored);
}

bool Node::make_cgroup(const std::string& path) const {
    std::error_code error;
    for (const auto& mount : mounts_) {
        fs::path at = mount + "/" + name_;
        fs::create_directories(at / path, error);
        if (error) return false;
        if (!v2_) continue;
        (void)write_file(at / "cgroup.subtree_control", "+memory +pids");
        const fs::path below(path);
        for (auto part = below.begin(); std::next(part) != below.end(); ++part) {
            at /= *part;
            (void)write_file(at / "cgroup.subtree_control", "+memory +pids");
        }
    }
    return true;
}

std::string Node::directory(const Pod& pod, const std::string& below) const {
    return mounts_.front() + "/" + pod.cgroup + "/c1" + (below.empty() ? "" : "/" + below);
}

Pod Node::add(const std::string& name, std::size_t request_mib) {
    std::ostringstream uid;
    uid << "50a4" << std::hex << 0x1000 + (::getpid() & 0xfff) << "-0000-4000-8000-" << 0x100000000000 + ++started_;
    const std::string qos = request_mib > 0 ? "burstable" : "besteffort";
    Pod pod{.name = name, .cgroup = name_ + "/kubepods/" + qos + "/pod" + uid.str()};
    (void)make_cgroup("kubepods/" + qos + "/pod" + uid.str() + "/c1");
    for (const auto& mount : mounts_)
        (void)write_file(mount + "/" + pod.cgroup + "/pids.max", std::to_string(pids_limit));
    std::ofstream manifest(work_ + "/pods/." + name);
    manifest << "apiVersion: v1\nkind: Pod\nmetadata: {name: " << name << ", namespace: soak, uid: " << uid.str()
             << "}\nspec:\n  containers:\n  - name: c1\n    image: none\n";
    if (request_mib > 0) manifest << "    resources: {requests: {memory: " << request_mib << "Mi}}\n";
    manifest << "status: {phase: Running}\n";
    manifest.close();
    fs::rename(work_ + "/pods/." + name, work_ + "/pods/" + name + ".yaml");
    return pod;
}

pid_t Node::spawn(const Words& words, const std::string& output, const std::string& score) const {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    (void)write_file("/proc/self/oom_score_adj", score);
    const int null = ::open("/dev/null", O_RDWR);
    const int log = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)::dup2(null, STDIN_FILENO);
    (void)::dup2(log, STDOUT_FILENO);
    (void)::dup2(log, STDERR_FILENO);
    (void)::execv(arguments[0], arguments.data());
    ::_exit(127);
}

void Node::start(Pod& pod, const Words& attack, const std::string& below) {
    const std::string ready = work_ + "/ready";
    Words words{attacker_, "--ready", ready};
    for (const auto& mount : mounts_) {
        const std::string group = mount + "/" + pod.cgroup + "/c1" + (below.empty() ? "" : "/" + below);
        fs::create_directories(group);
        words.insert(words.end(), {"--in", group});
    }
    words.insert(words.end(), attack.begin(), attack.end());
    std::error_code ignored;
    fs::remove(ready, ignored);
    // As a runtime starts it: what a kubelet asks for, for a request that is small beside the machine.
    const char* const score = pod.cgroup.find("/besteffort/") == std::string::npos ? "999" : "1000";
    const pid_t pid = spawn(words, work_ + "/attackers.log", score);
    pod.processes.push_back(pid);
    for (int waited = 0; waited < ready_within_ms && !fs::exists(ready); waited += 2) {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            break;
        sleep_ms(2);
    }
}

bool Node::lives(const Pod& pod) {
    return std::all_of(pod.processes.begin(), pod.processes.end(), [](pid_t pid) {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
    });
}

void Node::empty(const std::string& path) const {
    for (int turn = 0; turn < 200; turn++) {
        bool left = false;
        for (const auto& mount : mounts_) {
            auto groups = subtree(mount + "/" + path);
            std::reverse(groups.begin(), groups.end());
            for (const auto& group : groups) {
                (void)write_file(group / "freezer.state", "THAWED");
                (void)write_file(group / "cgroup.freeze", "0");
                std::istringstream pids(read_file(group / "cgroup.procs"));
                for (pid_t pid = 0; pids >> pid;) (void)::kill(pid, SIGKILL);
                std::error_code error;
                left = !fs::remove(group, error) || left;
            }
        }
        if (!left) return;
        sleep_ms(5);
    }
}

void Node::remove(Pod& pod) {
    std::error_code ignored;
    fs::remove(work_ + "/pods/" + pod.name + ".yaml", ignored);
    empty(pod.cgroup);
    int status = 0;
    for (const pid_t pid : pod.processes) (void)ended(pid, ready_within_ms, status);
}

std::size_t Node::used_bytes(const std::string& directory) const {
    const std::size_t inactive =
        number_in(read_file(directory + "/memory.stat"), v2_ ? "inactive_file" : "total_inactive_file");
    std::size_t usage = 0;
    std::istringstream(read_file(directory + (v2_ ? "/memory.current" : "/memory.usage_in_bytes"))) >> usage;
    return usage - std::min(usage, inactive);
}

std::size_t Node::available_mib() const {
    return limit_mib - std::min(limit_mib, used_bytes(mounts_.front() + "/" + name_ + "/kubepods") >> 20U);
}

std::size_t Node::held_mib(const Pod& pod) const { return used_bytes(mounts_.front() + "/" + pod.cgroup) >> 20U; }

}  // namespace evictd::soak
