// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' cgroups found by listing declared trees, for both drivers and every QoS class.
#include "kernel/cgroup_dirs.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fakes/few_descriptors.hpp"
#include "sys/fd.hpp"
#include "unit/kernel/control_files.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* uid_a = "aaaaaaaa-0000-4000-8000-000000000001";
constexpr const char* uid_b = "bbbbbbbb-0000-4000-8000-000000000002";
constexpr const char* uid_c = "cccccccc-0000-4000-8000-000000000003";

std::string slice(const std::string& prefix, std::string uid) {
    for (char& c : uid) c = c == '-' ? '_' : c;
    return prefix + "-pod" + uid + ".slice";
}

std::set<std::string> uids(const Result<std::vector<port::FoundPod>>& pods) {
    std::set<std::string> found;
    if (pods) {
        for (const auto& pod : *pods) found.insert(pod.uid.value);
    }
    return found;
}

const std::set<std::string> all_three{uid_a, uid_b, uid_c};

TEST(CgroupDirs, TheCgroupfsDriversLayoutIsFound) {
    const ControlFiles tree{{std::string("/kubepods/pod") + uid_a, {}},
                            {std::string("/kubepods/burstable/pod") + uid_b + "/0123456789abcdef", {}},
                            {std::string("/kubepods/besteffort/pod") + uid_c, {}}};
    CgroupDirs dirs(tree.v2(), "");
    const auto root = dirs.find_pods_root();
    ASSERT_TRUE(root);
    EXPECT_EQ(root->path, "/kubepods");
    EXPECT_EQ(root->level, 1U);
    EXPECT_EQ(root->id, tree.id("/kubepods"));
    EXPECT_EQ(uids(dirs.list_pods()), all_three);
}

TEST(CgroupDirs, OfTwoRootsTheOneWithRunningPodsIsTaken) {
    const ControlFiles tree{{"/kubepods.slice", {{"cgroup.events", "populated 0\nfrozen 0\n"}}},
                            {"/kubepods", {{"cgroup.events", "populated 1\nfrozen 0\n"}}},
                            {std::string("/kubepods/pod") + uid_a, {}}};
    CgroupDirs dirs(tree.v2(), "");
    const auto root = dirs.find_pods_root();
    ASSERT_TRUE(root);
    EXPECT_EQ(root->path, "/kubepods") << "the other is left from before the kubelet's driver was changed";
    EXPECT_EQ(uids(dirs.list_pods()), std::set<std::string>{uid_a});
    EXPECT_EQ(dirs.trouble(), "");
}

TEST(CgroupDirs, OnV1ProcessesAnywhereBelowTellARunningRoot) {
    const std::string pod = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{"/kubepods.slice", {{"cgroup.procs", ""}}},
                            {"/kubepods", {{"cgroup.procs", ""}}},
                            {pod, {{"cgroup.procs", ""}}},
                            {pod + "/container", {{"cgroup.procs", "7\n"}}}};
    CgroupDirs dirs(tree.v1(), "");
    const auto root = dirs.find_pods_root();
    ASSERT_TRUE(root);
    EXPECT_EQ(root->path, "/kubepods");
}

TEST(CgroupDirs, TwoRootsWithRunningPodsAreReported) {
    const ControlFiles tree{{"/kubepods.slice", {{"cgroup.events", "populated 1\n"}}},
                            {"/kubepods", {{"cgroup.events", "populated 1\n"}}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_EQ(dirs.find_pods_root()->path, "/kubepods.slice");
    EXPECT_EQ(dirs.trouble(),
              "pods run below /kubepods.slice and below /kubepods; only those below /kubepods.slice are watched");
    tree.remove("/kubepods");
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_EQ(dirs.trouble(), "");
}

TEST(CgroupDirs, OfTwoEmptyRootsTheDriversIsTaken) {
    const ControlFiles tree{{"/kubepods.slice", {{"cgroup.events", "populated 0\n"}}},
                            {"/kubepods", {{"cgroup.events", "populated 0\n"}}}};
    EXPECT_EQ(CgroupDirs(tree.v2(), "", "cgroupfs").find_pods_root()->path, "/kubepods");
    EXPECT_EQ(CgroupDirs(tree.v2(), "", "systemd").find_pods_root()->path, "/kubepods.slice");
    EXPECT_EQ(CgroupDirs(tree.v2(), "", "").find_pods_root()->path, "/kubepods.slice");
}

TEST(CgroupDirs, TheSystemdDriversLayoutIsFound) {
    const ControlFiles tree{{"/kubepods.slice/" + slice("kubepods", uid_a) + "/cri-containerd-1.scope", {}},
                            {"/kubepods.slice/kubepods-burstable.slice/" + slice("kubepods-burstable", uid_b), {}},
                            {"/kubepods.slice/kubepods-besteffort.slice/" + slice("kubepods-besteffort", uid_c), {}}};
    CgroupDirs dirs(tree.v1(), "/");
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_EQ(uids(dirs.list_pods()), all_three);
}

TEST(CgroupDirs, NestedUnderKindsKubeletTheRootLiesDeeper) {
    const ControlFiles systemd{{"/kubelet.slice/kubelet-kubepods.slice/" + slice("kubelet-kubepods", uid_a), {}}};
    CgroupDirs first(systemd.v2(), "");
    ASSERT_TRUE(first.find_pods_root());
    EXPECT_EQ(first.find_pods_root()->level, 2U);
    EXPECT_EQ(uids(first.list_pods()), std::set<std::string>{uid_a});

    const ControlFiles cgroupfs{{std::string("/kubelet/kubepods/burstable/pod") + uid_b, {}}};
    CgroupDirs second(cgroupfs.v2(), "");
    ASSERT_TRUE(second.find_pods_root());
    EXPECT_EQ(uids(second.list_pods()), std::set<std::string>{uid_b});
}

TEST(CgroupDirs, WithACgroupRootNothingOutsideItIsSeen) {
    const ControlFiles tree{{std::string("/mine/kubepods/pod") + uid_a, {}},
                            {std::string("/kubepods/pod") + uid_b, {}}};
    CgroupDirs dirs(tree.v2(), "/mine/");
    const auto root = dirs.find_pods_root();
    ASSERT_TRUE(root);
    EXPECT_EQ(root->path, "/mine/kubepods");
    EXPECT_EQ(root->level, 2U);
    EXPECT_EQ(uids(dirs.list_pods()), std::set<std::string>{uid_a});
    EXPECT_FALSE(dirs.pod_at(std::string("/kubepods/pod") + uid_b));
    EXPECT_TRUE(dirs.pod_at(std::string("/mine/kubepods/pod") + uid_a));
}

TEST(CgroupDirs, WithoutAPodsRootTheErrorNamesThePlacesSearched) {
    const ControlFiles tree{{"/system.slice", {}}};
    CgroupDirs dirs(tree.v2(), "");
    EXPECT_FALSE(dirs.find_pods_root());
    const auto pods = dirs.list_pods();
    ASSERT_FALSE(pods);
    EXPECT_EQ(pods.error().kind, ErrorKind::vanished);
    EXPECT_NE(pods.error().text().find("/kubepods.slice, /kubepods"), std::string::npos);
}

TEST(CgroupDirs, ARootThatCannotBeLookedAtIsNotTakenForAMissingOne) {
    const ControlFiles tree{{std::string("/kubepods/pod") + uid_a, {}}};
    const std::string path = tree.v2().memory + "/kubepods";
    CgroupDirs dirs(tree.v2(), "");
    const auto before = dirs.find_pods_root();
    ASSERT_TRUE(before);
    std::filesystem::rename(path, path + ".away");
    std::filesystem::create_symlink("kubepods", path);  // to itself: any error that does not prove absence
    const auto kept = dirs.find_pods_root();
    ASSERT_TRUE(kept) << "it was there before";
    EXPECT_EQ(kept->id, before->id);
    EXPECT_EQ(dirs.trouble(), "it is unknown whether pods run below /kubepods: Too many levels of symbolic links");
    CgroupDirs fresh(tree.v2(), "");
    const auto unknown = fresh.find_pods_root();
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::failed);
    std::filesystem::remove(path);
    const auto none = dirs.find_pods_root();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::vanished);
    EXPECT_EQ(dirs.trouble(), "");
}

TEST(CgroupDirs, APodMadeLaterIsFoundByItsPath) {
    const std::string path = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{path + "/container", {{"cgroup.procs", "1\n"}}}};
    CgroupDirs dirs(tree.v2(), "");
    EXPECT_FALSE(dirs.pod_at(path));  // not before the root is known
    ASSERT_TRUE(dirs.find_pods_root());
    const auto pod = dirs.pod_at(path);
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->uid.value, uid_a);
    EXPECT_EQ(pod->cgroup->id(), tree.id(path));
    EXPECT_FALSE(dirs.pod_at(path + "/container"));
    EXPECT_FALSE(dirs.pod_at("/kubepods"));
    EXPECT_FALSE(dirs.pod_at(path.substr(0, path.size() - 1) + "9"));  // no such directory
}

TEST(CgroupDirs, WhatIsHeldIsNotOpenedAgain) {
    const std::string path = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{path, {}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    const auto first = dirs.list_pods();
    const auto second = dirs.list_pods();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->at(0).cgroup, second->at(0).cgroup);
    EXPECT_EQ(first->at(0).cgroup, dirs.pod_at(path)->cgroup);
}

TEST(CgroupDirs, ACgroupMadeAnewUnderItsNameIsAnother) {
    const std::string path = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{path, {}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    const auto before = dirs.pod_at(path);
    ASSERT_TRUE(before);
    tree.remove(path);
    std::filesystem::create_directory(tree.v2().memory + path);
    const auto after = dirs.pod_at(path);
    ASSERT_TRUE(after);
    EXPECT_NE(before->cgroup->id(), after->cgroup->id());
    EXPECT_EQ(after->cgroup->id(), tree.id(path));
}

// The real-time thread asks the kernel nothing about a pod whose making was reported: a lookup may wait for its maker.
TEST(CgroupDirs, WhatWasOpenedAheadIsFoundWithoutTheKernel) {
    const std::string path = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{path, {}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    const CgroupId id = tree.id(path);
    const auto ahead = dirs.open_ahead(path);
    ASSERT_TRUE(ahead);
    tree.remove(path);  // a lookup would fail
    const auto pod = dirs.pod_at(path, id);
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->cgroup, ahead);
    EXPECT_FALSE(dirs.pod_at(path, CgroupId{id.value + 1}));  // another of that name, which is gone
    EXPECT_FALSE(dirs.pod_at(path));
}

TEST(CgroupDirs, OnlyWhatIsCalledLikeAPodIsOpenedAhead) {
    const std::string path = std::string("/kubepods/pod") + uid_a;
    const ControlFiles tree{{path + "/container", {}}};
    const CgroupDirs dirs(tree.v2(), "");
    EXPECT_FALSE(dirs.open_ahead("/kubepods"));
    EXPECT_FALSE(dirs.open_ahead(path + "/container"));
    EXPECT_FALSE(dirs.open_ahead(path.substr(0, path.size() - 1) + "9"));  // gone again
}

TEST(CgroupDirs, WhatCannotBeOpenedIsReportedUntilTheNextListing) {
    const ControlFiles tree{{std::string("/kubepods/pod") + uid_a, {}}, {std::string("/kubepods/pod") + uid_b, {}}};
    // A sanitizer that meets a type for the first time needs descriptors of its own: here it meets it before.
    CgroupDirs other(tree.v2(), "");
    ASSERT_TRUE(other.find_pods_root());
    EXPECT_EQ(uids(other.list_pods()).size(), 2U);
    CgroupDirs dirs(tree.v2(), "", "", 0);
    ASSERT_TRUE(dirs.find_pods_root());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const sys::Fd next(::dup(STDERR_FILENO));
    const rlimit one_more{static_cast<rlim_t>(next.get()) + 2, before.rlim_max};  // the directory, and no pod in it
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
    const auto pods = dirs.list_pods();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(pods) << "a list that lacks some is an error";
    EXPECT_TRUE(uids(pods).empty());
    EXPECT_NE(dirs.trouble().find("2 of the pods' cgroups"), std::string::npos) << dirs.trouble();
    EXPECT_EQ(uids(dirs.list_pods()).size(), 2U);
    EXPECT_EQ(dirs.trouble(), "");
    EXPECT_TRUE(dirs.complete());
}

TEST(CgroupDirs, WhatCouldBeOpenedIsVisitedThoughTheListLacksSome) {
    const ControlFiles tree{{std::string("/kubepods/pod") + uid_a, {}}, {std::string("/kubepods/pod") + uid_b, {}}};
    CgroupDirs dirs(tree.v2(), "", "", 0);
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_EQ(uids(dirs.list_pods()).size(), 2U);
    std::vector<port::FoundPod> held;
    Status listed;
    {
        const fakes::FewDescriptors three(3);  // the directory, and the files of one pod
        listed = dirs.each_pod([&](port::FoundPod pod) { held.push_back(std::move(pod)); });
    }
    EXPECT_FALSE(listed);
    EXPECT_FALSE(dirs.complete());
    EXPECT_EQ(held.size(), 1U);
}

// A pod that is not known for want of descriptors cannot be evicted.
TEST(CgroupDirs, APodThatStartsWhileThereAreNoDescriptorsIsOpenedWithThoseInReserve) {
    const ControlFiles tree{{std::string("/kubepods/pod") + uid_a, {}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    std::vector<port::FoundPod> held;
    Status listed;
    {
        const fakes::FewDescriptors none(0);
        listed = dirs.each_pod([&](port::FoundPod pod) { held.push_back(std::move(pod)); });
    }
    EXPECT_TRUE(listed);
    EXPECT_EQ(held.size(), 1U);
}

TEST(CgroupDirs, ADirectoryThatCannotBeListedIsReportedToo) {
    const ControlFiles tree{{"/kubepods", {}}};
    CgroupDirs dirs(tree.v2(), "", "", 0);
    ASSERT_TRUE(dirs.find_pods_root());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const sys::Fd next(::dup(STDERR_FILENO));
    const rlimit none{static_cast<rlim_t>(next.get()), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto pods = dirs.list_pods();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(pods);
    EXPECT_NE(dirs.trouble().find("Too many open files"), std::string::npos) << dirs.trouble();
}

TEST(CgroupDirs, ACgroupThatAPodMadeIsNoPodsWhateverItsName) {
    const std::string claimed = std::string("/kubepods/pod") + uid_a + "/pod" + uid_b;
    const ControlFiles tree{{claimed, {}}};
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_FALSE(dirs.pod_at(claimed));
    EXPECT_EQ(uids(dirs.list_pods()), std::set<std::string>{uid_a});
}

TEST(CgroupDirs, ALinkIsNoCgroup) {
    const ControlFiles tree{{"/kubepods", {}}, {"/elsewhere", {}}};
    const std::string link = std::string("/kubepods/pod") + uid_a;
    std::filesystem::create_directory_symlink(tree.v2().memory + "/elsewhere", tree.v2().memory + link);
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    EXPECT_FALSE(dirs.pod_at(link));
    EXPECT_TRUE(uids(dirs.list_pods()).empty());
}

}  // namespace
}  // namespace evictd::kernel
