// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/cluster_pods.hpp"

#include "cluster_pods_fixture.hpp"

namespace evictd::kube {
namespace {

TEST_F(ClusterPodsTest, ListsThenWatches) {
    Gate listed;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            EXPECT_EQ(path, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=500&resourceVersion=0");
            to.reply(200, list_json(pod_json("a") + "," + pod_json("b")));
            return true;
        }
        EXPECT_NE(path.find("resourceVersion=10&"), std::string::npos) << path;
        EXPECT_TRUE(listed.pass());
        to.begin();
        to.chunk(event_json("ADDED", pod_json("c", "11")) + event_json("DELETED", pod_json("a", "12")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a b"));
    listed.open();
    EXPECT_TRUE(listener.until_pods("b c"));
    const auto states = source->states();
    ASSERT_EQ(states.size(), 1U);
    EXPECT_EQ(states[0].fault, "");
    EXPECT_TRUE(states[0].heard_at);
}

// Bookmarks are no reason for a delivery, and still say that the server is there.
TEST_F(ClusterPodsTest, ABookmarkIsHeardAndDeliversNothing) {
    Gate heard;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a")));
            return true;
        }
        EXPECT_TRUE(heard.pass());
        to.begin();
        to.chunk(event_json("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})"));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a"));
    const auto listed_at = source->states()[0].heard_at;
    const int calls = listener.calls();
    heard.open();
    while (source->states()[0].heard_at == listed_at) std::this_thread::yield();
    EXPECT_EQ(listener.calls(), calls);
}

TEST_F(ClusterPodsTest, CredentialsThatAreLateAreWaitedFor) {
    first_load_fails = true;
    const auto served = serve(
        [&](const std::string&, const std::string& path, const Connection& to) { return serve_one_pod(path, to); });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return names(set) == "a" && set.unread.empty(); }));
    EXPECT_EQ(loads, 2);
    EXPECT_GE(listener.calls(), 2) << "the fault was delivered too";
}

TEST_F(ClusterPodsTest, ReadsEveryPageOfAList) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.hold();
            return false;
        }
        const bool second = path.find("&continue=more") != std::string::npos;
        to.reply(200, second ? list_json(pod_json("b"))
                             : list_json(pod_json("a"), R"("resourceVersion":"10","continue":"more")"));
        return true;
    });
    EXPECT_TRUE(listener.until_pods("a b"));
}

// Until the server answers again, the pods are those that were known.
TEST_F(ClusterPodsTest, AWatchThatIsCutGoesOnWhereItWas) {
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a")));
            return true;
        }
        to.begin();
        if (watches++ == 0) {
            to.chunk(event_json("ADDED", pod_json("b", "11")) +
                     event_json("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})"));
            to.chunk(event_json("ADDED", pod_json("c", "21")).substr(0, 40));
            return false;
        }
        EXPECT_NE(path.find("resourceVersion=20&"), std::string::npos) << path;
        to.chunk(event_json("ADDED", pod_json("d", "22")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return names(set) == "a b" && !set.unread.empty(); }));
    EXPECT_TRUE(listener.until_pods("a b d"));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.unread.empty(); }));
}

// Headers are no event: a watch that only begins, each time, shows nothing of what happens.
TEST_F(ClusterPodsTest, WatchesThatOnlyBeginAreReplacedByAList) {
    times.longest_silence = std::chrono::milliseconds(40);
    times.longest_quiet = std::chrono::milliseconds(200);
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.hold();
            return false;
        }
        const bool first = lists++ == 0;
        EXPECT_TRUE(path.ends_with(first ? "resourceVersion=0" : "resourceVersion=10")) << "not the newest: " << path;
        to.reply(200, list_json(pod_json(first ? "a" : "b")));
        return true;
    });
    EXPECT_TRUE(listener.until_pods("b"));
}

TEST_F(ClusterPodsTest, WatchesThatBeginAndEndAreReplacedByAList) {
    times.longest_quiet = std::chrono::milliseconds(200);
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.end();
            return true;
        }
        to.reply(200, list_json(pod_json(lists++ == 0 ? "a" : "b")));
        return true;
    });
    EXPECT_TRUE(listener.until_pods("b"));
}

// Nor are bytes that are no event: they put the list off no longer.
TEST_F(ClusterPodsTest, AWatchThatTricklesIsReplacedByAList) {
    times.longest_silence = std::chrono::milliseconds(100);
    times.longest_quiet = std::chrono::milliseconds(200);
    std::atomic<int> lists = 0;
    std::atomic<bool> ended = false;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json(lists++ == 0 ? "a" : "b")));
            return true;
        }
        to.begin();
        while (lists == 1 && !ended) {
            to.chunk("\n");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("b"));
    ended = true;
}

}  // namespace
}  // namespace evictd::kube
