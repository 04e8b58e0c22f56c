// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/surveyor.hpp"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

// Waits for surveys, however long they take.
class Surveys {
public:
    void put(const SurveyPtr& survey) {
        const std::scoped_lock lock(mutex_);
        newest_ = survey;
        changed_.notify_all();
    }
    [[nodiscard]] bool await(const std::function<bool(const Survey&)>& condition) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 60s, [&] { return newest_ && condition(*newest_); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    SurveyPtr newest_;
};

const SurveyedTree* find(const Survey& survey, const std::string& pod, TreeKind kind, const std::string& name) {
    for (const auto& surveyed : survey.pods) {
        if (surveyed.uid.value != pod) continue;
        for (const auto& tree : surveyed.trees) {
            if (tree.kind == kind && tree.name == name) return &tree;
        }
    }
    return nullptr;
}

class SurveyorTest : public testing::Test {
protected:
    SurveyorTest() {
        dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/cache/file", std::string(100000, 'x'));
        dir.write("pods/uid-1/etc-hosts", "127.0.0.1 localhost");
        dir.write("logs/default_web_uid-1/main/0.log", "text");
        dir.write("logs/default_web_uid-1/main/0.log.1", "text");
        dir.write("pods/uid-2/volumes/kubernetes.io~configmap/settings/key", "value");
    }
    [[nodiscard]] std::unique_ptr<Surveyor> make() {
        Surveyor::Options options;
        options.directories = {dir / "pods", dir / "logs"};
        options.list_period = 5ms;
        options.budget = {.share = 1, .shortest = 5ms};
        options.on_survey = [this](const SurveyPtr& survey) { surveys.put(survey); };
        auto made = Surveyor::make(clock, std::move(options));
        EXPECT_TRUE(made);
        return std::move(*made);
    }
    static bool is_measured(const Survey& survey) {
        return !survey.pods.empty() && std::all_of(survey.pods.begin(), survey.pods.end(), [](const SurveyedPod& pod) {
            return std::all_of(pod.trees.begin(), pod.trees.end(),
                               [](const SurveyedTree& tree) { return tree.usage.has_value(); });
        });
    }
    sys::SystemClock clock;
    fakes::TempDir dir;
    Surveys surveys;
};

TEST_F(SurveyorTest, MeasuresWhatPodsKeepOnDisk) {
    const auto began = clock.monotonic();
    const auto surveyor = make();
    ASSERT_TRUE(surveys.await(is_measured));
    const auto survey = surveyor->newest();
    EXPECT_EQ(survey->pods.size(), 2U);
    EXPECT_GE(survey->listed, began);
    const auto* cache = find(*survey, "uid-1", TreeKind::empty_dir, "cache");
    ASSERT_NE(cache, nullptr);
    EXPECT_TRUE(cache->usage->complete);
    EXPECT_EQ(cache->usage->inodes, 2);
    EXPECT_GE(cache->usage->used.value, 100000);
    EXPECT_GE(cache->usage->began, began);
    EXPECT_GE(cache->usage->ended, cache->usage->began);
    EXPECT_EQ(find(*survey, "uid-1", TreeKind::etc_hosts, "")->usage->inodes, 1);
    EXPECT_EQ(find(*survey, "uid-1", TreeKind::container_logs, "main")->usage->inodes, 3);
    EXPECT_EQ(find(*survey, "uid-1", TreeKind::pod_logs, "")->usage->inodes, 1);
    EXPECT_EQ(find(*survey, "uid-2", TreeKind::config_map, "settings")->usage->inodes, 2);
}

TEST_F(SurveyorTest, SeesGrowthNewPodsAndPodsThatWent) {
    const auto surveyor = make();
    ASSERT_TRUE(surveys.await(is_measured));
    dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/cache/more", std::string(3 << 20, 'x'));
    dir.write("pods/uid-3/volumes/kubernetes.io~empty-dir/new/file", "");
    std::filesystem::remove_all(dir / "pods/uid-2");
    EXPECT_TRUE(surveys.await([](const Survey& survey) {
        const auto* cache = find(survey, "uid-1", TreeKind::empty_dir, "cache");
        const auto* fresh = find(survey, "uid-3", TreeKind::empty_dir, "new");
        return cache != nullptr && cache->usage && cache->usage->used > 3_MiB && fresh != nullptr && fresh->usage &&
               find(survey, "uid-2", TreeKind::config_map, "settings") == nullptr;
    }));
}

// A pod that replaces what the runtime made, if it can: its row says so, and the others are as they were.
TEST_F(SurveyorTest, OneTreeThatCannotBeReadHasTroubleOfItsOwn) {
    std::filesystem::create_directory_symlink("/", dir / "logs/default_web_uid-1/link");
    dir.write("pods/uid-4/volumes/kubernetes.io~empty-dir/odd/file", "");
    const auto surveyor = make();
    ASSERT_TRUE(surveys.await(is_measured));
    std::filesystem::remove_all(dir / "logs/default_web_uid-1/main");
    std::filesystem::create_directory_symlink("/", dir / "logs/default_web_uid-1/main");
    EXPECT_TRUE(surveys.await([](const Survey& survey) {
        return find(survey, "uid-1", TreeKind::container_logs, "main") == nullptr && survey.trouble.empty();
    }));
    EXPECT_TRUE(surveys.await(is_measured));
    EXPECT_NE(find(*surveyor->newest(), "uid-4", TreeKind::empty_dir, "odd"), nullptr);
}

TEST_F(SurveyorTest, WithoutTheDirectoriesItSaysSo) {
    std::filesystem::remove_all(dir / "pods");
    std::filesystem::remove_all(dir / "logs");
    const auto surveyor = make();
    EXPECT_TRUE(surveys.await([&](const Survey& survey) {
        return survey.pods.empty() && survey.listed == MonotonicTime{} &&
               survey.trouble == dir / "pods" + ": No such file or directory";
    }));
}

TEST_F(SurveyorTest, ARefreshIsWalkedAtOnce) {
    Surveyor::Options options;
    options.directories = {dir / "pods", dir / "logs"};
    options.list_period = 1h;
    options.budget = {.share = 1e-6, .shortest = 1h};
    options.on_survey = [this](const SurveyPtr& survey) { surveys.put(survey); };
    const auto surveyor = Surveyor::make(clock, std::move(options));
    ASSERT_TRUE(surveyor);
    ASSERT_TRUE(surveys.await(is_measured));
    dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/cache/more", std::string(3 << 20, 'x'));
    (*surveyor)->refresh({"uid-1"});
    EXPECT_TRUE(surveys.await(
        [](const Survey& survey) { return find(survey, "uid-1", TreeKind::empty_dir, "cache")->usage->used > 3_MiB; }));
}

// Walked so slowly that none of six has an end; the threads would have them for as long as they take.
TEST_F(SurveyorTest, TreesWithoutAnEndDoNotKeepTheOthersFromBeingMeasured) {
    for (int pod = 0; pod < 6; ++pod) {
        const std::string cache = "pods/endless-" + std::to_string(pod) + "/volumes/kubernetes.io~empty-dir/cache/";
        for (int i = 0; i < 1500; ++i) dir.write(cache + std::to_string(i), "");
    }
    Surveyor::Options options;
    options.directories = {dir / "pods", dir / "logs"};
    options.walk_share = 1e-4;
    options.longest_walk = 300ms;
    options.on_survey = [this](const SurveyPtr& survey) { surveys.put(survey); };
    const auto surveyor = Surveyor::make(clock, std::move(options));
    ASSERT_TRUE(surveyor);
    ASSERT_TRUE(surveys.await(is_measured));
    const auto survey = (*surveyor)->newest();
    for (int pod = 0; pod < 6; ++pod) {
        const auto* tree = find(*survey, "endless-" + std::to_string(pod), TreeKind::empty_dir, "cache");
        EXPECT_FALSE(tree->usage->complete) << "or it was waited for";
        EXPECT_EQ(tree->usage->trouble, "it was not walked to its end in the time that a walk may take");
    }
    EXPECT_TRUE(find(*survey, "uid-1", TreeKind::empty_dir, "cache")->usage->complete);
}

TEST_F(SurveyorTest, EndsInTheMiddleOfItsWork) {
    for (int i = 0; i < 20; ++i) {
        const auto surveyor = make();
        EXPECT_TRUE(i % 2 == 0 || surveys.await([](const Survey& /*survey*/) { return true; }));
    }
}

}  // namespace
}  // namespace evictd::disk
