// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A server is asked less and less often, and soon again once it is back.
#include "kube/retry_pace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster_pods_fixture.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

void expect_from(Duration pause, Duration from) {
    EXPECT_GE(pause, from);
    EXPECT_LT(pause, 2 * from) << "with up to as much again";
}

TEST(RetryPace, IsTwiceAsLateWithEachFailure) {
    RetryPace pace(1s, 5s);
    for (const Duration from : std::array<Duration, 5>{1s, 2s, 4s, 5s, 5s})
        expect_from(pace.after_failure(false), from);
    pace.reset();
    expect_from(pace.after_failure(false), 1s);
}

TEST(RetryPace, AnOutageDoesNotCountAgainstAServerThatIsBack) {
    RetryPace pace(1s, 30s);
    for (int i = 0; i < 9; ++i) (void)pace.after_failure(false);
    expect_from(pace.after_failure(true), 1s);
    expect_from(pace.after_failure(true), 2s);
    expect_from(pace.after_failure(false), 4s);
}

// Refuses a request, cuts seven (the last pause is 640 ms at least), and then refuses five: when they came.
class ServerIsBack : public ClusterPodsTest {
protected:
    // False: all of that is done.
    bool was_away(const Connection& to, bool& is_done) {
        const int request = requests++;
        is_done = false;
        if (request > 0 && request <= 7) return true;
        if (request > 0) {
            const std::scoped_lock lock(mutex);
            came.push_back(sys::SystemClock().monotonic());
        }
        if (request > 12) return false;
        if (cuts_answers) {
            to.begin();
            return true;
        }
        to.reply(403, R"({"kind":"Status","message":"forbidden"})");
        is_done = true;
        return true;
    }
    // The shortest of five: one is longer where the machine is busy.
    Duration shortest_pause() {
        const std::scoped_lock lock(mutex);
        Duration shortest = Duration::max();
        for (std::size_t i = 1; i < came.size(); ++i) shortest = std::min(shortest, came[i] - came[i - 1]);
        return shortest;
    }
    void serve_pods_late() {
        streams_lists = true;
        const auto served = serve([&](const std::string&, const std::string&, const Connection& to) {
            bool is_done = false;
            if (was_away(to, is_done)) return is_done;
            to.begin();
            to.chunk(event_json("ADDED", pod_json("a")) + end_of_list_json("20"));
            to.hold();
            return false;
        });
        EXPECT_TRUE(listener.until_pods("a"));
        EXPECT_LT(shortest_pause(), 640ms);
    }
    void serve_node_late() {
        node_times = ApiNodeTimes{.first_back_off = 10ms};
        const auto served = serve([&](const std::string&, const std::string& path, const Connection& to) {
            bool is_done = false;
            if (path.find("/nodes") == std::string::npos) return serve_one_pod(path, to);
            if (was_away(to, is_done)) return is_done;
            to.begin();
            to.chunk(event_json("ADDED", R"({"metadata":{"name":"n1","resourceVersion":"1"}})"));
            to.hold();
            return false;
        });
        EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.node && set.node->current; }));
        EXPECT_LT(shortest_pause(), 640ms);
    }
    bool cuts_answers = false;  // begins one, instead of a refusal
    std::atomic<int> requests = 0;
    std::mutex mutex;
    std::vector<MonotonicTime> came;
};

TEST_F(ServerIsBack, ThePodsAreAskedForSoonAfterARefusal) { serve_pods_late(); }

TEST_F(ServerIsBack, ThePodsAreAskedForSoonAfterAnAnswerThatIsCut) {
    cuts_answers = true;
    serve_pods_late();
}

TEST_F(ServerIsBack, TheNodeIsAskedForSoonAfterARefusal) { serve_node_late(); }

TEST_F(ServerIsBack, TheNodeIsAskedForSoonAfterAnAnswerThatIsCut) {
    cuts_answers = true;
    serve_node_late();
}

}  // namespace
}  // namespace evictd::kube
