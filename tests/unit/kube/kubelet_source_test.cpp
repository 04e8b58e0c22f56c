// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's Pods API, and its /pods where that is not there or fails: which counts, and that none empties what is
// known.
#include "kube/kubelet_source.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cluster_pods_fixture.hpp"
#include "fakes/grpc_server.hpp"
#include "fakes/http_server.hpp"
#include "fakes/temp_dir.hpp"
#include "protobuf_bytes.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;
using proto::event;
using proto::Event;
using Call = fakes::GrpcServer::Call;

class KubeletSourceTest : public ::testing::Test {
protected:
    KubeletSourceTest() {
        directory.write("ca.crt", "any");
        web.emplace([this](const std::string&, const std::string&, const Connection& to) {
            polled++;
            if (polled == 1) before_reply();
            to.reply(polls_fail ? 500 : 200, list_json(polled_pods));
            return true;
        });
    }
    void TearDown() override {
        if (lane) lane->close();
        source.reset();
    }

    void start() {
        lane = std::move(*sys::Lane::make("test", sys::Loop::default_queue, sys::Lane::default_drain));
        lane->post([this] {
            const KubeletAddress address{
                .url = web->url(), .ca_file = directory / "ca.crt", .name = "n1", .pods_socket = socket};
            source.emplace(
                *lane, address, access, [this] { note(); }, times);
            source->set_period(period, is_alone);
            ASSERT_TRUE(source->start());
        });
    }
    // In the lane.
    void note() {
        std::string text;
        if (const auto* list = source->pods(); list != nullptr) {
            for (const auto& [uid, pod] : list->pods) text += pod->name + " ";
            for (const auto& [uid, error] : list->rejected) text += "!" + uid + " " + error.why + " ";
        }
        for (const auto& state : source->states()) {
            const bool is_socket = state.name == "kubelet " + socket;
            text += (is_socket ? "| socket " : "| /pods ") + state.fault + (state.fault.empty() ? "" : " ");
        }
        const std::scoped_lock lock(mutex);
        seen.push_back(text);
        noted.notify_all();
    }
    // Whatever was seen since the last that was met, and that too.
    testing::AssertionResult until(const std::string& wanted) {
        std::unique_lock lock(mutex);
        if (noted.wait_for(lock, patience, [&] { return has(wanted); })) return testing::AssertionSuccess();
        return testing::AssertionFailure() << (seen.empty() ? "nothing" : seen.back());
    }
    bool until_polled(int times_polled) const {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (polled < times_polled && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
        return polled >= times_polled;
    }
    bool has(const std::string& wanted) {
        const bool is_all = wanted.find('|') != std::string::npos;  // with all pods: no other comes before them
        const auto from = seen.begin() + static_cast<std::ptrdiff_t>(met);
        const auto at = std::find_if(from, seen.end(), [&](const std::string& text) {
            return is_all ? text.starts_with(wanted) : text.find(wanted) != std::string::npos;
        });
        if (at == seen.end()) return false;
        met = static_cast<std::size_t>(at - seen.begin());
        return true;
    }
    bool ever_saw(const std::string& text) {
        const std::scoped_lock lock(mutex);
        return std::any_of(seen.begin(), seen.end(),
                           [&](const std::string& one) { return one.find(text) != std::string::npos; });
    }
    static std::string list_of(const std::string& pods) { return pods + event(Event::initial_sync_complete); }

    fakes::TempDir directory;
    std::string socket = directory / "pods-api.sock";
    KubeletWatchTimes times{.first_back_off = 5ms, .absent = 5ms, .list_timeout = 2s, .resync = 1min};
    Duration period = 20ms;
    bool is_alone = false;
    std::atomic<int> polled = 0;
    std::atomic<bool> polls_fail = false;
    std::function<void()> before_reply = [] {};  // of the first
    std::string polled_pods = pod_json("p");
    AccessSource access{[]() -> Result<ApiAccess> {
        return ApiAccess{.server = {.url = "http://unused", .tls = {}}, .token_file = {}, .token = "t", .from = "test"};
    }};
    std::mutex mutex;
    std::condition_variable noted;
    std::vector<std::string> seen;
    std::size_t met = 0;
    std::optional<fakes::HttpServer> web;
    std::optional<KubeletSource> source;
    std::unique_ptr<sys::Lane> lane;
};

TEST_F(KubeletSourceTest, WatchesWhereTheSocketIsThere) {
    Gate change;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a")) + event(Event::added, proto::pod("b"))));
        change.pass();
        to.data(event(Event::deleted, proto::bytes(1, proto::bytes(1, "a") + proto::bytes(5, "uid-a"))) +
                event(Event::modified, proto::pod("b", "file")) + event(Event::added, proto::pod("c")) +
                event(static_cast<Event>(9)));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("a b | socket "));
    change.open();
    EXPECT_TRUE(until("b c | socket "));
    EXPECT_EQ(polled, 0) << "/pods is not asked beside it";
}

TEST_F(KubeletSourceTest, NoListCountsBeforeItIsComplete) {
    Gate rest;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        const auto bytes = list_of(event(Event::added, proto::pod("a")) + event(Event::added, proto::pod("b")));
        to.data(bytes.substr(0, bytes.size() - 1));
        rest.pass();
        to.data(bytes.substr(bytes.size() - 1));
        to.hold();
    });
    start();
    rest.open();
    EXPECT_TRUE(until("a b | socket "));
    EXPECT_FALSE(ever_saw("a |"));
}

TEST_F(KubeletSourceTest, AsksForPodsWhereThereIsNoSocket) {
    start();
    EXPECT_TRUE(until("p | /pods "));
    EXPECT_FALSE(ever_saw("socket")) << "the kubelet's default is no fault";
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a"))));
        to.hold();
    });
    EXPECT_TRUE(until("a | socket ")) << "it is looked for again";
}

TEST_F(KubeletSourceTest, AsksForPodsWhereTheServiceIsAnother) {
    const fakes::GrpcServer server(socket, [](const Call& to) { to.refuse(12, "unknown service v1alpha1.Pods"); });
    start();
    EXPECT_TRUE(until("p | /pods | socket refused: UNIMPLEMENTED: unknown service v1alpha1.Pods; its /pods is asked"));
}

TEST_F(KubeletSourceTest, AsksForPodsWhileTheKubeletStarts) {
    std::atomic<int> calls = 0;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        if (calls++ < 2) return to.refuse(9, "Kubelet is initializing");
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("a | socket "));
    EXPECT_TRUE(ever_saw("FAILED_PRECONDITION: Kubelet is initializing"));
}

// Each time it is told, the agent merges all pods anew.
TEST_F(KubeletSourceTest, AFaultThatLastsIsToldOnce) {
    polls_fail = true;
    start();
    ASSERT_TRUE(until("/pods refused: 500"));
    EXPECT_TRUE(until_polled(polled + 5));
    polls_fail = false;
    ASSERT_TRUE(until("p | /pods "));
    polls_fail = true;
    ASSERT_TRUE(until("/pods refused: 500"));
    lane->close();
    const auto is_fault = [](const std::string& one) { return one.find("refused: 500") != std::string::npos; };
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(), is_fault), 2);
}

TEST_F(KubeletSourceTest, AStreamThatIsCutKeepsItsPodsUntilThereIsAnAnswer) {
    polls_fail = true;
    std::optional<fakes::GrpcServer> server;
    server.emplace(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("a | socket "));
    server.reset();
    EXPECT_TRUE(until("a | /pods refused: 500"));
    polls_fail = false;
    EXPECT_TRUE(until("p | /pods "));
    for (const auto& text : seen) EXPECT_FALSE(text.starts_with("|") && text != seen.front()) << text;
    server.emplace(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("b"))));
        to.hold();
    });
    EXPECT_TRUE(until("b | socket ")) << "a kubelet that was started again";
}

TEST_F(KubeletSourceTest, AStreamThatEndsOrIsNoneIsAFault) {
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a"))));
        to.end(8);
        to.hold();
    });
    start();
    EXPECT_TRUE(until("refused: RESOURCE_EXHAUSTED"));
}

TEST_F(KubeletSourceTest, WithoutItsOriginNoPodCounts) {
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod("a", ""))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("p | /pods | socket does not say where a pod comes from"));
    EXPECT_FALSE(ever_saw("a |"));
}

TEST_F(KubeletSourceTest, AnEventWithoutATypeIsNotGuessed) {
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::unspecified, proto::pod("a"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("p | /pods | socket sent an event without a type"));
}

TEST_F(KubeletSourceTest, APodThatCannotBeReadStaysAsItWas) {
    std::atomic<int> calls = 0;
    times.resync = 20ms;
    const auto large = proto::pod("a", "api", proto::bytes(99, std::string(3 << 20, 'x')));
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, calls++ == 0 ? proto::pod("a") : large) +
                        event(Event::added, proto::pod("b", "api", "\x0f"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("a !uid-b cannot be read: has an invalid wire type | socket "));
    EXPECT_TRUE(until("a !uid-a cannot be read: it is too large !uid-b cannot be read: has an invalid wire type"));
}

TEST_F(KubeletSourceTest, IsReadAgainNowAndThen) {
    std::atomic<int> calls = 0;
    times.resync = 20ms;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod(calls++ == 0 ? "a" : "b"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("b | socket ")) << "a deletion that was not told";
    EXPECT_EQ(polled, 0);
}

TEST_F(KubeletSourceTest, AListThatIsNotCompletedInTimeIsAFault) {
    times.list_timeout = 50ms;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(event(Event::added, proto::pod("a")));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("p | /pods | socket its list of pods is incomplete after "));
}

// A kubelet that starts without the API server may have only the pods of files.
TEST_F(KubeletSourceTest, WhileItIsAloneMissingPodsStayKnown) {
    std::atomic<int> calls = 0;
    times.resync = 20ms;
    is_alone = true;
    const fakes::GrpcServer server(socket, [&](const Call& to) {
        to.begin();
        to.data(list_of(event(Event::added, proto::pod(calls++ == 0 ? "a" : "b"))));
        to.hold();
    });
    start();
    EXPECT_TRUE(until("a b | socket "));
    lane->post([this] { source->set_period(20ms, false); });
    std::unique_lock lock(mutex);
    EXPECT_TRUE(noted.wait_for(lock, patience, [&] { return seen.back() == "b | socket "; })) << seen.back();
}

// The API server is away: what was planned while it was there is too late.
TEST_F(KubeletSourceTest, AShorterPeriodMovesThePlannedRequest) {
    period = 1h;
    start();
    EXPECT_TRUE(until("p | /pods "));
    EXPECT_EQ(polled, 1);
    lane->post([this] { source->set_period(20ms, true); });
    EXPECT_TRUE(until_polled(3));
}

TEST_F(KubeletSourceTest, AShorterPeriodDoesNotAskASecondTimeWhileARequestIsUnderWay) {
    period = 1h;
    Gate is_over;
    before_reply = [&] {
        lane->post([this] { source->set_period(1ms, true); });
        std::this_thread::sleep_for(100ms);
        EXPECT_EQ(polled, 1);
        is_over.open();
    };
    start();
    EXPECT_TRUE(is_over.pass());
}

TEST_F(KubeletSourceTest, ALongerPeriodDoesNotPostponeThePlannedRequest) {
    period = 1s;
    start();
    EXPECT_TRUE(until("p | /pods "));
    lane->post([this] { source->set_period(1h, false); });
    EXPECT_TRUE(until_polled(2));
}

TEST_F(KubeletSourceTest, ASocketThatOthersMayReplaceIsNotBelieved) {
    std::atomic<int> calls = 0;
    const fakes::GrpcServer server(socket, [&](const Call&) { calls++; });
    ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    start();
    EXPECT_TRUE(until(
        "p | /pods | socket others may write to it (the socket must be in a directory that only root can write to"));
    EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace evictd::kube
