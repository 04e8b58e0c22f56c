// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Nothing that is in use goes, whatever became of it since it was chosen.
#include "reconcile/garbage_keeper.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cgroup_remains.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_container_runtime.hpp"
#include "fakes/fake_pod_remains.hpp"
#include "reconcile/control_loop.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

static_assert(Reconciler<GarbageKeeper>);

const Error unreachable{ErrorKind::unreachable, "container runtime", "no answer", ""};

class GarbageKeeperTest : public testing::Test {
protected:
    GarbageKeeperTest() { start(false); }
    void start(bool dry_run) {
        GarbageParts parts;
        parts.look = [this] {
            auto runtime_now = std::make_shared<Runtime>();
            runtime_now->at = clock.monotonic();
            runtime_now->sandbox_image = runtime.sandbox_image_name;
            runtime_now->whole = whole;
            looks++;
            return runtime_now;
        };
        parts.available = [this] { return available; };
        parts.tell_inventory = [this](RuntimePtr one) {
            if (takes) inventories.push_back(std::move(one));
            return takes;
        };
        parts.tell = [this](const ReclaimOutcome& outcome) {
            if (takes) told.push_back(outcome);
            return takes;
        };
        parts.patience = patience;
        parts.on_removal = [this](const Garbage& /*one*/, const GarbageOutcome& /*outcome*/) { removals++; };
        parts.dry_run = dry_run;
        if (sees_processes) parts.remains = &remains;
        if (removes_cgroups) parts.cgroups = &cgroups;
        if (has_api_server) {
            parts.is_gone = [this](const PodUid& pod, const std::string& name) {
                asked.push_back(pod.value + " " + name);
                return gone;
            };
        }
        keeper = std::make_unique<GarbageKeeper>(runtime, logs, clock, std::move(parts));
    }
    static Garbage garbage(GarbageKind kind, const std::string& id, Bytes size = {}) {
        return {kind, id, "name of " + id, {"uid-1"}, size, "unused"};
    }
    DesiredGarbage pass(std::vector<Garbage> list, std::uint64_t number = 1) {
        DesiredGarbage desired;
        desired.pass = number;
        desired.removals = GarbageList(std::move(list));
        desired.deadline = clock.monotonic() + 30s;
        return desired;
    }
    // Until nothing is due. 1 s for each measurement.
    void run() {
        for (int i = 0; i < 100 && keeper->due(); i++) {
            if (*keeper->due() > clock.monotonic()) clock.advance(1s);
            keeper->act_on_time();
        }
    }
    // What became of the only removal.
    GarbageStatus status_of(Garbage one) {
        told.clear();
        keeper->reconcile(pass({std::move(one)}, ++passes));
        run();
        EXPECT_THAT(told, SizeIs(1));
        return told.at(0).removals.at(0).status;
    }
    RuntimeContainer& add_container(const std::string& id, ContainerState state, const std::string& image = "img") {
        auto& one = runtime.all_containers.emplace_back();
        one.id = id;
        one.name = id;
        one.state = state;
        one.image = image;
        return one;
    }
    void add_image(const std::string& id, const std::string& tag) {
        auto& one = runtime.all_images.emplace_back();
        one.id = id;
        one.tags = {tag};
    }

    fakes::FakeContainerRuntime runtime;
    fakes::FakePodLogs logs;
    fakes::FakePodRemains remains;
    bool sees_processes = true;
    fakes::FakeCgroupRemains cgroups;
    bool removes_cgroups = true;
    fakes::FakeClock clock;
    std::optional<Bytes> available = 10_GiB;
    std::vector<ReclaimOutcome> told;
    std::vector<RuntimePtr> inventories;
    std::optional<Duration> patience;
    bool takes = true;
    RuntimeLists whole;
    bool has_api_server = true;
    Result<bool> gone = true;
    std::vector<std::string> asked;
    int looks = 0;
    int removals = 0;
    std::uint64_t passes = 0;
    std::unique_ptr<GarbageKeeper> keeper;
};

TEST_F(GarbageKeeperTest, RemovesInOrderAndSaysWhatCameBack) {
    add_container("c1", ContainerState::exited);
    runtime.all_sandboxes.emplace_back().id = "s1";
    add_image("i1", "img");
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1", 1_GiB), garbage(GarbageKind::sandbox, "s1"),
                            garbage(GarbageKind::image, "i1", 2_GiB), garbage(GarbageKind::log_link, "/l")}));
    runtime.before = [this](const std::string& call) {
        if (call == "remove_container" || call == "remove_image") available = *available + 1_GiB;
    };
    run();
    EXPECT_THAT(runtime.changes,
                ElementsAre("remove_container c1", "stop_sandbox s1", "remove_sandbox s1", "remove_image i1"));
    EXPECT_THAT(logs.removed, ElementsAre("/l"));
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].pass, 1U);
    EXPECT_THAT(told[0].removals, SizeIs(4));
    EXPECT_EQ(told[0].freed, 2_GiB) << "less than the sizes, and nothing more comes";
    EXPECT_THAT(told[0].errors, IsEmpty());
    EXPECT_EQ(removals, 4);
}

TEST_F(GarbageKeeperTest, OneIsRemovedAtATime) {
    add_container("c1", ContainerState::exited);
    add_container("c2", ContainerState::exited);
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1"), garbage(GarbageKind::container, "c2")}));
    keeper->act_on_time();
    EXPECT_THAT(runtime.changes, SizeIs(1));
    keeper->reconcile(DesiredGarbage{});
    run();
    EXPECT_THAT(runtime.changes, SizeIs(1)) << "it is desired no more";
    EXPECT_THAT(told, IsEmpty());
}

TEST_F(GarbageKeeperTest, TheSamePassIsCarriedOutOnce) {
    add_container("c1", ContainerState::exited);
    const auto desired = pass({garbage(GarbageKind::container, "c1")});
    keeper->reconcile(desired);
    run();
    add_container("c1", ContainerState::exited);
    keeper->reconcile(desired);
    run();
    EXPECT_THAT(runtime.changes, SizeIs(1));
    EXPECT_THAT(told, SizeIs(1));
}

TEST_F(GarbageKeeperTest, AContainerThatRunsAgainStays) {
    for (const auto state : {ContainerState::running, ContainerState::unknown}) {
        runtime.all_containers.clear();
        add_container("c1", state);
        EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::in_use);
    }
    EXPECT_THAT(runtime.changes, IsEmpty());
}

TEST_F(GarbageKeeperTest, AContainerThatWasNeverStartedStaysHoweverOldItIs) {
    add_container("c1", ContainerState::created).created = clock.wall();
    for (const auto later : {0min, 11min, 100000min}) {
        clock.advance(later);
        EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::in_use);
    }
    EXPECT_THAT(runtime.changes, IsEmpty());
}

TEST_F(GarbageKeeperTest, ASandboxThatIsReadyOrHoldsAContainerStays) {
    auto& sandbox = runtime.all_sandboxes.emplace_back();
    sandbox.id = "s1";
    sandbox.ready = true;
    EXPECT_EQ(status_of(garbage(GarbageKind::sandbox, "s1")), GarbageStatus::in_use);
    runtime.all_sandboxes[0].ready = false;
    add_container("c1", ContainerState::exited).sandbox = "s1";
    EXPECT_EQ(status_of(garbage(GarbageKind::sandbox, "s1")), GarbageStatus::in_use);
    runtime.all_containers.clear();
    EXPECT_EQ(status_of(garbage(GarbageKind::sandbox, "s1")), GarbageStatus::removed);
}

TEST_F(GarbageKeeperTest, AnImageThatIsUsedAgainStays) {
    add_image("i1", "img");
    add_container("c1", ContainerState::created, "img");
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::in_use);
    runtime.all_containers[0].image = "moved-to-nowhere";
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::in_use) << "it may be this one";
    runtime.all_containers.clear();
    runtime.all_images[0].pinned = true;
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::in_use);
    EXPECT_THAT(runtime.changes, IsEmpty());
    runtime.all_images[0].pinned = false;
    add_container("c2", ContainerState::running, "other");
    add_image("i2", "other");
    runtime.image_volumes["c2"] = {"img"};
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::in_use) << "it is mounted";
    runtime.image_volumes.clear();
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::removed);
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::vanished);
}

TEST_F(GarbageKeeperTest, AnImageThatIsNamedByItsIdIsUsedAlthoughItIsNotListed) {
    const std::string id(64, 'a');
    add_container("c1", ContainerState::exited, "img").image_ref = "sha256:" + id;
    EXPECT_EQ(status_of(garbage(GarbageKind::image, id)), GarbageStatus::in_use);
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "sha256:" + id)), GarbageStatus::in_use);
    EXPECT_THAT(runtime.changes, IsEmpty());
}

TEST_F(GarbageKeeperTest, TheImageOfSandboxesStaysAsItIsNamedNowAndAsItWas) {
    const auto status = [&](const std::string& name) {
        runtime.sandbox_image_name = name;
        return status_of(garbage(GarbageKind::image, "i1"));
    };
    add_image("i1", "docker.io/library/pause:latest");
    runtime.all_images[0].digests = {"docker.io/library/pause@sha256:" + std::string(64, 'd')};
    for (const auto& name : {std::string("pause"), std::string("library/pause:latest"), std::string("i1"),
                             "pause@sha256:" + std::string(64, 'd')}) {
        EXPECT_EQ(status(name), GarbageStatus::in_use) << name;
    }
    runtime.sandbox_image_name = "pause";
    DesiredGarbage desired;
    desired.inventory_since = clock.monotonic();
    keeper->reconcile(desired);
    EXPECT_EQ(status("other"), GarbageStatus::in_use) << "sandboxes were made of it when it was chosen";
    start(false);
    runtime.fails.emplace("sandbox_image", Error{ErrorKind::invalid, "Status", "cannot be read", ""});
    EXPECT_EQ(status("other"), GarbageStatus::failed);
    EXPECT_THAT(runtime.changes, IsEmpty());
    runtime.fails.clear();
    EXPECT_EQ(status("other"), GarbageStatus::removed);
}

TEST_F(GarbageKeeperTest, LogsOfAPodThatIsBackStay) {
    EXPECT_EQ(status_of(garbage(GarbageKind::log_directory, "default_web_uid-1")), GarbageStatus::removed);
    runtime.all_sandboxes.emplace_back().pod = "uid-1";
    EXPECT_EQ(status_of(garbage(GarbageKind::log_directory, "default_web_uid-1")), GarbageStatus::in_use);
    EXPECT_THAT(logs.removed, SizeIs(1));
}

TEST_F(GarbageKeeperTest, WhatTheRuntimeDoesNotAnswerIsNotTouched) {
    add_container("c1", ContainerState::exited);
    add_image("i1", "other");
    runtime.all_sandboxes.emplace_back().id = "s1";
    runtime.fails.emplace("container", unreachable);
    runtime.fails.emplace("containers", unreachable);
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::failed);
    EXPECT_THAT(told[0].errors, SizeIs(1));
    EXPECT_EQ(status_of(garbage(GarbageKind::image, "i1")), GarbageStatus::failed);
    EXPECT_EQ(status_of(garbage(GarbageKind::sandbox, "s1")), GarbageStatus::failed);
    EXPECT_EQ(status_of(garbage(GarbageKind::log_directory, "default_web_uid-1")), GarbageStatus::failed);
    EXPECT_THAT(runtime.changes, IsEmpty());
    EXPECT_THAT(logs.removed, IsEmpty());
}

TEST_F(GarbageKeeperTest, WhatIsNoLogIsRefusedAndWhatIsGoneIsNoError) {
    logs.fails = Error{ErrorKind::invalid, "x", "is no log", ""};
    EXPECT_EQ(status_of(garbage(GarbageKind::rotated_log, "x")), GarbageStatus::refused);
    logs.fails = Error{ErrorKind::vanished, "x", "is not there", ""};
    EXPECT_EQ(status_of(garbage(GarbageKind::rotated_log, "x")), GarbageStatus::vanished);
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "nowhere")), GarbageStatus::vanished);
}

TEST_F(GarbageKeeperTest, ARuntimeThatSaysNoHasRefused) {
    add_container("c1", ContainerState::exited);
    const auto with = [&](ErrorKind kind) {
        runtime.fails = {{"remove_container", Error{kind, "RemoveContainer", "why", ""}}};
        return status_of(garbage(GarbageKind::container, "c1"));
    };
    EXPECT_EQ(with(ErrorKind::failed), GarbageStatus::refused);
    EXPECT_THAT(told[0].errors, ElementsAre("name of c1: RemoveContainer: why"));
    EXPECT_EQ(with(ErrorKind::invalid), GarbageStatus::failed) << "what was answered is not known";
    EXPECT_EQ(with(ErrorKind::unreachable), GarbageStatus::failed);
    EXPECT_EQ(with(ErrorKind::vanished), GarbageStatus::vanished);
    logs.fails = Error{ErrorKind::failed, "x", "no space left", ""};
    EXPECT_EQ(status_of(garbage(GarbageKind::rotated_log, "x")), GarbageStatus::failed);
}

TEST_F(GarbageKeeperTest, WhatIsNotAnsweredIsTriedOnceMoreAfterAllOthers) {
    for (const auto* id : {"c1", "c2", "c3"}) add_container(id, ContainerState::exited);
    int calls = 0;
    runtime.before = [&](const std::string& call) {
        if (call != "remove_container") return;
        runtime.fails.clear();
        if (++calls == 1) runtime.fails.emplace("remove_container", unreachable);
    };
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1"), garbage(GarbageKind::container, "c2"),
                            garbage(GarbageKind::container, "c3")}));
    run();
    EXPECT_THAT(runtime.changes, ElementsAre("remove_container c2", "remove_container c3", "remove_container c1"));
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_THAT(told[0].errors, IsEmpty());
    EXPECT_EQ(removals, 3) << "each once";
}

TEST_F(GarbageKeeperTest, WhatWentWithoutAnAnswerWasRemoved) {
    add_container("c1", ContainerState::exited);
    runtime.before = [&](const std::string& call) {
        if (call != "remove_container") return;
        runtime.all_containers.clear();
        runtime.fails.emplace("remove_container", unreachable);
    };
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::removed);
}

TEST_F(GarbageKeeperTest, WhatIsNeverAnsweredFailsAfterTheSecondTimeOrAtTheDeadline) {
    add_container("c1", ContainerState::exited);
    runtime.fails.emplace("remove_container", unreachable);
    int calls = 0;
    runtime.before = [&](const std::string& call) { calls += call == "remove_container" ? 1 : 0; };
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::failed);
    EXPECT_EQ(calls, 2);
    runtime.before = [&](const std::string& call) {
        if (call == "remove_container") clock.advance(31s);
    };
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::failed);
    EXPECT_THAT(told[0].errors, SizeIs(1));
}

TEST_F(GarbageKeeperTest, NothingIsBegunAfterTheDeadline) {
    add_container("c1", ContainerState::exited);
    add_container("c2", ContainerState::exited);
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1"), garbage(GarbageKind::container, "c2")}));
    keeper->act_on_time();
    clock.advance(31s);
    run();
    EXPECT_THAT(runtime.changes, SizeIs(1));
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_THAT(told[0].removals, SizeIs(1));
}

TEST_F(GarbageKeeperTest, ADryRunAsksAndTouchesNothing) {
    start(true);
    add_container("c1", ContainerState::exited);
    add_container("c2", ContainerState::running);
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c1")), GarbageStatus::dry_run);
    EXPECT_EQ(status_of(garbage(GarbageKind::container, "c2")), GarbageStatus::in_use);
    EXPECT_THAT(runtime.changes, IsEmpty());
}

TEST_F(GarbageKeeperTest, AnOrphanGoesOnlyOnceTheApiServerSaysThatItsPodIsGone) {
    auto orphan = garbage(GarbageKind::log_directory, "shop_web_uid-1");
    orphan.orphan_of = "shop/web";
    gone = tl::unexpected(unreachable);
    EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
    gone = false;
    EXPECT_EQ(status_of(orphan), GarbageStatus::in_use);
    has_api_server = false;
    start(false);
    EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
    EXPECT_THAT(logs.removed, IsEmpty());
    EXPECT_THAT(told.at(0).orphans, IsEmpty());
    has_api_server = true;
    gone = true;
    start(false);
    EXPECT_EQ(status_of(orphan), GarbageStatus::removed);
    EXPECT_THAT(logs.removed, ElementsAre("shop_web_uid-1"));
    EXPECT_THAT(told.at(0).orphans, SizeIs(1));
    EXPECT_FALSE(told.at(0).forced);
    EXPECT_THAT(asked, ElementsAre("uid-1 shop/web", "uid-1 shop/web", "uid-1 shop/web"));
}

TEST_F(GarbageKeeperTest, AnOrphanThatIsInUseStays) {
    auto orphan = garbage(GarbageKind::log_directory, "shop_web_uid-1");
    orphan.orphan_of = "shop/web";
    add_container("c1", ContainerState::running).pod = "uid-1";
    EXPECT_EQ(status_of(orphan), GarbageStatus::in_use);
    EXPECT_THAT(logs.removed, IsEmpty());
}

TEST_F(GarbageKeeperTest, AnOrphanStaysWhileAProcessOfItLivesOrNobodyCanTell) {
    for (const auto kind : {GarbageKind::log_directory, GarbageKind::volume_directory}) {
        auto orphan = garbage(kind, "uid-1");
        orphan.orphan_of = "shop/web";
        remains.alive = "process 7 is in its cgroup";
        EXPECT_EQ(status_of(orphan), GarbageStatus::in_use);
        remains.alive = tl::unexpected(Error{ErrorKind::not_permitted, "/proc", "no", ""});
        EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
        remains.alive = std::string();
        sees_processes = false;
        start(false);
        EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
        sees_processes = true;
        start(false);
    }
    remains.alive = "process 7 is in its cgroup";
    runtime.all_sandboxes.emplace_back().id = "s1";
    auto sandbox = garbage(GarbageKind::sandbox, "s1");
    sandbox.orphan_of = "shop/web";
    EXPECT_EQ(status_of(sandbox), GarbageStatus::in_use);
    EXPECT_THAT(logs.removed, IsEmpty());
    EXPECT_THAT(remains.removed, IsEmpty());
    EXPECT_THAT(runtime.changes, IsEmpty());
}

TEST_F(GarbageKeeperTest, VolumesOfAnOrphanGoBeforeItsLogs) {
    auto volumes = garbage(GarbageKind::volume_directory, "uid-1");
    auto log = garbage(GarbageKind::log_directory, "shop_web_uid-1");
    volumes.orphan_of = log.orphan_of = "shop/web";
    const auto statuses = [&] {
        told.clear();
        keeper->reconcile(pass({volumes, log}, ++passes));
        run();
        std::map<GarbageKind, GarbageStatus> found;
        for (const auto& one : told.at(0).removals) found[one.kind] = one.status;
        return std::pair(found[GarbageKind::volume_directory], found[GarbageKind::log_directory]);
    };
    using enum GarbageStatus;
    remains.fails = Error{ErrorKind::exhausted, "uid-1", "is too large to go at once", ""};
    EXPECT_EQ(statuses(), std::pair(failed, in_use)) << "the next pass has to find it";
    EXPECT_TRUE(told.at(0).removals.at(0).goes_on);
    remains.fails = Error{ErrorKind::failed, "uid-1", "Read-only file system", ""};
    EXPECT_EQ(statuses(), std::pair(failed, in_use));
    EXPECT_FALSE(told.at(0).removals.at(0).goes_on);
    remains.fails = Error{ErrorKind::invalid, "uid-1", "is not the kubelet's", ""};
    EXPECT_EQ(statuses(), std::pair(refused, removed)) << "it is not tried again";
    remains.fails = Error{ErrorKind::vanished, "uid-1", "is not there", ""};
    EXPECT_EQ(statuses(), std::pair(vanished, removed));
    remains.fails.reset();
    EXPECT_EQ(statuses(), std::pair(removed, removed));
    EXPECT_THAT(remains.removed, ElementsAre("uid-1"));
    EXPECT_THAT(told.at(0).orphans, SizeIs(2));
    add_container("c1", ContainerState::exited).pod = "uid-1";
    EXPECT_EQ(statuses(), std::pair(in_use, in_use)) << "its containers may have it mounted";
}

TEST_F(GarbageKeeperTest, VolumesAndCgroupsAreOnlyAnOrphans) {
    EXPECT_EQ(status_of(garbage(GarbageKind::volume_directory, "uid-1")), GarbageStatus::failed);
    EXPECT_EQ(status_of(garbage(GarbageKind::cgroup, "/kubepods/poduid-1")), GarbageStatus::failed);
    EXPECT_THAT(remains.removed, IsEmpty());
    EXPECT_THAT(cgroups.removed, IsEmpty());
}

TEST_F(GarbageKeeperTest, ACgroupStaysWhileItIsSomebodysOrNobodyCanTell) {
    auto orphan = garbage(GarbageKind::cgroup, "/kubepods/poduid-1");
    orphan.orphan_of = "shop/web";
    gone = tl::unexpected(unreachable);
    EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
    gone = true;
    remains.alive = "process 7 is in its cgroup";
    EXPECT_EQ(status_of(orphan), GarbageStatus::in_use);
    remains.alive = std::string();
    cgroups.alive = "a process is in it";
    EXPECT_EQ(status_of(orphan), GarbageStatus::in_use);
    cgroups.alive = tl::unexpected(Error{ErrorKind::failed, "/kubepods/poduid-1", "no descriptor", ""});
    EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
    cgroups.alive = tl::unexpected(Error{ErrorKind::invalid, "/kubepods/poduid-1", "is no cgroup of that pod", ""});
    EXPECT_EQ(status_of(orphan), GarbageStatus::refused);
    cgroups.alive = tl::unexpected(Error{ErrorKind::vanished, "/kubepods/poduid-1", "is not there", ""});
    EXPECT_EQ(status_of(orphan), GarbageStatus::vanished);
    cgroups.alive = std::string();
    auto& sandbox = runtime.all_sandboxes.emplace_back();
    sandbox.pod = "uid-1";
    EXPECT_EQ(status_of(orphan), GarbageStatus::in_use) << "its sandbox may be started";
    runtime.all_sandboxes.clear();
    removes_cgroups = false;
    start(false);
    EXPECT_EQ(status_of(orphan), GarbageStatus::failed);
    removes_cgroups = true;
    start(true);
    EXPECT_EQ(status_of(orphan), GarbageStatus::dry_run);
    EXPECT_THAT(cgroups.removed, IsEmpty());
    start(false);
    EXPECT_EQ(status_of(orphan), GarbageStatus::removed);
    EXPECT_THAT(cgroups.removed, ElementsAre("uid-1 /kubepods/poduid-1"));
}

TEST_F(GarbageKeeperTest, TheCgroupOfAnOrphanGoesAfterItsVolumesAndBeforeItsLogs) {
    auto volumes = garbage(GarbageKind::volume_directory, "uid-1");
    auto cgroup = garbage(GarbageKind::cgroup, "/kubepods/poduid-1");
    auto log = garbage(GarbageKind::log_directory, "shop_web_uid-1");
    volumes.orphan_of = cgroup.orphan_of = log.orphan_of = "shop/web";
    const auto statuses = [&] {
        told.clear();
        keeper->reconcile(pass({volumes, cgroup, log}, ++passes));
        run();
        std::vector<GarbageStatus> found;
        for (const auto& one : told.at(0).removals) found.push_back(one.status);
        return found;
    };
    using enum GarbageStatus;
    remains.fails = Error{ErrorKind::failed, "uid-1", "is read-only", ""};
    EXPECT_THAT(statuses(), ElementsAre(failed, in_use, in_use));
    remains.fails = Error{ErrorKind::invalid, "uid-1", "something of it is mounted", ""};
    EXPECT_THAT(statuses(), ElementsAre(refused, in_use, removed))
        << "what is in memory of it is charged to the cgroup";
    remains.fails.reset();
    cgroups.fails = Error{ErrorKind::failed, "/kubepods/poduid-1", "Device or resource busy", ""};
    EXPECT_THAT(statuses(), ElementsAre(removed, failed, in_use)) << "the next pass has to find it";
    cgroups.alive = "a process is in it";
    EXPECT_THAT(statuses(), ElementsAre(removed, in_use, in_use));
    cgroups.alive = std::string();
    cgroups.fails = Error{ErrorKind::invalid, "/kubepods/poduid-1", "Read-only file system", ""};
    EXPECT_THAT(statuses(), ElementsAre(removed, refused, removed)) << "it is not tried again";
    EXPECT_THAT(cgroups.removed, IsEmpty());
    cgroups.fails.reset();
    EXPECT_THAT(statuses(), ElementsAre(removed, removed, removed));
    EXPECT_THAT(cgroups.removed, SizeIs(1));
    EXPECT_THAT(told.at(0).orphans, SizeIs(3));
}

TEST_F(GarbageKeeperTest, VolumesAreReportedOnlyWhereTheyAre) {
    auto volumes = garbage(GarbageKind::volume_directory, "uid-1");
    volumes.orphan_of = "shop/web";
    start(true);
    EXPECT_EQ(status_of(volumes), GarbageStatus::dry_run);
    remains.fails = Error{ErrorKind::vanished, "uid-1", "is not there", ""};
    EXPECT_EQ(status_of(volumes), GarbageStatus::vanished);
    remains.fails = Error{ErrorKind::invalid, "uid-1", "something of it is mounted", ""};
    EXPECT_EQ(status_of(volumes), GarbageStatus::refused);
    EXPECT_THAT(remains.removed, IsEmpty());
}

TEST_F(GarbageKeeperTest, WhatIsOnlyReportedIsAskedForAndNotTouched) {
    auto orphan = garbage(GarbageKind::log_directory, "shop_web_uid-1");
    orphan.orphan_of = "shop/web";
    auto desired = pass({orphan});
    desired.report_only = true;
    keeper->reconcile(desired);
    run();
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].removals.at(0).status, GarbageStatus::dry_run);
    EXPECT_THAT(told[0].orphans, SizeIs(1));
    EXPECT_THAT(asked, SizeIs(1));
    EXPECT_THAT(logs.removed, IsEmpty());
}

TEST_F(GarbageKeeperTest, AnInventoryIsMadeWhereAnOlderOneWillNotDo) {
    DesiredGarbage desired;
    desired.inventory_since = clock.monotonic();
    keeper->reconcile(desired);
    keeper->reconcile(desired);
    EXPECT_EQ(looks, 1);
    EXPECT_THAT(inventories, SizeIs(1));
    clock.advance(1s);
    desired.inventory_since = clock.monotonic();
    keeper->reconcile(desired);
    EXPECT_EQ(looks, 2);
}

TEST_F(GarbageKeeperTest, WhatWasNotListedIsOnceTheRuntimeHasCome) {
    keeper->list_what_lacks();
    EXPECT_EQ(looks, 1) << "nothing was listed yet";
    for (int i = 0; i < 100; i++) keeper->list_what_lacks();
    EXPECT_EQ(looks, 1) << "a moment ago";
    run();
    EXPECT_EQ(looks, 2) << "it lacked all";
    EXPECT_THAT(inventories, SizeIs(2));
    whole = {.images = true, .sandboxes = true, .containers = true};
    clock.advance(1s);
    keeper->list_what_lacks();
    clock.advance(1s);
    keeper->list_what_lacks();
    EXPECT_EQ(looks, 3) << "then it was there";
}

TEST_F(GarbageKeeperTest, APassGoesOnWhileTheRestIsListed) {
    add_container("c1", ContainerState::exited);
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1")}));
    keeper->list_what_lacks();
    run();
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].removals.at(0).status, GarbageStatus::removed);
}

TEST_F(GarbageKeeperTest, WhatCannotBeMeasuredIsNotClaimed) {
    add_container("c1", ContainerState::exited);
    available.reset();
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1", 1_GiB)}));
    run();
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_FALSE(told[0].freed);
}

TEST_F(GarbageKeeperTest, WhereASizeIsNotKnownItIsWaitedUntilTheDeadline) {
    add_container("c1", ContainerState::exited);
    auto one = garbage(GarbageKind::container, "c1");
    one.size.reset();
    keeper->reconcile(pass({one}));
    const auto begin = clock.monotonic();
    run();
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(clock.monotonic() - begin, 30s);
    EXPECT_EQ(told[0].freed, Bytes{});
}

TEST_F(GarbageKeeperTest, ALinkIsKnownToHoldNothing) {
    auto link = garbage(GarbageKind::log_link, "/l");
    link.size.reset();
    keeper->reconcile(pass({link}));
    const auto begin = clock.monotonic();
    run();
    EXPECT_THAT(told, SizeIs(1));
    EXPECT_EQ(clock.monotonic(), begin);
}

TEST_F(GarbageKeeperTest, TheSizesOfWhatStayedAreNotWaitedFor) {
    add_container("c1", ContainerState::exited);
    add_container("c2", ContainerState::running);
    keeper->reconcile(
        pass({garbage(GarbageKind::container, "c1", 1_GiB), garbage(GarbageKind::container, "c2", 9_GiB)}));
    runtime.before = [this](const std::string& call) {
        if (call == "remove_container") available = *available + 1_GiB;
    };
    const auto begin = clock.monotonic();
    run();
    EXPECT_EQ(clock.monotonic(), begin);
    EXPECT_EQ(told.at(0).freed, 1_GiB);
}

TEST_F(GarbageKeeperTest, APatienceEndsTheWaitWhereNothingMoreComes) {
    patience = 2s;
    start(false);
    add_container("c1", ContainerState::exited);
    keeper->reconcile(pass({garbage(GarbageKind::container, "c1", 1_GiB)}));
    const auto begin = clock.monotonic();
    run();
    EXPECT_EQ(clock.monotonic() - begin, 2s);
}

TEST_F(GarbageKeeperTest, WhatWasNotTakenIsToldAgain) {
    takes = false;
    DesiredGarbage desired = pass({});
    desired.inventory_since = clock.monotonic();
    keeper->reconcile(desired);
    EXPECT_EQ(looks, 1);
    ASSERT_TRUE(keeper->due());
    clock.advance(1s);
    keeper->act_on_time();
    EXPECT_THAT(told, IsEmpty());
    takes = true;
    clock.advance(1s);
    keeper->act_on_time();
    EXPECT_THAT(told, SizeIs(1));
    EXPECT_THAT(inventories, SizeIs(1));
    EXPECT_FALSE(keeper->due());
}

}  // namespace
}  // namespace evictd::reconcile
