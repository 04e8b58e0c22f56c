// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files that change as editors, scripts and ConfigMap volumes change them, on a real file system.
#include "app/config_reader.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include "fakes/temp_dir.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ConfigReaderTest : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) { std::ofstream(directory_ / name) << text; }

    void start(const std::string& file, ConfigReader::Needs needs = {}) {
        const auto path = directory_ / file;
        needs.files = {path};
        needs.stamp = config_stamp(needs.files);
        needs.pause = 10ms;
        needs.read = [path](const auto& kubelet) { return config::reload_files(std::nullopt, path, kubelet); };
        needs.deliver = [this](const config::ConfigOutcome& outcome) {
            note(outcome ? "grace " + to_string(outcome->eviction.pressure_transition_period) : "refused");
        };
        auto made = ConfigReader::make(std::move(needs));
        ASSERT_TRUE(made);
        reader_ = std::move(*made);
    }

    void note(const std::string& word) {
        const std::scoped_lock lock(mutex_);
        heard_.push_back(word);
        changed_.notify_all();
    }

    // All that was delivered, once there are so many. It is a failure if that takes 20 s.
    std::vector<std::string> heard(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, 20s, [&] { return heard_.size() >= count; });
        return heard_;
    }

    static std::string transition(const std::string& period) {
        return "evictionPressureTransitionPeriod: " + period + "\n";
    }

    fakes::TempDir directory_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> heard_;
    std::unique_ptr<ConfigReader> reader_;  // last: its thread uses the others
};

TEST_F(ConfigReaderTest, AFileThatIsWrittenAnewOrReplacedIsRead) {
    write("config.yaml", transition("1m"));
    start("config.yaml");
    write("config.yaml", transition("2m"));
    EXPECT_THAT(heard(1), ElementsAre("grace 2m0s"));
    write("new", transition("3m"));
    std::filesystem::rename(directory_ / "new", directory_ / "config.yaml");
    EXPECT_THAT(heard(2), ElementsAre("grace 2m0s", "grace 3m0s"));
}

// AtomicWriter of the kubelet: a new directory, and a rename over the link to it.
TEST_F(ConfigReaderTest, AConfigMapVolumeIsReadWhenItsLinkIsSwapped) {
    namespace fs = std::filesystem;
    const fs::path volume = directory_ / "volume";
    fs::create_directories(volume / "..first");
    write("volume/..first/config.yaml", transition("1m"));
    fs::create_directory_symlink("..first", volume / "..data");
    fs::create_symlink("..data/config.yaml", volume / "config.yaml");
    start("volume/config.yaml");
    fs::create_directories(volume / "..second");
    write("volume/..second/config.yaml", transition("2m"));
    fs::create_directory_symlink("..second", volume / "..data_tmp");
    fs::rename(volume / "..data_tmp", volume / "..data");
    fs::remove_all(volume / "..first");
    EXPECT_THAT(heard(1), ElementsAre("grace 2m0s"));
}

TEST_F(ConfigReaderTest, ABadFileIsRefusedAndTheNextGoodOneIsRead) {
    write("config.yaml", transition("1m"));
    start("config.yaml");
    write("config.yaml", "evictionHard: {memory.available: lots}\n");
    EXPECT_THAT(heard(1), ElementsAre("refused"));
    write("config.yaml", transition("2m"));
    EXPECT_THAT(heard(2), ElementsAre("refused", "grace 2m0s"));
}

TEST_F(ConfigReaderTest, AFileThatVanishesIsRefusedUntilItIsBack) {
    write("config.yaml", transition("1m"));
    start("config.yaml");
    std::filesystem::remove(directory_ / "config.yaml");
    EXPECT_THAT(heard(1), ElementsAre("refused"));
    write("config.yaml", transition("2m"));
    EXPECT_THAT(heard(2), ElementsAre("refused", "grace 2m0s"));
}

// A copy onto a full disk truncates it; an empty file would be the defaults.
TEST_F(ConfigReaderTest, AFileThatIsSuddenlyEmptyIsRefusedUnlessItIsAskedFor) {
    write("config.yaml", transition("1m"));
    start("config.yaml");
    write("config.yaml", "");
    EXPECT_THAT(heard(1), ElementsAre("refused"));
    reader_->read_now();
    EXPECT_THAT(heard(2), ElementsAre("refused", "grace 5m0s"));
}

// An empty beginning is a valid configuration with other thresholds.
TEST_F(ConfigReaderTest, AFileThatIsBeingWrittenIsNotReadBeforeItIsClosed) {
    write("config.yaml", transition("1m"));
    start("config.yaml");
    std::ofstream slow(directory_ / "config.yaml");
    slow << std::flush;
    reader_->read_now();  // the lane has seen that it was truncated when this is answered
    EXPECT_EQ(heard(1).size(), 1U);
    slow << transition("2m") << std::flush;
    slow.close();
    EXPECT_EQ(heard(2).back(), "grace 2m0s");
}

TEST_F(ConfigReaderTest, WhatChangedBetweenTheStartAndTheFirstLookIsRead) {
    write("config.yaml", transition("1m"));
    const auto path = directory_ / "config.yaml";
    const auto stamp = config_stamp({path});
    write("config.yaml", transition("2m30s"));
    EXPECT_NE(config_stamp({path}), stamp);
}

TEST_F(ConfigReaderTest, TheKubeletIsAskedWhenItIsHeardAgainAndAChangeIsMerged) {
    write("config.yaml", "");
    std::atomic<bool> heard_of{true};
    std::mutex answers;
    std::string answer = R"({"kubeletconfig":{"evictionPressureTransitionPeriod":"1m"}})";
    start("config.yaml", {.ask_kubelet = [&]() -> Result<std::string> {
                              const std::scoped_lock lock(answers);
                              return answer;
                          },
                          .is_kubelet_heard = [&] { return heard_of.load(); },
                          .merges_kubelet = true,
                          .on_kubelet = [this](const config::KubeletText&) { note("kubelet"); }});
    EXPECT_THAT(heard(2), ElementsAre("kubelet", "grace 1m0s"));
    heard_of = false;
    {
        const std::scoped_lock lock(answers);
        answer = R"({"kubeletconfig":{"evictionPressureTransitionPeriod":"2m"}})";
    }
    write("config.yaml", "imageGCHighThresholdPercent: 90\n");  // a look happened meanwhile
    EXPECT_THAT(heard(3), ElementsAre("kubelet", "grace 1m0s", "grace 1m0s"));
}

// It is asked as soon as it is heard, and its answer counts although it is the same.
TEST_F(ConfigReaderTest, AnAnswerThatWasKeptIsConfirmedByTheNext) {
    write("config.yaml", "");
    const std::string answer = R"({"kubeletconfig":{"evictionPressureTransitionPeriod":"1m"}})";
    start("config.yaml", {.ask_kubelet = [=] { return Result<std::string>(answer); },
                          .is_kubelet_heard = [] { return true; },
                          .kubelet = config::KubeletText{"kept", answer},
                          .is_kubelet_kept = true,
                          .merges_kubelet = true,
                          .keep_kubelet = [=, this](const std::string& text) { note(text == answer ? "kept" : text); },
                          .on_kubelet = [this](const config::KubeletText& kubelet) { note(kubelet.name); }});
    EXPECT_THAT(heard(3), ElementsAre("kept", "the kubelet's /configz", "grace 1m0s"));
}

TEST_F(ConfigReaderTest, WhatIsKnownAtTheStartIsKeptAndWhatIsNoConfigurationIsNot) {
    write("config.yaml", "");
    start("config.yaml", {.ask_kubelet = [] { return Result<std::string>("<html>"); },
                          .is_kubelet_heard = [] { return true; },
                          .kubelet_listener = [starts = 0]() mutable { return std::to_string(++starts); },
                          .kubelet = config::KubeletText{"/configz", "known"},
                          .merges_kubelet = true,
                          .keep_kubelet = [this](const std::string& text) { note(text); },
                          .on_kubelet = [this](const config::KubeletText&) { note("kubelet"); }});
    EXPECT_THAT(heard(2), ElementsAre("known", "refused"));
}

// Between two lists of its pods, which are minutes apart.
TEST_F(ConfigReaderTest, AKubeletThatListensAnewIsAskedAgain) {
    write("config.yaml", "");
    std::atomic<int> answers{0};
    start("config.yaml",
          {.ask_kubelet =
               [&] {
                   return Result<std::string>(R"({"kubeletconfig":{"evictionPressureTransitionPeriod":")" +
                                              std::to_string(++answers) + R"(m"}})");
               },
           .is_kubelet_heard = [] { return true; },
           .kubelet_listener = [&] { return answers == 0 ? "one" : "another"; },
           .merges_kubelet = true,
           .on_kubelet = [](const config::KubeletText&) {},
           .look_period = 50ms});
    EXPECT_THAT(heard(2), ElementsAre("grace 1m0s", "grace 2m0s"));
}

// What was known of it before is kept: a file that changes then is read over that.
TEST_F(ConfigReaderTest, AReplyOfTheKubeletsThatIsNoConfigurationIsRefusedAndNotKept) {
    write("config.yaml", "");
    start("config.yaml", {.ask_kubelet = [] { return Result<std::string>("<html>"); },
                          .is_kubelet_heard = [] { return true; },
                          .merges_kubelet = true,
                          .on_kubelet = [this](const config::KubeletText&) { note("kubelet"); }});
    EXPECT_THAT(heard(1), ElementsAre("refused"));
    write("config.yaml", transition("2m"));
    EXPECT_THAT(heard(2), ElementsAre("refused", "grace 2m0s"));
}

// Another program writes beside it without a pause.
TEST_F(ConfigReaderTest, ABusyDirectoryDoesNotPutItOffForEver) {
    write("config.yaml", transition("1m"));
    start("config.yaml", {.longest_write = 50ms});
    std::atomic<bool> is_read{false};
    std::thread busy([&] {
        for (int i = 0; !is_read; i++) write("other", std::to_string(i));
    });
    write("config.yaml", transition("2m"));
    EXPECT_THAT(heard(1), ElementsAre("grace 2m0s"));
    is_read = true;
    busy.join();
}

}  // namespace
}  // namespace evictd::app
