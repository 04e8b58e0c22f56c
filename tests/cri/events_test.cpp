// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Events of a real containerd, or its word that it has none.
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cri/event_stream.hpp"
#include "runtime_fixture.hpp"
#include "sys/lane.hpp"

namespace evictd::cri_test {
namespace {

using Kind = RuntimeEvent::Kind;
using State = port::RuntimeEvents::State;

struct EventsTest : RuntimeFixture {
    EventsTest() : lane(std::move(*sys::Lane::make("test-events"))) {
        EXPECT_TRUE(lane->post([this] {
            stream.emplace(*lane, socket, cri::EventTimes{.first_back_off = 50ms});
            EXPECT_TRUE(stream->start(
                [this](const RuntimeEvent& event) { note([&] { events.push_back(event); }); },
                [this](State state, const std::optional<Error>& /*why*/) { note([&] { states.push_back(state); }); }));
        }));
    }
    void TearDown() override {
        (void)lane->post([this] { stream.reset(); });
        lane->close();  // before its pointer is null
        RuntimeFixture::TearDown();
    }
    void note(const std::function<void()>& what) {
        const std::scoped_lock lock(mutex);
        what();
        changed.notify_all();
    }
    bool sees(const std::function<bool()>& holds) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 60s, holds);
    }
    bool sees(const std::string& id, Kind kind) {
        return sees([&] {
            return std::any_of(events.begin(), events.end(),
                               [&](const RuntimeEvent& event) { return event.id == id && event.kind == kind; });
        });
    }
    bool is_in(State state) {
        return sees([&] { return !states.empty() && states.back() == state; });
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<RuntimeEvent> events;
    std::vector<State> states;
    std::optional<cri::EventStream> stream;
    std::unique_ptr<sys::Lane> lane;
};

TEST_F(EventsTest, TellOfAContainersLife) {
    if (!*runtime->has_events()) {
        EXPECT_TRUE(is_in(State::unsupported));
        return;
    }
    ASSERT_TRUE(is_in(State::listening));
    const auto container = run("life");
    EXPECT_TRUE(sees(container, Kind::created));
    EXPECT_TRUE(sees(container, Kind::started));
    ASSERT_TRUE(runtime->stop_container(container, 0s));
    EXPECT_TRUE(sees(container, Kind::stopped));
    ASSERT_TRUE(runtime->remove_container(container));
    EXPECT_TRUE(sees(container, Kind::deleted));
    const auto pod = sandbox_of(run("other"));
    EXPECT_TRUE(sees(pod, Kind::created)) << "a sandbox's own";
    const std::scoped_lock lock(mutex);
    for (const auto& event : events) {
        if (event.id == container && event.kind != Kind::deleted) {
            EXPECT_EQ(event.pod, "uid-life");
        }
    }
}

TEST_F(EventsTest, AreListenedToAgainAfterARestart) {
    if (!*runtime->has_events()) return;
    ASSERT_TRUE(is_in(State::listening));
    kill_containerd();
    EXPECT_TRUE(is_in(State::down));
    start_containerd();
    EXPECT_TRUE(is_in(State::listening));
    const auto container = run("again");
    EXPECT_TRUE(sees(container, Kind::started));
}

}  // namespace
}  // namespace evictd::cri_test
