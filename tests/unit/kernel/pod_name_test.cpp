// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_name.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

constexpr const char* uid = "9f86d081-884c-4d63-a1b5-0242ac120002";
constexpr const char* slice_uid = "9f86d081_884c_4d63_a1b5_0242ac120002";

std::string found(const std::string& name) {
    const auto pod = pod_uid_of(name);
    return pod ? pod->value : "none";
}

TEST(PodName, CgroupfsDriverNamesThePodAloneInEveryQosClass) {
    // Guaranteed pods lie directly below kubepods, the others below their class: the name is the same.
    EXPECT_EQ(found(std::string("pod") + uid), uid);
}

TEST(PodName, SystemdDriverPutsTheQosClassIntoTheName) {
    for (const char* prefix : {"kubepods-", "kubepods-burstable-", "kubepods-besteffort-"}) {
        EXPECT_EQ(found(std::string(prefix) + "pod" + slice_uid + ".slice"), uid) << prefix;
    }
}

TEST(PodName, NestedUnderKindTheSliceHasALongerPrefix) {
    for (const char* prefix : {"kubelet-kubepods-", "kubelet-kubepods-burstable-", "kubelet-kubepods-besteffort-"}) {
        EXPECT_EQ(found(std::string(prefix) + "pod" + slice_uid + ".slice"), uid) << prefix;
    }
}

TEST(PodName, StaticPodsHaveAHashForUid) {
    const std::string hash = "6a1f0e9c7b5d4e3f2a1b0c9d8e7f6a5b";
    EXPECT_EQ(found("pod" + hash), hash);
    EXPECT_EQ(found("kubepods-burstable-pod" + hash + ".slice"), hash);
}

TEST(PodName, TheClassesThemselvesAreNoPods) {
    for (const char* name : {"kubepods", "burstable", "besteffort", "kubepods.slice", "kubepods-burstable.slice",
                             "kubepods-besteffort.slice", "kubelet-kubepods.slice", "system.slice"}) {
        EXPECT_EQ(found(name), "none") << name;
    }
}

TEST(PodName, ContainersAreNoPods) {
    const std::string container(64, 'c');
    for (const auto& name : {container, "cri-containerd-" + container + ".scope", "crio-" + container + ".scope",
                             "docker-" + container + ".scope", "crio-conmon-" + container + ".scope"}) {
        EXPECT_EQ(found(name), "none") << name;
    }
}

TEST(PodName, GarbageIsNoPod) {
    const std::vector<std::string> names{"",
                                         "pod",
                                         "pod-",
                                         ".slice",
                                         "pod.slice",
                                         "-pod.slice",
                                         "kubepods-pod.slice",
                                         "podshort",
                                         "pod" + std::string(64, 'a'),
                                         "pod../../etc/passwd",
                                         "pod9f86d081 884c",
                                         std::string("pod9f86d081\0 884c", 17),
                                         "pod" + std::string(slice_uid),
                                         "Pod" + std::string(uid),
                                         "kubepods-pod" + std::string(uid) + ".slice",
                                         std::string("pod") + uid + ".slice/..",
                                         "pod\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6"};
    for (const auto& name : names) EXPECT_EQ(found(name), "none") << name;
}

}  // namespace
}  // namespace evictd::kernel
