// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's object beside the pods: its taints, the kubelet's word on a shutdown, and that old news is said to be old.
#include "kube/api_node.hpp"

#include "cluster_pods_fixture.hpp"
#include "kube/pod_text.hpp"

namespace evictd::kube {
namespace {

class ApiNodeTest : public ClusterPodsTest {
protected:
    ApiNodeTest() { node_times = ApiNodeTimes{.first_back_off = std::chrono::milliseconds(10)}; }
    // The pods' list and watch, so that only the node's watch is left to the test.
    [[nodiscard]] static bool serve_pods(const std::string& path, const Connection& to, bool& is_done) {
        if (path.starts_with("/api/v1/nodes")) return false;
        is_done = serve_one_pod(path, to);
        return true;
    }
};

std::string node_json(const std::string& name, const std::string& taints, const std::string& ready,
                      const std::string& version = "7") {
    return R"({"kind":"Node","metadata":{"name":")" + name + R"(","resourceVersion":")" + version +
           R"("},"spec":{"taints":[)" + taints +
           R"(]},"status":{"conditions":[{"type":"MemoryPressure","status":"False","message":"node is shutting down"},)" +
           ready + "]}}";
}
constexpr auto is_ready =
    R"({"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status"})";
constexpr auto shuts_down =
    R"({"type":"Ready","status":"False","reason":"KubeletNotReady","message":"node is shutting down"})";
constexpr auto no_execute = R"({"key":"gone","value":"v","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"})";

TEST_F(ApiNodeTest, IsWatchedByNameFromItsCurrentObject) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        EXPECT_TRUE(path.starts_with("/api/v1/nodes?fieldSelector=metadata.name%3Dn1&watch=true")) << path;
        EXPECT_EQ(path.find("resourceVersion="), std::string::npos) << "a cache may be old: " << path;
        to.begin();
        to.chunk(event_json("ADDED", node_json("n1", no_execute, is_ready)));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return set.current == true && set.node && set.node->current && !set.node->shutting_down &&
               set.node->taints == std::vector<Taint>{{"gone", "v", "NoExecute"}};
    }));
}

TEST_F(ApiNodeTest, TheKubeletsWordOnAShutdownIsThatOfReadyAlone) {
    Gate begun;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.begin();
        to.chunk(event_json("ADDED", node_json("n1", "", is_ready)));
        EXPECT_TRUE(begun.pass());
        to.chunk(event_json("MODIFIED", node_json("n1", "", shuts_down)));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && !set.node->shutting_down; }));
    begun.open();
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && set.node->shutting_down; }));
}

// The pods are not: a right that is missing for one is no fault of the other.
TEST_F(ApiNodeTest, AWatchThatIsRefusedIsShownAndLeavesThePodsAlone) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.reply(403, R"({"kind":"Status","message":"nodes is forbidden"})");
        return true;
    });
    EXPECT_TRUE(listener.until_pods("a"));
    while (source->states().at(1).fault.empty()) std::this_thread::yield();
    EXPECT_NE(source->states()[1].fault.find("grant watch of nodes"), std::string::npos) << source->states()[1].fault;
    EXPECT_EQ(source->states()[0].fault, "");
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.current == true && !set.node; }));
}

TEST_F(ApiNodeTest, AfterACutWhatWasHeardStaysAndIsOld) {
    std::atomic<int> watches = 0;
    Gate heard;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        if (watches++ > 0) {
            to.hold();
            return false;
        }
        to.begin();
        to.chunk(event_json("ADDED", node_json("n1", no_execute, is_ready)));
        EXPECT_TRUE(heard.pass());
        to.chunk(R"({"type":"MODIFIED","object":{"metadata":{"na)");
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && set.node->current; }));
    heard.open();
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return set.node && !set.node->current && set.node->taints.size() == 1 && set.current == true;
    }));
}

// Another server behind the same address, whose cache is behind: the taint was lifted since.
TEST_F(ApiNodeTest, AnOlderObjectIsNotTakenAndIsNotUpToDate) {
    std::atomic<int> watches = 0;
    Gate catch_up;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        const int number = watches++;
        to.begin();
        if (number == 0) {
            to.chunk(event_json("ADDED", node_json("n1", "", is_ready, "10")) + R"({"type":"MODIFIED","obj)");
            return false;
        }
        if (number > 2) (void)catch_up.pass();
        to.chunk(number > 2
                     ? event_json("ADDED", node_json("n1", no_execute, is_ready, "11"))
                     : event_json(number == 1 ? "ADDED" : "DELETED", node_json("n1", no_execute, is_ready, "9")));
        to.hold();
        return false;
    });
    while (watches < 4) std::this_thread::yield();
    EXPECT_TRUE(listener.until(
        [](const port::PodSet& set) { return set.node && set.node->taints.empty() && !set.node->current; }));
    EXPECT_NE(source->states().at(1).fault.find("older than what was seen"), std::string::npos);
    bool was_there = true;
    catch_up.open();
    EXPECT_TRUE(listener.until([&](const port::PodSet& set) {
        was_there = was_there && set.node;
        return set.node && set.node->current && !set.node->taints.empty();
    }));
    EXPECT_TRUE(was_there);
}

TEST_F(ApiNodeTest, VersionsThatAreNoNumbersAreTaken) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.begin();
        to.chunk(event_json("ADDED", node_json("n1", "", is_ready, "b")) +
                 event_json("MODIFIED", node_json("n1", no_execute, is_ready, "a")));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && !set.node->taints.empty(); }));
}

TEST_F(ApiNodeTest, AnotherNodesObjectIsNotThisNodes) {
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.begin();
        to.chunk(event_json("ADDED", node_json("n2", no_execute, shuts_down)) +
                 event_json("ADDED", node_json("n1", "", is_ready)));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node.has_value(); }));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node->taints.empty(); }));
}

// Servers up to 1.20 send no bookmarks: one that is silent is asked for the node again, and what is known stays
// current.
TEST_F(ApiNodeTest, ASilentWatchIsMadeAgain) {
    node_times->silence = std::chrono::milliseconds(30);
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.begin();
        to.chunk(event_json("ADDED", node_json("n1", watches++ == 0 ? "" : no_execute, is_ready)));
        to.hold();
        return false;
    });
    bool was_current = true;
    EXPECT_TRUE(listener.until([&](const port::PodSet& set) {
        was_current = was_current && (!set.node || set.node->current);
        return set.node && !set.node->taints.empty();
    }));
    EXPECT_TRUE(was_current);
}

TEST_F(ApiNodeTest, AServerThatDoesNotBeginAnotherWatchIsNotUpToDate) {
    node_times->silence = node_times->probe = std::chrono::milliseconds(30);
    std::atomic<int> watches = 0;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        to.begin();
        if (watches++ == 0) to.chunk(event_json("ADDED", node_json("n1", no_execute, is_ready)));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return set.node && !set.node->current && set.node->taints.size() == 1 && set.current == true;
    }));
}

TEST_F(ApiNodeTest, ABookmarkBeforeTheObjectIsNoProof) {
    node_times->silence = node_times->probe = std::chrono::milliseconds(50);
    std::atomic<int> watches = 0;
    Gate cut;
    const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
        bool is_done = false;
        if (serve_pods(path, to, is_done)) return is_done;
        const int number = watches++;
        to.begin();
        if (number == 0) {
            to.chunk(event_json("ADDED", node_json("n1", no_execute, is_ready)));
            EXPECT_TRUE(cut.pass());
            to.chunk(R"({"type":"MODIFIED","object":{"metadata":{"na)");
            return false;
        }
        to.chunk(event_json("BOOKMARK", R"({"kind":"Node","metadata":{"resourceVersion":"8"}})"));
        to.hold();
        return false;
    });
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && set.node->current; }));
    cut.open();
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && !set.node->current; }));
    while (watches < 4) std::this_thread::yield();
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && !set.node->current; }));
}

// Kubelet.setNodeReadyCondition: one error as it is, several as a list.
TEST(NodeView, ShutsDownOnlyByTheKubeletsOwnError) {
    const auto shuts_down = [](const std::string& status, const std::string& reason, const std::string& message) {
        bool is_said = false;
        const auto ready = R"({"type":"Ready","status":")" + status + R"(","reason":")" + reason + R"(","message":")" +
                           message + R"("})";
        EXPECT_TRUE(read_json(node_json("n1", "", ready), "test", [&](const document::Value& node) -> Status {
            is_said = read_node_view(node).shutting_down;
            return {};
        }));
        return is_said;
    };
    const std::string word = "node is shutting down";
    EXPECT_TRUE(shuts_down("False", "KubeletNotReady", word));
    EXPECT_TRUE(shuts_down("False", "KubeletNotReady", "[PLEG is not healthy: x, " + word + "]"));
    EXPECT_TRUE(shuts_down("False", "KubeletNotReady", "[" + word + ", missing node capacity for resources: cpu]"));
    EXPECT_FALSE(shuts_down("True", "KubeletReady", word));
    EXPECT_FALSE(shuts_down("Unknown", "NodeStatusUnknown", word));
    EXPECT_FALSE(shuts_down("False", "NodeStatusNeverUpdated", word));
    EXPECT_FALSE(shuts_down("False", "KubeletNotReady", "pod says: " + word)) << "a text that only holds it";
    EXPECT_FALSE(shuts_down("False", "KubeletNotReady", "[a, pod says: " + word + ", b]"));
    EXPECT_FALSE(shuts_down("False", "KubeletNotReady", "[]"));
    EXPECT_FALSE(shuts_down("False", "KubeletNotReady", ""));
}

}  // namespace
}  // namespace evictd::kube
