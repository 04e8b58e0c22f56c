// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Servers that refuse, cut off, or send what cannot be read; pods that want to do harm.
#include "cluster_pods_fixture.hpp"

namespace evictd::kube {
namespace {

// A list of the newest costs the server a consistent read: only where it does not know the version.
TEST_F(ClusterPodsTest, AnOverloadedServerIsNotAskedForTheNewest) {
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.hold();
            return false;
        }
        switch (lists++) {
            case 0:
                to.reply(429, "{}");
                return true;
            case 1:
                EXPECT_NE(path.find("resourceVersion=0"), std::string::npos) << path;
                to.reply(504, "{}");
                return true;
            default:
                EXPECT_TRUE(path.ends_with("resourceVersion=")) << path;
                to.reply(200, list_json(pod_json("a")));
                return true;
        }
    });
    EXPECT_TRUE(listener.until_pods("a"));
}

TEST_F(ClusterPodsTest, AVersionThatIsTooOldIsListedAgain) {
    std::atomic<int> lists = 0;
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200,
                     lists++ == 0 ? list_json(pod_json("a")) : list_json(pod_json("b"), R"("resourceVersion":"30")"));
            return true;
        }
        to.begin();
        if (watches++ == 0) {
            to.chunk(event_json("ERROR", R"({"kind":"Status","code":410,"message":"too old resource version"})"));
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("b"));
    EXPECT_EQ(lists, 2);
}

TEST_F(ClusterPodsTest, ARefusedListIsTriedAgainAndSaysWhy) {
    Gate seen;
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.hold();
            return false;
        }
        if (lists++ == 0) {
            to.reply(403, R"({"kind":"Status","reason":"Forbidden","message":"pods is forbidden"})");
        } else {
            EXPECT_TRUE(seen.pass());
            EXPECT_NE(path.find("resourceVersion="), std::string::npos);
            to.reply(200, list_json(pod_json("a")));
        }
        return true;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return set.pods.empty() && set.unread.size() == 1 &&
               set.unread[0].text() ==
                   "API server: refused: 403 Forbidden: pods is forbidden (grant list and watch of pods)";
    }));
    seen.open();
    EXPECT_TRUE(listener.until_pods("a"));
}

// A list that breaks off would be pods that seem to be gone.
TEST_F(ClusterPodsTest, AListThatBreaksOffChangesNothing) {
    std::atomic<int> lists = 0;
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            if (watches++ == 0) {
                to.reply(410, "{}");
                return true;
            }
            to.begin();
            to.hold();
            return false;
        }
        switch (lists++) {
            case 0:
                to.reply(200, list_json(pod_json("a") + "," + pod_json("b")));
                return true;
            case 1:
                to.begin();
                to.chunk(list_json(pod_json("a")).substr(0, 100));
                return false;
            case 2:
                to.reply(200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"it\u0065ms":[{}]})");
                return true;
            case 3:
                to.reply(200, "<html>a proxy's page</html>");
                return true;
            default:
                to.reply(200, list_json(pod_json("a") + "," + pod_json("b") + "," + pod_json("end")));
                return true;
        }
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        EXPECT_TRUE(names(set) == "a b" || names(set) == "a b end") << names(set);
        return names(set) == "a b end";
    }));
    EXPECT_EQ(lists, 5);
}

TEST_F(ClusterPodsTest, APodThatCannotBeReadIsReportedAndStaysAsItWas) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a") + "," + pod_json("b")));
            return true;
        }
        to.begin();
        to.chunk(event_json("MODIFIED", pod_json("a", "11", R"(,"resources":{"requests":{"memory":"12Gg"}})")));
        auto elsewhere = pod_json("z", "12");
        elsewhere.replace(elsewhere.find("n1"), 2, "n2");
        to.chunk(event_json("ADDED", elsewhere));
        to.hold();
        return false;
    });
    EXPECT_TRUE(
        listener.until([](const port::PodSet& set) { return set.rejected.size() == 2 && names(set) == "a b"; }));
}

TEST_F(ClusterPodsTest, APodOfALaterListThatCannotBeReadStaysAsItWas) {
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.reply(410, "{}");
        } else if (lists++ == 0) {
            to.reply(200, list_json(pod_json("a")));
        } else {
            const auto broken = pod_json("a", "11", R"(,"resources":{"requests":{"memory":"12Gg"}})");
            to.reply(200, list_json(broken + "," + pod_json("b")));
        }
        return true;
    });
    EXPECT_TRUE(
        listener.until([](const port::PodSet& set) { return set.rejected.size() == 1 && names(set) == "a b"; }));
}

// What the author of one pod may do to it costs that pod: the others come, and go, as before.
TEST_F(ClusterPodsTest, APodThatIsTooLargeCostsNoOther) {
    const std::string filler = R"("annotations":{"big":")" + std::string(std::size_t{3} << 20U, 'x') + R"("})";
    const auto large = [&](const std::string& name, const std::string& version) {
        auto pod = pod_json(name, version);
        return pod.insert(pod.find("},\"spec\""), "," + filler);
    };
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(large("a", "9") + "," + pod_json("b")));
            return true;
        }
        to.begin();
        to.chunk(event_json("ADDED", large("c", "11")) + event_json("MODIFIED", large("b", "12")));
        to.chunk(event_json("ADDED", pod_json("d", "13")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until(
        [](const port::PodSet& set) { return names(set) == "b d" && set.rejected.size() == 3 && set.unread.empty(); }));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return set.rejected[0].text() == "pod default/a: cannot be read: it is too large";
    }));
}

// A server that was restored from a backup has older versions.
TEST_F(ClusterPodsTest, AWatchWhoseVersionIsRefusedIsListedAgain) {
    std::atomic<int> lists = 0;
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            if (lists++ == 0) {
                to.reply(200, list_json(pod_json("a")));
            } else if (path.ends_with("resourceVersion=500")) {
                to.reply(504, R"({"message":"Too large resource version"})");
            } else {
                EXPECT_TRUE(path.ends_with("resourceVersion=")) << path;
                to.reply(200, list_json(pod_json("b"), R"("resourceVersion":"7")"));
            }
            return true;
        }
        if (watches++ == 1) {
            to.reply(504, R"({"message":"Too large resource version"})");
            return true;
        }
        to.begin();
        if (watches == 1) {
            to.chunk(event_json("MODIFIED", pod_json("a", "500")));
            return false;
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("b"));
    EXPECT_EQ(lists, 3);
}

// Who may change a pod may do so without end.
TEST_F(ClusterPodsTest, AFloodOfEventsIsTenSetsASecond) {
    const auto begin = std::chrono::steady_clock::now();
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a")));
            return true;
        }
        to.begin();
        for (int i = 0; i < 2000; i++) to.chunk(event_json("MODIFIED", pod_json("a", std::to_string(i + 11))));
        to.chunk(event_json("ADDED", pod_json("end", "5000")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a end"));
    const auto lasted = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(listener.calls(), lasted / std::chrono::milliseconds(100) + 2);
}

// With sanitizers a fifth of it: the parser takes 20 times as long.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EVICTD_IS_SLOW 1
#endif
#endif
#ifdef EVICTD_IS_SLOW
constexpr int pods_of_50_mib = 40;
#else
constexpr int pods_of_50_mib = 200;
#endif

TEST_F(ClusterPodsTest, AListOf50MiBTakesTheMemoryOfItsPods) {
    const std::string filler = R"(,"annotations":{"big":")" + std::string(std::size_t{1} << 18U, 'x') + R"("})";
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_watch(path)) {
            to.begin();
            to.hold();
            return false;
        }
        to.begin();
        to.chunk(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)");
        for (int i = 0; i < pods_of_50_mib; i++) {
            auto one = pod_json("p" + std::to_string(i % 2));
            one.insert(one.find("},\"spec\""), filler);
            to.chunk((i > 0 ? "," : "") + one);
        }
        to.chunk("]}");
        to.end();
        return true;
    });
    EXPECT_TRUE(listener.until_pods("p0 p1"));
}

}  // namespace
}  // namespace evictd::kube
