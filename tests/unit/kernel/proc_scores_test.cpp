// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/proc_scores.hpp"

#include <array>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/few_descriptors.hpp"

namespace evictd::kernel {
namespace {

TEST(ContainerCgroupIn, IsWhatStandsBehindThePodsOwnName) {
    struct Row {
        const char* text;
        const char* container;
    };
    constexpr const char* pod = "/kubepods/burstable/podaaaa-bbbb";
    const std::vector<Row> rows{
        {"0::/kubepods/burstable/podaaaa-bbbb/app\n", "app"},
        {"0::/kubepods/burstable/podaaaa-bbbb/app/service/worker\n", "app"},
        {"0::/kubepods/burstable/podaaaa-bbbb\n", ""},
        {"0::/kubepods/burstable/podaaaa-bbbbc/app\n", ""},
        {"0::/../../burstable/podaaaa-bbbb/app\n", "app"},  // as seen from another cgroup namespace
        {"9:cpu:/kubepods/burstable/podaaaa-bbbb/other\n4:hugetlb,memory:/kubepods/burstable/podaaaa-bbbb/app\n0::/\n",
         "app"},
        {"9:cpu:/x\n", ""},
        {"nonsense", ""},
        {"", ""},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(container_cgroup_in(row.text, pod), row.container) << row.text;
    }
}

TEST(IsInPod, ByThePathInTheMemoryControllersHierarchy) {
    constexpr const char* pod = "/kubepods/burstable/podaaaa-bbbb";
    for (const char* in :
         {"0::/kubepods/burstable/podaaaa-bbbb/app\n", "0::/kubepods/burstable/podaaaa-bbbb\n",
          "0::/../../burstable/podaaaa-bbbb/app\n", "0::/docker/1/kubepods/burstable/podaaaa-bbbb/app\n",
          "9:cpu:/other\n4:hugetlb,memory:/kubepods/burstable/podaaaa-bbbb/app\n0::/\n"}) {
        EXPECT_TRUE(is_in_pod(in, pod)) << in;
    }
    for (const char* out : {"0::/kubepods/burstable/podaaaa-bbbbc/app\n", "0::/kubepods/burstable\n", "", "nonsense",
                            "9:cpu:/kubepods/burstable/podaaaa-bbbb\n4:memory:/other\n0::/\n",
                            "0::/../../burstable/podaaaa-bbbbc/app\n"}) {
        EXPECT_FALSE(is_in_pod(out, pod)) << out;
    }
}

TEST(StartTimeIn, IsTheTwentySecondFieldWhateverTheNameIs) {
    EXPECT_EQ(start_time_in("7 (a b) c) 1) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n"), 4242U);
    EXPECT_EQ(start_time_in("7 (a) S 1 2 3\n"), 0U);
    EXPECT_EQ(start_time_in("nonsense"), 0U);
    EXPECT_EQ(start_time_in(""), 0U);
}

// With no pid that could be written to: this is another process, which is in no pod.
TEST(ProcScores, AProcessThatIsThereAndCannotBeLookedAtIsAnErrorAndNotGone) {
    ProcScores scores;
    const fakes::FakePodCgroup pod({1}, "/kubepods/podaaaa-bbbb");
    const std::array<pid_t, 2> pids{-2, ::getppid()};
    constexpr auto no_descriptor = ErrorKind::exhausted;
    int visits = 0;
    EXPECT_TRUE(scores.visit(pod, pids, [&](port::ScoredProcess& process) {
        visits++;
        EXPECT_EQ(process.set_score(500).error().kind, ErrorKind::vanished);
    }));
    EXPECT_EQ(visits, 1);
    {
        const fakes::FewDescriptors one(1);
        EXPECT_TRUE(scores.visit(pod, pids, [&](port::ScoredProcess& process) {
            EXPECT_EQ(process.started(), 0U);
            EXPECT_EQ(process.score().error().kind, no_descriptor);
            EXPECT_EQ(process.set_score(500).error().kind, no_descriptor);
        }));
    }
    const fakes::FewDescriptors none(0);
    const auto visited = scores.visit(pod, pids, [](port::ScoredProcess&) { ADD_FAILURE(); });
    ASSERT_FALSE(visited);
    EXPECT_EQ(visited.error().kind, no_descriptor);
}

}  // namespace
}  // namespace evictd::kernel
