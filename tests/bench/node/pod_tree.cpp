// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "pod_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::bench {
namespace {

constexpr std::string_view tree_name = "evictd-bench-";  // then its maker's pid

// A process that was killed leaves its cgroup some time later. Ten seconds are enough for any that can be killed.
constexpr int removal_attempts = 1000;
constexpr useconds_t removal_pause = 10'000;

void remove_below(const std::filesystem::path& directory) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        if (at->is_directory(error)) {
            remove_below(at->path());
        }
    }
    for (int i = 0; i < removal_attempts && rmdir(directory.c_str()) != 0 && errno == EBUSY; i++) {
        (void)usleep(removal_pause);
    }
}

Status write_file(const std::string& path, const std::string& text) {
    auto file = sys::open(path, O_WRONLY);
    return file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
}

// The line of the memory controller ("9:memory:/path") or of v2 ("0::/path") names this very cgroup.
bool is_inside(const std::string& cgroup, bool v2) {
    std::ifstream lines("/proc/self/cgroup");
    std::string line;
    while (std::getline(lines, line)) {
        if ((v2 ? line.starts_with("0::") : line.find(":memory:") != std::string::npos) && line.ends_with(cgroup)) {
            return true;
        }
    }
    return false;
}

}  // namespace

Result<std::unique_ptr<PodTree>> PodTree::make(const std::string& directory) {
    auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    std::unique_ptr<PodTree> tree(new PodTree);
    tree->hierarchies_ = *hierarchies;
    tree->mounts_.push_back(hierarchies->memory);
    if (!hierarchies->freezer.empty()) {
        tree->mounts_.push_back(hierarchies->freezer);
    }
    tree->base_ = "/" + std::string(tree_name) + std::to_string(getpid());
    tree->manifests_ = directory + "/pods";
    std::error_code error;
    std::filesystem::remove_all(directory, error);
    if (!std::filesystem::create_directories(tree->manifests_, error)) {
        return fail(ErrorKind::failed, tree->manifests_, error.message());
    }
    if (hierarchies->v2) {
        (void)write_file(hierarchies->memory + "/cgroup.subtree_control", "+memory +pids");
    }
    for (const char* path : {"", "/kubepods", "/kubepods/besteffort"}) {
        if (auto made = tree->make_cgroup(tree->base_ + path, Node::branch); !made) {
            return tl::unexpected(made.error());
        }
    }
    return tree;
}

PodTree::~PodTree() {
    for (const pid_t pid : sleepers_) {
        (void)kill(pid, SIGKILL);
    }
    for (const pid_t pid : sleepers_) {
        (void)waitpid(pid, nullptr, 0);
    }
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) {
        for (const auto& mount : mounts_) {
            (void)rmdir((mount + *path).c_str());
        }
    }
}

Status PodTree::make_cgroup(const std::string& path, Node node) {
    for (const auto& mount : mounts_) {
        if (mkdir((mount + path).c_str(), 0755) != 0) {
            return sys::fail_errno(mount + path, errno, "run as root");
        }
        if (hierarchies_.v2 && node == Node::branch) {
            (void)write_file(mount + path + "/cgroup.subtree_control", "+memory +pids");
        }
    }
    made_.push_back(path);
    return {};
}

Result<BenchPod> PodTree::add(const std::string& name, const std::string& request) {
    std::array<char, 40> uid{};
    (void)std::snprintf(uid.data(), uid.size(), "5f0c3b1e-0000-4000-8000-%012d", ++serial_);
    BenchPod pod{uid.data(), name, pods_root() + "/besteffort/pod" + uid.data() + "/c1"};
    auto made = make_cgroup(pod.cgroup.substr(0, pod.cgroup.rfind('/')), Node::branch);
    if (!made || !(made = make_cgroup(pod.cgroup, Node::leaf))) {
        return tl::unexpected(made.error());
    }
    const std::string file = manifests_ + "/" + name + ".yaml";
    std::ofstream(file + ".new") << "apiVersion: v1\nkind: Pod\nmetadata: {name: " << name
                                 << ", namespace: bench, uid: " << pod.uid
                                 << "}\nspec: {containers: [{name: a, resources: {requests: {memory: " << request
                                 << "}}}]}\nstatus: {phase: Running}\n";
    if (std::rename((file + ".new").c_str(), file.c_str()) != 0) {
        return sys::fail_errno(file, errno);
    }
    return pod;
}

void PodTree::remove(const BenchPod& pod) {
    (void)std::remove((manifests_ + "/" + pod.name + ".yaml").c_str());
    for (const auto& path : {pod.cgroup, pod.cgroup.substr(0, pod.cgroup.rfind('/'))}) {
        bool gone = true;
        for (const auto& mount : mounts_) {
            gone = rmdir((mount + path).c_str()) == 0 && gone;
        }
        if (gone) {
            std::erase(made_, path);
        }
    }
}

std::uint64_t PodTree::id(const BenchPod& pod) const {
    struct stat status {};
    const std::string path = hierarchies_.memory + pod.cgroup.substr(0, pod.cgroup.rfind('/'));
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

Status PodTree::remove_leftovers() {
    const auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    for (const auto& mount : {hierarchies->memory, hierarchies->freezer}) {
        std::error_code error;
        for (std::filesystem::directory_iterator at(mount, error), end; !error && at != end; at.increment(error)) {
            const std::string name = at->path().filename();
            if (name.starts_with(tree_name) && kill(std::atoi(name.c_str() + tree_name.size()), 0) != 0) {
                remove_below(at->path());
            }
        }
    }
    return {};
}

void PodTree::enter(const std::string& path) const {
    for (const auto& mount : mounts_) {
        if (!write_file(mount + path + "/cgroup.procs", "0")) {
            _exit(3);
        }
    }
    if (!is_inside(path, hierarchies_.v2)) {
        _exit(4);
    }
}

Result<pid_t> PodTree::start(const BenchPod& pod, const std::function<void()>& body) {
    const pid_t pid = fork();
    if (pid < 0) {
        return sys::fail_errno("fork", errno);
    }
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        enter(pod.cgroup);
        body();
        _exit(0);
    }
    return pid;
}

Result<pid_t> PodTree::start_sleeper(const BenchPod& pod, std::size_t size) {
    auto pid = start(pod, [size] {
        (void)std::signal(SIGUSR1, [](int) {});
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (; memory != MAP_FAILED;) {
            (void)madvise(memory, size, MADV_DONTNEED);
            std::fill_n(static_cast<char*>(memory), size, 'x');
            (void)pause();
        }
    });
    if (pid) {
        sleepers_.push_back(*pid);
    }
    return pid;
}

void PodTree::stir() const {
    for (const pid_t pid : sleepers_) {
        (void)kill(pid, SIGUSR1);
    }
}

int PodTree::dead_sleepers() const {
    return static_cast<int>(std::count_if(sleepers_.begin(), sleepers_.end(), [](pid_t pid) {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
    }));
}

int PodTree::oom_kills(const BenchPod& pod) const {
    const char* name = hierarchies_.v2 ? "/memory.events" : "/memory.oom_control";
    std::ifstream words(hierarchies_.memory + pod.cgroup + name);
    int count = 0;
    for (std::string word; words >> word;) {
        if (word == "oom_kill") {
            words >> count;
        }
    }
    return count;
}

Bytes PodTree::usage() const {
    const char* name = hierarchies_.v2 ? "/memory.current" : "/memory.usage_in_bytes";
    Bytes usage;
    std::ifstream(hierarchies_.memory + pods_root() + name) >> usage.value;
    return usage;
}

Status PodTree::write_limit(const std::string& cgroup, Bytes limit) {
    const char* name = hierarchies_.v2 ? "/memory.max" : "/memory.limit_in_bytes";
    return write_file(hierarchies_.memory + cgroup + name, std::to_string(limit.value));
}

Status PodTree::set_limit(Bytes limit) { return write_limit(pods_root(), limit); }

Status PodTree::set_limit(const BenchPod& pod, Bytes limit) { return write_limit(pod.cgroup, limit); }

}  // namespace evictd::bench
