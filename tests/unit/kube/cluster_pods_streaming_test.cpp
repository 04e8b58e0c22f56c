// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Streaming lists (KEP-3157): a watch that begins with the pods that exist.
#include <vector>

#include "cluster_pods_fixture.hpp"

namespace evictd::kube {
namespace {

class StreamingListTest : public ClusterPodsTest {
protected:
    StreamingListTest() { streams_lists = true; }
    // The number of the request, from 1; and what was asked for.
    int note(const std::string& path) {
        const std::scoped_lock lock(mutex);
        asked.push_back(path);
        return static_cast<int>(asked.size());
    }
    std::string request(std::size_t number) {
        const std::scoped_lock lock(mutex);
        return asked.size() < number ? "" : asked[number - 1];
    }
    std::mutex mutex;
    std::vector<std::string> asked;
};

// The pods come in any order, so their versions say nothing before the end.
TEST_F(StreamingListTest, IsOneRequestForTheListAndTheWatch) {
    Gate listed;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        const int number = note(path);
        to.begin();
        if (number == 1) {
            to.chunk(event_json("ADDED", pod_json("b", "9")) + event_json("ADDED", pod_json("a", "3")));
            to.chunk(end_of_list_json("10"));
            EXPECT_TRUE(listed.pass());
            to.chunk(event_json("DELETED", pod_json("b", "11")) + event_json("ADDED", pod_json("c", "12")));
            return false;
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a b"));
    listed.open();
    EXPECT_TRUE(listener.until_pods("a c"));
    while (request(2).empty()) std::this_thread::yield();
    EXPECT_EQ(request(1).substr(0, request(1).find("&timeoutSeconds")),
              "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&watch=true&allowWatchBookmarks=true"
              "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0");
    EXPECT_NE(request(2).find("&resourceVersion=12&"), std::string::npos) << request(2);
    EXPECT_FALSE(is_streaming_list(request(2))) << "a watch that is cut is resumed";
}

// Half of a list would be pods that seem to be gone.
TEST_F(StreamingListTest, OneThatIsCutBeforeItsEndChangesNothing) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        const int number = note(path);
        to.begin();
        if (number == 1) {
            to.chunk(event_json("ADDED", pod_json("a", "3")) + event_json("ADDED", pod_json("b", "4")));
            to.chunk(end_of_list_json("10"));
            to.chunk(event_json("ERROR", R"({"kind":"Status","code":410,"message":"too old resource version"})"));
        } else if (number == 2) {
            to.chunk(event_json("ADDED", pod_json("a", "3")));
            return false;
        } else if (number == 3) {  // ended in order, and yet without its end
            to.chunk(event_json("ADDED", pod_json("b", "4")));
            to.end();
            return true;
        } else {
            to.chunk(event_json("ADDED", pod_json("b", "4")) + event_json("ADDED", pod_json("c", "20")));
            to.chunk(end_of_list_json("21"));
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        EXPECT_TRUE(names(set).empty() || names(set) == "a b" || names(set) == "b c") << names(set);
        return names(set) == "b c" && set.unread.empty();
    }));
    for (const std::size_t number : {2U, 3U, 4U}) {
        EXPECT_NE(request(number).find("&resourceVersion=10&"), std::string::npos) << request(number);
        EXPECT_TRUE(is_streaming_list(request(number)));
    }
}

// What changes while the list is sent belongs to it.
TEST_F(StreamingListTest, ChangesBeforeItsEndCount) {
    const auto served = serve([&](const std::string&, const std::string&, const Connection& to) {
        to.begin();
        to.chunk(event_json("ADDED", pod_json("a", "3")) + event_json("ADDED", pod_json("b", "4")));
        to.chunk(event_json("DELETED", pod_json("a", "11")) + event_json("ADDED", pod_json("c", "12")));
        to.chunk(event_json("BOOKMARK", R"({"metadata":{"resourceVersion":"12"}})"));
        to.chunk(end_of_list_json("13"));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        EXPECT_TRUE(names(set).empty() || names(set) == "b c") << names(set);
        return names(set) == "b c";
    }));
}

TEST_F(StreamingListTest, AVersionThatTheServerDoesNotHaveIsNotAskedForAgain) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (note(path) == 1) {
            to.reply(504, R"({"message":"Too large resource version"})");
            return true;
        }
        to.begin();
        to.chunk(event_json("ADDED", pod_json("a")) + end_of_list_json("10"));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a"));
    EXPECT_EQ(request(2).find("&resourceVersion="), std::string::npos) << request(2);
}

// A server that was restored from a backup accepts the request, and then says so in an event.
TEST_F(StreamingListTest, AVersionThatIsRefusedByAnEventIsNotAskedForAgain) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        const int number = note(path);
        to.begin();
        if (number == 1) {
            to.chunk(event_json("ADDED", pod_json("a", "3")) + end_of_list_json("500"));
            to.chunk(event_json("ERROR", R"({"kind":"Status","code":410,"message":"too old resource version"})"));
        } else if (number == 2) {
            to.chunk(event_json("ERROR", R"({"kind":"Status","code":504,"message":"Too large resource version"})"));
        } else {
            to.chunk(event_json("ADDED", pod_json("b", "3")) + end_of_list_json("7"));
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("b"));
    EXPECT_NE(request(2).find("&resourceVersion=500&"), std::string::npos) << request(2);
    EXPECT_EQ(request(3).find("&resourceVersion="), std::string::npos) << request(3);
}

// A list of the newest costs the server a consistent read.
TEST_F(StreamingListTest, AnEventThatIsNotAboutTheVersionLeavesIt) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        to.begin();
        if (note(path) == 1) {
            to.chunk(event_json("ERROR", R"({"kind":"Status","code":429,"message":"too many requests"})"));
        } else {
            to.chunk(event_json("ADDED", pod_json("a")) + end_of_list_json("7"));
        }
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a"));
    EXPECT_NE(request(2).find("&resourceVersion=0&"), std::string::npos) << request(2);
}

TEST_F(StreamingListTest, AServerThatRefusesItIsAskedForAList) {
    std::atomic<int> refused = 0;
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_streaming_list(path)) {
            refused++;
            to.reply(422, R"({"kind":"Status","reason":"Invalid","message":"is forbidden for watch"})");
            return true;
        }
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a")));
            return true;
        }
        if (watches++ == 0) {
            to.reply(410, "{}");
            return true;
        }
        to.begin();
        to.chunk(event_json("ADDED", pod_json("b", "11")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a b"));
    EXPECT_EQ(refused, 1) << "the next list does not ask for it again";
}

// Its pages together may take longer than a streaming list.
TEST_F(StreamingListTest, TheListThatFollowsARefusalHasAllTheTimeOfItsPages) {
    times.list_timeout = std::chrono::seconds(1);
    const auto half_and_more = std::chrono::milliseconds(700);
    std::atomic<int> lists = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        if (is_streaming_list(path)) {
            to.reply(422, "{}");
            return true;
        }
        if (!is_watch(path)) {
            std::this_thread::sleep_for(half_and_more);
            to.reply(200, ++lists == 1 ? list_json(pod_json("a"), R"("resourceVersion":"10","continue":"c")")
                                       : list_json(pod_json("b")));
            return true;
        }
        to.begin();
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until_pods("a b"));
    EXPECT_EQ(lists, 2) << "no page is requested twice";
}

// The same name, another pod: a StatefulSet's, or one that was deleted by force. The end of the one before is not its.
TEST_F(StreamingListTest, APodThatWasCreatedAgainIsAnother) {
    const auto again = [](const std::string& version) {
        auto pod = pod_json("web", version);
        return pod.replace(pod.find("uid-web"), 7, "uid-new");
    };
    Gate seen;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        to.begin();
        if (note(path) == 1) {
            to.chunk(event_json("ADDED", pod_json("web")) + end_of_list_json("20"));
            EXPECT_TRUE(seen.pass());
            to.chunk(event_json("ADDED", again("21")) + event_json("DELETED", pod_json("web", "22")));
        }
        to.hold();
        return false;
    });
    const auto is_pod = [](const std::string& uid) {
        return [uid](const port::PodSet& set) { return set.pods.size() == 1 && set.pods[0]->uid.value == uid; };
    };
    EXPECT_TRUE(listener.until(is_pod("uid-web")));
    seen.open();
    EXPECT_TRUE(listener.until(is_pod("uid-new")));
}

}  // namespace
}  // namespace evictd::kube
