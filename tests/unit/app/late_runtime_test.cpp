// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a runtime that comes late, goes and comes back is told of. The real one is in tests/cri.
#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/layer_reader.hpp"
#include "fakes/fake_container_runtime.hpp"
#include "fakes/shared_clock.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LateRuntimeTest : public testing::Test {
protected:
    LateRuntimeTest() { runtime->all_filesystems.images = {{.directory = "/var/lib/runtime"}}; }
    // With a second answer, after which the thread has nothing left to do.
    void start() {
        reader = std::move(*LayerReader::make(std::move(owned), clock, options()));
        wait();
        ask();
    }
    LayerReader::Options options() {
        return {.changed = [this] { answered.release(); },
                .filesystems =
                    [this](const auto& found) {
                        filesystems.push_back(found.images.front().directory);
                        return takes;
                    },
                .missing =
                    [this](const std::string& trouble) {
                        if (takes) told.push_back(trouble);
                        return takes;
                    }};
    }
    // Until the thread, which then waits, has asked once more.
    void wait() { answered.acquire(); }
    void ask() {
        reader->ask();
        wait();
    }
    void is_away() { runtime->fails["containers"] = runtime->fails["filesystems"] = away; }
    void is_there() { runtime->fails.clear(); }

    const Error away{ErrorKind::unreachable, "container runtime", "none yet", ""};
    // So late that nothing is asked for by itself.
    fakes::SharedClock clock{MonotonicTime{std::chrono::years(50)}};
    std::unique_ptr<fakes::FakeContainerRuntime> owned = std::make_unique<fakes::FakeContainerRuntime>();
    fakes::FakeContainerRuntime* runtime = owned.get();  // the thread's while it asks
    std::binary_semaphore answered{0};
    std::vector<std::string> filesystems;
    std::vector<std::string> told;
    bool takes = true;
    std::unique_ptr<LayerReader> reader;  // the last member: its thread uses the others
};

TEST_F(LateRuntimeTest, OneThatIsThereIsNoNews) {
    start();
    ask();
    EXPECT_THAT(told, IsEmpty());
    EXPECT_THAT(filesystems, ElementsAre("/var/lib/runtime")) << "asked for once";
}

TEST_F(LateRuntimeTest, OneThatComesLateIsMissingOnceAndThenThere) {
    is_away();
    start();
    ask();
    EXPECT_THAT(told, ElementsAre(HasSubstr("none yet")));
    EXPECT_THAT(filesystems, IsEmpty());
    EXPECT_EQ(reader->newest(), nullptr);
    is_there();
    ask();
    EXPECT_THAT(told, ElementsAre(HasSubstr("none yet"), ""));
    EXPECT_THAT(filesystems, ElementsAre("/var/lib/runtime"));
    EXPECT_NE(reader->newest(), nullptr);
}

TEST_F(LateRuntimeTest, OneThatIsStartedAgainIsNotMissing) {
    start();
    is_away();
    clock.advance(59s);
    ask();
    is_there();
    runtime->all_filesystems.images = {{.directory = "/var/lib/other"}};
    ask();
    EXPECT_THAT(told, IsEmpty());
    EXPECT_THAT(filesystems, ElementsAre("/var/lib/runtime", "/var/lib/other"));
    is_away();
    clock.advance(61s);
    ask();
    EXPECT_THAT(told, ElementsAre(HasSubstr("none yet")));
}

TEST_F(LateRuntimeTest, WhatWasNotTakenIsToldAgain) {
    is_away();
    takes = false;
    start();
    takes = true;
    ask();
    ask();
    EXPECT_THAT(told, ElementsAre(HasSubstr("none yet")));
}

TEST_F(LateRuntimeTest, FilesystemsThatCannotBeTakenAreToldAgain) {
    takes = false;
    start();
    takes = true;
    ask();
    ask();
    EXPECT_THAT(filesystems, ElementsAre("/var/lib/runtime", "/var/lib/runtime", "/var/lib/runtime"));
}

TEST_F(LateRuntimeTest, FilesystemsThatItDoesNotKnowYetAreAskedForAgain) {
    runtime->all_filesystems.images.clear();
    start();
    EXPECT_THAT(filesystems, IsEmpty());
    runtime->all_filesystems.images = {{.directory = "/var/lib/runtime"}};
    ask();
    ask();
    EXPECT_THAT(filesystems, ElementsAre("/var/lib/runtime"));
}

}  // namespace
}  // namespace evictd::app
