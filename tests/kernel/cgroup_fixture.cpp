// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::kernel_test {
namespace {

const std::string name_prefix = "evictd-test-";

// Where v1's controller is mounted; the code under test does not need to know of pids.
std::string v1_mount_of(const std::string& controller) {
    std::ifstream mounts("/proc/mounts");
    std::string device, point, type, options, rest;
    while (mounts >> device >> point >> type >> options && std::getline(mounts, rest)) {
        if (type == "cgroup" && ("," + options + ",").find("," + controller + ",") != std::string::npos) return point;
    }
    return {};
}

std::string read_text(const std::string& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Every hierarchy that a pod's processes are in, memory's first.
std::vector<std::string> pod_mounts() {
    std::vector<std::string> mounts{hierarchies().memory};
    if (!hierarchies().v2) {
        // In a v2 tree without controllers too, as systemd has it in a hybrid layout: stalls are counted there.
        for (const auto& mount : {hierarchies().unified, hierarchies().freezer, v1_mount_of("pids")}) {
            if (!mount.empty()) mounts.push_back(mount);
        }
    }
    return mounts;
}

// One write(2), as control files want it.
bool write_text(const std::string& file, const std::string& text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return done;
}

// Ends what is left in it: children of a test program that was killed, perhaps while they were frozen.
void remove_tree(const std::string& directory) {
    write_text(directory + "/freezer.state", "THAWED");
    write_text(directory + "/cgroup.freeze", "0");
    std::istringstream words(read_text(directory + "/cgroup.procs"));
    for (pid_t pid = 0; words >> pid;) ::kill(pid, SIGKILL);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (entry.is_directory(error)) remove_tree(entry.path().string());
    }
    eventually([&] { return ::rmdir(directory.c_str()) == 0 || errno == ENOENT; }, std::chrono::seconds(5));
}

}  // namespace

const kernel::Hierarchies& hierarchies() {
    static const kernel::Hierarchies found = [] {
        auto result = kernel::find_hierarchies();
        if (!result) {
            std::fprintf(stderr, "kernel_tests: %s\n", result.error().text().c_str());
            std::_Exit(1);
        }
        return *result;
    }();
    return found;
}

void remove_leftovers() {
    auto mounts = pod_mounts();
    std::rotate(mounts.begin(), mounts.begin() + 1, mounts.end());  // the freezer before memory: only the thawed die
    for (const auto& mount : mounts) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(mount, error)) {
            const auto name = entry.path().filename().string();
            if (!name.starts_with(name_prefix)) continue;
            const pid_t maker = std::atoi(name.c_str() + name_prefix.size());
            if (::kill(maker, 0) != 0 && errno == ESRCH) remove_tree(entry.path().string());
        }
    }
}

bool eventually(const std::function<bool()>& holds, Duration within) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

TestCgroups::TestCgroups() {
    static std::atomic<int> count = 0;
    root_ = "/" + name_prefix + std::to_string(::getpid()) + "-" + std::to_string(count++);
    mounts_ = pod_mounts();
    if (hierarchies().v2) write_text(mounts_[0] + "/cgroup.subtree_control", "+memory +pids");
    make("");
}

TestCgroups::~TestCgroups() {
    const bool empty = eventually([this] {
        end_all();
        return std::all_of(made_.begin(), made_.end(), [this](const auto& name) { return processes(name).empty(); });
    });
    EXPECT_TRUE(empty) << root_ << " still holds processes";
    for (auto name = made_.rbegin(); name != made_.rend(); ++name) {
        for (const auto& mount : mounts_) {
            const std::string directory = mount + path(*name);
            // The last process is out of cgroup.procs a moment before the cgroup lets go of it.
            EXPECT_TRUE(eventually([&] { return ::rmdir(directory.c_str()) == 0 || errno == ENOENT; })) << directory;
        }
    }
}

// Frozen, so that nobody forks away from it.
void TestCgroups::end_all() const {
    for (const auto& name : made_) {
        if (processes(name).empty()) continue;
        set_frozen(name, true);
        for (const pid_t pid : processes(name)) ::kill(pid, SIGKILL);
        set_frozen(name, false);
    }
}

void TestCgroups::set_frozen(const std::string& name, bool frozen) const {
    if (hierarchies().v2) {
        write(name, "cgroup.freeze", frozen ? "1" : "0");
    } else {
        write_text(hierarchies().freezer + path(name) + "/freezer.state", frozen ? "FROZEN" : "THAWED");
    }
}

std::string TestCgroups::path(const std::string& name) const { return name.empty() ? root_ : root_ + "/" + name; }

CgroupId TestCgroups::id(const std::string& name) const {
    struct stat status {};
    const std::string directory = mounts_[0] + path(name);
    EXPECT_EQ(::stat(directory.c_str(), &status), 0) << directory;
    return {status.st_ino};
}

port::PodsRoot TestCgroups::pods_root(const std::string& name) const {
    const auto whole = path(name);
    return {whole, id(name), static_cast<std::uint32_t>(std::count(whole.begin(), whole.end(), '/'))};
}

void TestCgroups::make(const std::string& name) {
    if (std::find(made_.begin(), made_.end(), name) != made_.end()) return;
    if (!name.empty()) {
        const auto slash = name.rfind('/');
        const std::string parent = slash == std::string::npos ? "" : name.substr(0, slash);
        make(parent);
        if (hierarchies().v2) write(parent, "cgroup.subtree_control", "+memory +pids");
    }
    for (const auto& mount : mounts_) {
        ASSERT_EQ(::mkdir((mount + path(name)).c_str(), 0755), 0)
            << mount << path(name) << ": " << std::strerror(errno);
    }
    made_.push_back(name);
}

void TestCgroups::remove(const std::string& name) const {
    for (const auto& mount : mounts_) {
        const std::string directory = mount + path(name);
        EXPECT_TRUE(eventually([&] { return ::rmdir(directory.c_str()) == 0 || errno == ENOENT; })) << directory;
    }
}

void TestCgroups::enter(const std::string& name, pid_t pid) const {
    for (const auto& mount : mounts_) write_text(mount + path(name) + "/cgroup.procs", std::to_string(pid));
}

std::string TestCgroups::read(const std::string& name, const std::string& file) const {
    return read_text(mounts_[0] + path(name) + "/" + file);
}

bool TestCgroups::write(const std::string& name, const std::string& file, const std::string& text) const {
    return write_text(mounts_[0] + path(name) + "/" + file, text);
}

std::int64_t TestCgroups::number(const std::string& name, const std::string& file) const {
    return std::atoll(read(name, file).c_str());
}

std::int64_t TestCgroups::stat(const std::string& name, const std::string& key) const {
    std::istringstream words(read(name, "memory.stat"));
    std::string word;
    std::int64_t value = 0;
    while (words >> word >> value) {
        if (word == key) return value;
    }
    return 0;
}

std::int64_t TestCgroups::usage(const std::string& name) const {
    return number(name, hierarchies().v2 ? "memory.current" : "memory.usage_in_bytes");
}

std::int64_t TestCgroups::total(const std::string& name, const std::string& key) const {
    return stat(name, hierarchies().v2 ? key : "total_" + key);
}

void TestCgroups::limit_memory(const std::string& name, Bytes limit) const {
    const char* file = hierarchies().v2 ? "memory.max" : "memory.limit_in_bytes";
    ASSERT_TRUE(write(name, file, std::to_string(limit.value))) << path(name) << ": " << std::strerror(errno);
}

void TestCgroups::limit_processes(const std::string& name, int limit) const {
    const std::string& mount = mounts_.back();  // v2: the only one
    ASSERT_TRUE(write_text(mount + path(name) + "/pids.max", std::to_string(limit))) << std::strerror(errno);
}

void TestCgroups::freeze(const std::string& name) const {
    set_frozen(name, true);
    ASSERT_TRUE(eventually([&] {
        return hierarchies().v2 ? read(name, "cgroup.events").find("frozen 1") != std::string::npos
                                : read_text(hierarchies().freezer + path(name) + "/freezer.state") == "FROZEN\n";
    }));
}

std::vector<pid_t> TestCgroups::processes(const std::string& name) const {
    std::istringstream words(read(name, "cgroup.procs"));
    std::vector<pid_t> pids;
    for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
    return pids;
}

}  // namespace evictd::kernel_test
