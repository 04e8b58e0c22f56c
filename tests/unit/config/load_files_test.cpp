// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files to Configs: what cannot be read, and which of two files says what.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/load.hpp"
#include "unit/config/faults.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Directory : public testing::Test {
protected:
    Directory() {
        std::string pattern = (fs::temp_directory_path() / "evictd-config-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Directory() override { fs::remove_all(path_); }
    fs::path write(const std::string& name, const std::string& text) {
        std::ofstream(path_ / name) << text;
        return path_ / name;
    }
    fs::path path_;
};

using LoadFile = Directory;
using LoadFiles = Directory;

TEST_F(LoadFile, ReportsWhyAFileCannotBeRead) {
    const auto missing = load_file(path_ / "none.yaml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error()[0].text(),
              (path_ / "none.yaml").string() + ": cannot be read: No such file or directory (check the path)");
    const auto directory = load_file(path_);
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error()[0].text(), path_.string() + ": cannot be read: Is a directory (name the file in it)");
}

TEST_F(LoadFile, AForbiddenFileIsNotPermittedRatherThanInvalid) {
    const fs::path file = write("secret.yaml", "");
    ASSERT_EQ(chmod(file.c_str(), 0), 0);
    // Root may read everything, so it looks as nobody for a moment.
    const uid_t self = geteuid();
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(seteuid(self == 0 ? nobody : self), 0);
    const auto config = load_file(file);
    ASSERT_EQ(seteuid(self), 0);
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error()[0].kind, ErrorKind::not_permitted);
    EXPECT_THAT(config.error()[0].text(), HasSubstr("cannot be read: Permission denied"));
}

TEST_F(LoadFile, OnlyPlainFilesAreRead) {
    const fs::path fifo = path_ / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // without a writer: reading it would not end
    for (const fs::path& path : {fifo, fs::path("/dev/zero")}) {
        const auto config = load_file(path);
        ASSERT_FALSE(config);
        EXPECT_EQ(config.error()[0].text(), path.string() + ": not a regular file (name a plain file, or /dev/stdin)");
    }
}

TEST_F(LoadFile, WhatThisProcessHasOpenMayBeAPipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const std::string text = "evictionHard: {memory.available: 1Gi}";
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
    const auto config = load_file("/dev/fd/" + std::to_string(ends[0]));
    close(ends[0]);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->eviction.thresholds.at(0).signal, Signal::memory_available);
}

// A second time it is empty, or a terminal, and an empty configuration is one of defaults.
TEST_F(LoadFiles, WhatCanBeReadOnceIsNotReloaded) {
    for (const char* path : {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
        for (const bool kubelet : {true, false}) {
            const std::optional<fs::path> once(path);
            const auto config = reload_files(kubelet ? once : std::nullopt, kubelet ? std::nullopt : once);
            ASSERT_FALSE(config) << path;
            EXPECT_EQ(config.error()[0].text(), std::string(path) +
                                                    ": cannot be read a second time (start evictd with a configuration "
                                                    "file to reload it)");
        }
    }
    const auto twice = load_files("-", "-");
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error()[0].text(), "-: given twice, and can be read once (name two files)");
    const auto path = write("file.yaml", "evictionHard: {memory.available: 1Gi}");
    EXPECT_TRUE(reload_files(std::nullopt, path));
}

TEST_F(LoadFiles, WithoutFilesTheDefaultsHold) {
    const auto config = load_files(std::nullopt, std::nullopt);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->file, "");
    EXPECT_EQ(config->eviction.thresholds.size(), 6);
}

// What `run --kubelet-config` reads, alone and under an evictd file.
TEST_F(LoadFiles, WholeKubeletConfigurationsAreTaken) {
    for (const char* name : {"kubelet_full.yaml", "kubelet_kubeadm.yaml", "kubelet_evictions.yaml"}) {
        const fs::path kubelet = fs::path(EVICTD_FIXTURES) / "config" / name;
        const auto alone = load_files(kubelet, std::nullopt);
        EXPECT_TRUE(alone) << alone.error()[0].text();
        const auto both = load_files(kubelet, fs::path(EVICTD_FIXTURES) / "config/evictd_full.yaml");
        ASSERT_TRUE(both) << both.error()[0].text();
        EXPECT_TRUE(both->agent.dry_run);
    }
}

TEST_F(LoadFiles, EvictdsFileOverridesTheKubeletsKeyByKey) {
    const fs::path kubelet = write("kubelet.yaml",
                                   "evictionHard: {memory.available: 1Gi, pid.available: 5%}\n"
                                   "evictionSoft: {memory.available: 2Gi}\n"
                                   "evictionSoftGracePeriod: {memory.available: 1m}\n"
                                   "cgroupDriver: systemd\nmaxPods: 7\nenforceNodeAllocatable: []\n"
                                   "evictd: {eventLog: {maxFiles: 2}, dryRun: true}\n");
    const fs::path own = write("evictd.yaml",
                               "evictionHard: {memory.available: 512Mi}\ncgroupDriver: null\n"
                               "evictd: {eventLog: {stdout: false}, dryRun: false}\n");
    const auto config = load_files(kubelet, own);
    ASSERT_TRUE(config) << config.error()[0].text();
    ASSERT_EQ(config->eviction.thresholds.size(), 2);
    EXPECT_EQ(std::get<Quantity>(config->eviction.thresholds[0].value.value), Quantity::of(512 << 20));
    EXPECT_EQ(config->eviction.thresholds[1].grace_period, 1min);
    EXPECT_EQ(config->cgroup_driver, "systemd");
    EXPECT_FALSE(config->agent.dry_run);
    EXPECT_FALSE(config->agent.events_to_stdout);
    EXPECT_EQ(config->agent.event_log_max_files, 2);
    EXPECT_EQ(config->file, kubelet.string() + ", " + own.string());
}

TEST_F(LoadFiles, FaultsOfBothAreReportedWithTheirFile) {
    const fs::path kubelet = write("kubelet.yaml", "evictionSoft: {memory.available: 2Gi}\n");
    const fs::path own = write("evictd.yaml", "maxPods: 1\n");
    EXPECT_THAT(faults_of(load_files(kubelet, own)),
                ElementsAre(StartsWith(kubelet.string() + ":1: evictionSoft.memory.available: grace period must be"),
                            StartsWith(own.string() + ":1: maxPods: unknown key")));
    EXPECT_THAT(
        faults_of(load_files(path_ / "none", own)),
        ElementsAre(StartsWith(own.string() + ":1: "), StartsWith((path_ / "none").string() + ": cannot be read")));
}

}  // namespace
}  // namespace evictd::config
