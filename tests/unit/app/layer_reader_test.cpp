// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When the runtime is asked for layers and for names of pods, in the reader's thread.
#include "app/layer_reader.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_container_runtime.hpp"
#include "sys/clock.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

struct LayerReaderTest : testing::Test {
    LayerReaderTest() {
        auto made = std::make_unique<fakes::FakeContainerRuntime>();
        runtime = made.get();
        RuntimeSandbox sandbox;
        sandbox.id = "s1";
        sandbox.pod = "u1";
        sandbox.name = "web";
        sandbox.namespace_name = "default";
        runtime->all_sandboxes = {sandbox};
        runtime->all_filesystems.images = {{.directory = "/images"}};
        runtime->before = [this](const std::string& call) {
            if (call == "layers") ++layer_lists;
            if (call == "filesystems") ++tries;
            if (call == "sandboxes") ++lists;
            runtime->fails.clear();
            if (is_down) runtime->fails.emplace(call, Error{ErrorKind::unreachable, "runtime", "no answer", ""});
        };
        reader = std::move(*LayerReader::make(std::move(made), clock,
                                              {.changed = [] {},
                                               .filesystems = [](auto&) { return true; },
                                               .missing = [](auto&) { return true; },
                                               .longest_pause_after_failure = 20ms}));
    }
    template <class Holds>
    static bool wait_for(Holds holds) {
        const auto end = std::chrono::steady_clock::now() + 5s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }

    sys::SystemClock clock;
    fakes::FakeContainerRuntime* runtime = nullptr;
    std::atomic<int> lists = 0;
    std::atomic<int> layer_lists = 0;
    std::atomic<int> tries = 0;  // of one that is not heard
    std::atomic<bool> is_down = false;
    std::unique_ptr<LayerReader> reader;
};

TEST_F(LayerReaderTest, NamesAreKnownAtTheStartAndAskedForOnceForAllWhoAsk) {
    ASSERT_TRUE(wait_for([&] { return reader->names() != nullptr; }));
    EXPECT_EQ(named_pod(reader->names().get(), {"u1"})->full_name(), "default/web");
    for (int i = 0; i < 1000; i++) reader->ask_names();
    ASSERT_TRUE(wait_for([&] { return lists == 2; }));
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(lists, 2);
}

TEST_F(LayerReaderTest, NamesStayWhenTheRuntimeDoesNotAnswer) {
    ASSERT_TRUE(wait_for([&] { return reader->names() != nullptr; }));
    is_down = true;
    reader->ask_names();
    ASSERT_TRUE(wait_for([&] { return reader->trouble().find("no answer") != std::string::npos; }));
    EXPECT_NE(named_pod(reader->names().get(), {"u1"}), nullptr);
}

TEST_F(LayerReaderTest, AShorterPaceDoesNotWaitForTheLongerOneToEnd) {
    ASSERT_TRUE(wait_for([&] { return reader->newest() != nullptr; }));
    ASSERT_TRUE(reader->set_pace(1h));
    EXPECT_EQ(layer_lists, 1);
    ASSERT_TRUE(reader->set_pace(20ms));
    ASSERT_TRUE(wait_for([&] { return layer_lists >= 4; }));
    ASSERT_TRUE(reader->set_pace(1h));
    const int until_then = layer_lists;
    std::this_thread::sleep_for(100ms);
    EXPECT_LE(layer_lists, until_then + 1) << "the one that was due already";
}

// It counts from the last request: else an agent that wants one pace and another in turn would never have a list.
TEST_F(LayerReaderTest, APaceThatIsSetAgainAndAgainPutsNoListOff) {
    ASSERT_TRUE(wait_for([&] { return reader->newest() != nullptr; }));
    EXPECT_TRUE(wait_for([&] {
        EXPECT_TRUE(reader->set_pace(200ms));
        EXPECT_TRUE(reader->set_pace(100ms));
        return layer_lists >= 4;
    }));
}

TEST_F(LayerReaderTest, ARuntimeThatIsSilentIsAskedSoonerThanAtRest) {
    ASSERT_TRUE(wait_for([&] { return reader->newest() != nullptr; }));
    ASSERT_TRUE(reader->set_pace(1h));
    is_down = true;
    reader->ask();
    EXPECT_TRUE(wait_for([&] { return tries >= 5; }));
    EXPECT_FALSE(reader->trouble().empty());
    is_down = false;
    EXPECT_TRUE(wait_for([&] { return reader->trouble().empty(); }));
}

}  // namespace
}  // namespace evictd::app
