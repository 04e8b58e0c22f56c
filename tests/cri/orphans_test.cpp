// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is left of pods that no source knows, on a real containerd: it goes once the API server has said that they are
// gone. What is alive stays, and so does all of which the API server did not say that.
#include "policy/orphans.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carry_out.hpp"
#include "disk/pod_logs.hpp"
#include "disk/pod_remains.hpp"
#include "fakes/scripted_api_server.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/cgroup_remains.hpp"
#include "kernel/hierarchies.hpp"
#include "observe/runtime_inventory.hpp"
#include "reconcile/pod_absence.hpp"
#include "runtime_fixture.hpp"
#include "sys/clock.hpp"

namespace evictd::cri_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> sleeps_for_ever{"sleep", "1000000"};
// Of this run alone: another beside it has processes too.
std::string uid_of(char last) {
    std::string text = std::to_string(::getpid());
    text.insert(0, 11 - text.size(), '0');
    return "0a1b2c3d-0000-4000-8000-" + text + last;
}
const std::string gone = uid_of('a');
const std::string alive = uid_of('b');
const std::string mounted = uid_of('c');

std::string logs_of(const std::string& uid) { return "default_" + uid + "_" + uid; }

std::vector<std::string> mounts_of_cgroups() {
    const auto hierarchies = kernel::find_hierarchies();
    const auto mounts = hierarchies ? kernel::hierarchy_mounts(*hierarchies) : tl::unexpected(hierarchies.error());
    EXPECT_TRUE(mounts);
    return mounts ? *mounts : std::vector<std::string>();
}

class OrphansTest : public RuntimeFixture {
protected:
    OrphansTest() {
        config.orphans = Orphans::remove;
        fs::create_directories(volumes());
    }
    void TearDown() override {
        (void)::umount2((mounted_at() + "/0").c_str(), MNT_DETACH);
        (void)::umount2(cache_of(mounted).c_str(), MNT_DETACH);
        for (const auto& mount : cgroup_mounts) {  // of a test that failed
            const std::string pod = "/kubepods/burstable/pod" + mounted;
            for (const auto& below : {pod + "/container", pod, std::string("/kubepods/burstable"),
                                      std::string("/kubepods"), std::string()}) {
                (void)::rmdir((mount + cgroup_root + below).c_str());
            }
        }
        RuntimeFixture::TearDown();
    }
    [[nodiscard]] std::string mounted_at() const { return pods() + "/" + logs_of(mounted) + "/app"; }
    [[nodiscard]] std::string volumes() const { return directory / "volumes"; }
    [[nodiscard]] std::string cache_of(const std::string& uid) const {
        return volumes() + "/" + uid + "/volumes/kubernetes.io~empty-dir/cache";
    }
    void make_volumes(const std::string& uid) const {
        fs::create_directories(cache_of(uid));
        std::ofstream(cache_of(uid) + "/data") << "text";
        fs::create_directory_symlink("/", cache_of(uid) + "/root");
        fs::create_directories(volumes() + "/" + uid + "/volumes/kubernetes.io~projected/token");
        std::ofstream(volumes() + "/" + uid + "/etc-hosts") << "text";
    }
    [[nodiscard]] static GarbageStatus status_of(const ReclaimOutcome& done, GarbageKind kind) {
        const auto found =
            std::find_if(done.removals.begin(), done.removals.end(), [&](const auto& one) { return one.kind == kind; });
        EXPECT_NE(found, done.removals.end());
        return found != done.removals.end() ? found->status : GarbageStatus::failed;
    }
    [[nodiscard]] std::string pods() const { return directory / "pods"; }
    std::string make_dead(const std::string& name) {
        auto pod = make_pod(name);
        const auto container = make_container(pod, name, sleeps_for_ever);
        start(container);
        EXPECT_TRUE(runtime->stop_container(container, {}));
        EXPECT_TRUE(wait_for([&] { return details_of(container).container.state == ContainerState::exited; }));
        EXPECT_TRUE(runtime->stop_sandbox(pod));
        return pod;
    }
    // A log, a link to the root of all, a name with a newline and a deep tree.
    void make_logs(const std::string& uid) const {
        auto at = fs::path(pods()) / logs_of(uid) / "app";
        fs::create_directories(at);
        std::ofstream(at / "0.log") << "text";
        fs::create_directory_symlink("/", at / "root");
        std::ofstream(at / "a\nb") << "text";
        for (int i = 0; i < 40; ++i) fs::create_directory(at /= "deep");
    }
    // What goes after the quarantine, as a look has it.
    std::vector<Garbage> plan() {
        Observation observation;
        observation.pods_complete = true;
        observation.at = clock.monotonic();
        observation.wall = clock.wall();
        observation.runtime = inventory.look().runtime;
        observation.left_cgroups = left_cgroups;
        policy::follow_orphans(config, observation, false, collecting);
        EXPECT_TRUE(policy::plan_orphans(config, observation, collecting).empty()) << "before the quarantine";
        observation.at += config.orphan_quarantine;
        return policy::plan_orphans(config, observation, collecting);
    }
    ReclaimOutcome remove(const std::vector<Garbage>& orphans) {
        return carry_out(
            orphans, *runtime, logs, clock, 1,
            [this](const PodUid& pod, const std::string& name) { return absence.is_gone(pod, name); }, &remains,
            &cgroups);
    }
    void answer(const std::vector<Garbage>& orphans, long status) {
        server->ready.clear();
        for (const auto& one : orphans) {
            const auto body =
                R"({"kind":"Status","reason":"NotFound","message":"no","details":{"kind":"pods","name":")" +
                one.pod.value + R"("}})";
            server->ready.emplace_back(port::ApiReply{.status = status, .body = body, .retry_after = {}});
        }
    }
    [[nodiscard]] bool has_sandbox(const std::string& id) {
        const auto all = runtime->sandboxes();
        EXPECT_TRUE(all);
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) { return one.id == id; });
    }

    fakes::TempDir directory;
    sys::SystemClock clock;
    disk::PodLogs logs{{directory / "pods", directory / "containers"}};
    disk::PodRemains remains{{.pods = volumes()}};
    const std::string cgroup_root = "/evictd-test-" + std::to_string(::getpid()) + "-orphans";
    std::vector<std::string> cgroup_mounts = mounts_of_cgroups();
    kernel::CgroupRemains cgroups{cgroup_mounts, {cgroup_root + "/kubepods"}};
    observe::RuntimeInventory inventory{*runtime, logs, clock};
    GarbageConfig config;
    Collecting collecting;
    std::vector<LeftCgroup> left_cgroups;
    std::shared_ptr<fakes::ScriptedApiServer> server = std::make_shared<fakes::ScriptedApiServer>();
    reconcile::PodAbsence absence{server};
};

TEST_F(OrphansTest, GoOnceTheApiServerSaysSoAndWhatIsAliveStays) {
    const auto dead = make_dead(gone);
    const auto ready = make_pod(alive);
    for (const auto& uid : {gone, alive}) {
        make_logs(uid);
        make_volumes(uid);
    }
    const auto orphans = plan();
    ASSERT_EQ(orphans.size(), 4U) << "container, sandbox, volumes and logs of the one that is gone";
    for (const auto& one : orphans) EXPECT_EQ(one.orphan_of, "default/" + gone);

    answer(orphans, 503);
    for (const auto& one : remove(orphans).removals) {
        const bool waits = one.kind == GarbageKind::log_directory;  // for the volumes
        EXPECT_EQ(one.status, waits ? GarbageStatus::in_use : GarbageStatus::failed) << one.error;
    }
    EXPECT_TRUE(has_sandbox(dead));
    EXPECT_TRUE(fs::exists(pods() + "/" + logs_of(gone) + "/app/0.log"));
    EXPECT_TRUE(fs::exists(cache_of(gone) + "/data"));

    answer(orphans, 404);
    const auto done = remove(orphans);
    for (const auto& one : done.removals) EXPECT_EQ(one.status, GarbageStatus::removed) << one.error;
    EXPECT_EQ(done.orphans.size(), 4U);
    EXPECT_FALSE(has_sandbox(dead));
    EXPECT_FALSE(fs::exists(pods() + "/" + logs_of(gone)));
    EXPECT_FALSE(fs::exists(volumes() + "/" + gone));
    EXPECT_TRUE(fs::exists(cache_of(alive) + "/data"));
    EXPECT_TRUE(has_sandbox(ready));
    EXPECT_TRUE(fs::exists(pods() + "/" + logs_of(alive) + "/app/0.log"));
    EXPECT_TRUE(fs::exists("/bin"));
}

TEST_F(OrphansTest, APodThatCameBackMeanwhileKeepsItsLogs) {
    make_logs(gone);
    make_volumes(gone);
    const auto orphans = plan();
    ASSERT_EQ(orphans.size(), 2U);
    (void)make_pod(gone);
    answer(orphans, 404);
    for (const auto& one : remove(orphans).removals) EXPECT_EQ(one.status, GarbageStatus::in_use);
    EXPECT_TRUE(fs::exists(cache_of(gone) + "/data"));
    EXPECT_TRUE(fs::exists(pods() + "/" + logs_of(gone) + "/app/0.log"));
}

TEST_F(OrphansTest, WhatIsMountedInALogDirectoryIsNotTouched) {
    make_logs(mounted);
    fs::create_directory(mounted_at() + "/0");
    ASSERT_EQ(::mount("orphan", (mounted_at() + "/0").c_str(), "tmpfs", 0, "size=1m"), 0);
    std::ofstream(mounted_at() + "/0/kept") << "text";
    const auto orphans = plan();
    ASSERT_EQ(orphans.size(), 2U);
    answer(orphans, 404);
    EXPECT_EQ(status_of(remove(orphans), GarbageKind::log_directory), GarbageStatus::refused);
    EXPECT_TRUE(fs::exists(mounted_at() + "/0/kept"));
}

TEST_F(OrphansTest, VolumesOfWhichOneIsMountedStayAndTheLogsWaitUntilItIsUnmounted) {
    make_logs(mounted);
    make_volumes(mounted);
    ASSERT_EQ(::mount("orphan", cache_of(mounted).c_str(), "tmpfs", 0, "size=1m"), 0);
    std::ofstream(cache_of(mounted) + "/kept") << "text";
    const auto orphans = plan();
    answer(orphans, 404);
    const auto done = remove(orphans);
    EXPECT_EQ(status_of(done, GarbageKind::volume_directory), GarbageStatus::failed);
    EXPECT_EQ(status_of(done, GarbageKind::log_directory), GarbageStatus::in_use);
    EXPECT_TRUE(fs::exists(cache_of(mounted) + "/kept"));
    EXPECT_TRUE(fs::exists(volumes() + "/" + mounted + "/etc-hosts"));
    EXPECT_EQ(::umount2(cache_of(mounted).c_str(), MNT_DETACH), 0);
    answer(orphans, 404);
    for (const auto& one : remove(orphans).removals) EXPECT_EQ(one.status, GarbageStatus::removed) << one.error;
    EXPECT_FALSE(fs::exists(volumes() + "/" + mounted));
}

TEST_F(OrphansTest, ItsEmptyCgroupGoesAfterItsVolumesAndStaysWhileSomethingIsMountedOrAlive) {
    const std::string path = cgroup_root + "/kubepods/burstable/pod" + mounted;
    for (const auto& mount : cgroup_mounts) fs::create_directories(mount + path + "/container");
    const auto is_there = [&] {
        return std::any_of(cgroup_mounts.begin(), cgroup_mounts.end(),
                           [&](const auto& mount) { return fs::exists(mount + path); });
    };
    left_cgroups = {{PodUid{mounted}, path}};
    make_logs(mounted);
    make_volumes(mounted);
    const auto orphans = plan();
    ASSERT_EQ(orphans.size(), 3U);

    answer(orphans, 403);
    EXPECT_EQ(status_of(remove(orphans), GarbageKind::cgroup), GarbageStatus::in_use);
    const auto sandbox = make_pod(mounted);
    answer(orphans, 404);
    EXPECT_EQ(status_of(remove(orphans), GarbageKind::cgroup), GarbageStatus::in_use);
    EXPECT_TRUE(runtime->stop_sandbox(sandbox));
    EXPECT_TRUE(runtime->remove_sandbox(sandbox));
    ASSERT_EQ(::mount("orphan", cache_of(mounted).c_str(), "tmpfs", 0, "size=1m"), 0);
    answer(orphans, 404);
    EXPECT_EQ(status_of(remove(orphans), GarbageKind::cgroup), GarbageStatus::in_use) << "it may hold tmpfs's pages";
    EXPECT_EQ(::umount2(cache_of(mounted).c_str(), MNT_DETACH), 0);
    EXPECT_TRUE(is_there());

    answer(orphans, 404);
    for (const auto& one : remove(orphans).removals) EXPECT_EQ(one.status, GarbageStatus::removed) << one.error;
    EXPECT_FALSE(is_there());
    for (const auto& mount : cgroup_mounts) {
        for (const char* below : {"/kubepods/burstable", "/kubepods", ""}) {
            EXPECT_EQ(::rmdir((mount + cgroup_root + below).c_str()), 0) << mount;
        }
    }
}

// The runtime does not know of every process: a shim that was killed leaves its container's.
TEST_F(OrphansTest, APodWithAProcessInItsCgroupIsAlive) {
    make_logs(gone);
    make_volumes(gone);
    const auto orphans = plan();
    const auto cgroup = fs::path("/sys/fs/cgroup") / (fs::exists("/sys/fs/cgroup/cgroup.procs") ? "" : "pids") /
                        ("evictd-test-" + std::to_string(::getpid())) / ("pod" + gone);
    ASSERT_TRUE(fs::create_directories(cgroup));
    const auto child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    std::ofstream(cgroup / "cgroup.procs") << child;
    answer(orphans, 404);
    for (const auto& one : remove(orphans).removals) EXPECT_EQ(one.status, GarbageStatus::in_use) << one.error;
    EXPECT_TRUE(fs::exists(cache_of(gone) + "/data"));
    (void)::kill(child, SIGKILL);
    (void)::waitpid(child, nullptr, 0);
    answer(orphans, 404);
    for (const auto& one : remove(orphans).removals) EXPECT_EQ(one.status, GarbageStatus::removed) << one.error;
    EXPECT_TRUE(wait_for([&] { return ::rmdir(cgroup.c_str()) == 0; }));
    EXPECT_EQ(::rmdir(cgroup.parent_path().c_str()), 0);
}

}  // namespace
}  // namespace evictd::cri_test
