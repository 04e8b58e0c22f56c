// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is remembered of the last half minute, and to which records it is added.
#include "publish/flight_recorder.hpp"

#include <gmock/gmock.h>

#include "codec/event_id.hpp"
#include "publish/history_samples.hpp"
#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const std::vector<HistoryPtr>& histories(const RecordPtr& record) { return std::get<Tick>(*record).histories; }

Tick moved(Tick tick, Duration by) {
    tick.observation.at += by;
    tick.observation.wall += by;
    return tick;
}

// A quiet look so long before the eviction of sample::evicting().
RecordPtr quiet(Duration before, Bytes hog = 100_MiB) {
    auto tick = moved(sample::calm(), -before);
    tick.observation.pods[0].usage->working_set = hog;
    return shared(std::move(tick));
}

Tick evicting() {
    auto tick = sample::evicting();
    tick.decision.in_flight = {sample::victim()};
    return tick;
}

std::string place(Signal /*signal*/, const RankedPod& ranked, const Observation& /*observation*/) {
    return ranked.exemption == Exemption::critical ? "critical" : "";
}

struct Recorder {
    std::vector<MemorySample> kernel{};
    StatusBoard board{
        {.status = {}, .eviction = {.thresholds = {sample::threshold(100_MiB), sample::threshold(500_MiB, 90s)}}}};
    FlightRecorder recorder{{.board = board, .place = place, .kernel_samples = [this] { return kernel; }}};

    RecordPtr tell(const RecordPtr& record) { return recorder.complete(record); }
};

TEST(FlightRecorder, AQuietRecordGoesOnAsItCame) {
    Recorder one;
    const auto record = quiet(0s);
    EXPECT_EQ(one.tell(record), record);
}

TEST(FlightRecorder, AnEvictionCarriesWhatLedToIt) {
    Recorder one;
    one.kernel = {{sample::monotonic(980s), 800_MiB, {}}, {sample::monotonic(999'900ms), 90_MiB, {}}};
    (void)one.tell(quiet(20s));
    const auto told = one.tell(shared(evicting()));
    ASSERT_EQ(histories(told).size(), 1U);
    const auto& history = *histories(told)[0];
    EXPECT_EQ(history.id, codec::eviction_id({"uid-hog"}, sample::fell_below()));
    EXPECT_EQ(history.start, sample::start() - 30s);
    EXPECT_EQ(history.step, 200ms);
    ASSERT_EQ(history.available.size(), 151U);
    EXPECT_EQ(history.available[50], (800_MiB).value);
    EXPECT_EQ(history.available[51], std::nullopt);
    EXPECT_EQ(history.available[149], (90_MiB).value);
    EXPECT_EQ(history.available[150], (95_MiB).value) << "the look itself, where the kernel has nothing";
    ASSERT_EQ(history.lines.size(), 2U);
    EXPECT_TRUE(history.lines[0].hard);
    EXPECT_EQ(history.lines[1].value.value, (500_MiB).value);
    EXPECT_EQ(history.crossed, sample::start() - 300us) << "the kernel's time";
    EXPECT_EQ(history.killed, sample::start() + 240us);
    EXPECT_EQ(history.why, sample::evicting().decision.why);
    EXPECT_EQ(history.grown_over, 20s);
    ASSERT_EQ(history.growth.size(), 1U);
    EXPECT_EQ(history.growth[0].pod, "default/hog");
    EXPECT_EQ(history.growth[0].grew, 800_MiB);
    ASSERT_EQ(history.order.size(), 3U);
    EXPECT_EQ(history.order[0].pod, "default/hog");
    EXPECT_TRUE(history.order[2].exempt);
    EXPECT_THAT(history.order[2].why, testing::HasSubstr("critical"));
}

TEST(FlightRecorder, APodThatCameLaterHasGrownSinceThen) {
    Recorder one;
    auto empty = moved(sample::calm(), -25s);
    empty.observation.pods.clear();
    empty.decision.ranking.clear();
    (void)one.tell(shared(empty));
    (void)one.tell(quiet(20s, 850_MiB));
    const auto told = one.tell(shared(evicting()));
    ASSERT_EQ(histories(told).size(), 1U);
    ASSERT_EQ(histories(told)[0]->growth.size(), 1U) << "web and dns were there, and did not grow";
    EXPECT_EQ(histories(told)[0]->growth[0].grew, 50_MiB);
}

TEST(FlightRecorder, TheEndOfItHasTheWholeStory) {
    Recorder one;
    (void)one.tell(quiet(20s));
    (void)one.tell(shared(evicting()));
    one.kernel = {{sample::monotonic(1000s + 5ms), 60_MiB, {}}};
    const auto told = one.tell(shared(sample::evicted()));
    ASSERT_EQ(histories(told).size(), 1U);
    const auto& history = *histories(told)[0];
    EXPECT_EQ(history.emptied, sample::start() + 12ms);
    EXPECT_EQ(history.killed, sample::start() + 240us);
    EXPECT_EQ(history.start, sample::start() - 30s);
    EXPECT_EQ(history.available.back(), (60_MiB).value);
    EXPECT_EQ(history.growth.size(), 1U);
    EXPECT_TRUE(histories(one.tell(shared(sample::evicted()))).empty()) << "told once";
}

TEST(FlightRecorder, ALongGracePeriodMakesLongerStepsNotMore) {
    Recorder one;
    (void)one.tell(shared(evicting()));
    auto late = moved(sample::evicted(), 10min);
    late.decision.finished[0].emptied_at = late.observation.at;
    const auto told = one.tell(shared(late));
    ASSERT_EQ(histories(told).size(), 1U);
    EXPECT_LE(histories(told)[0]->available.size(), 161U);
    EXPECT_GE(histories(told)[0]->step * 161, 10min + 30s);
}

TEST(FlightRecorder, WhatARehearsedVictimWaitsForIsForgotten) {
    Recorder one;
    (void)one.tell(shared(evicting()));
    (void)one.tell(quiet(-1s));  // it is on its way no longer, and never ended
    EXPECT_TRUE(histories(one.tell(shared(sample::evicted()))).empty());
}

TEST(FlightRecorder, AnEndWithoutABeginningIsPublishedAsItCame) {
    Recorder one;
    const auto record = shared(sample::evicted());
    EXPECT_EQ(one.tell(record), record);
}

KernelEvent oom(Duration at, std::int32_t pid, bool memcg) {
    OomKill kill;
    kill.pid = pid;
    kill.memcg = memcg;
    return {sample::monotonic(at), kill};
}

TEST(FlightRecorder, AnOomKillCarriesItAndAStormOfThemOnce) {
    Recorder one;
    auto tick = sample::calm();
    tick.observation.readings[1] = Reading{Amount{(10_MiB).value}, Amount{(1_GiB).value}, {}};
    tick.kernel_events = {oom(999'999ms, 1, true), oom(999'999ms + 1us, 2, true)};
    const auto told = histories(one.tell(shared(tick)));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0]->signal, Signal::allocatable_memory_available);
    EXPECT_EQ(told[0]->killed, sample::start() - 1ms);
    EXPECT_EQ(told[0]->available.back(), (10_MiB).value);
    EXPECT_EQ(told[1]->same_as, told[0]->id);
    EXPECT_TRUE(told[1]->available.empty());
    tick.kernel_events = {oom(1002s, 3, false)};
    const auto next = histories(one.tell(shared(moved(tick, 2s))));
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0]->signal, Signal::memory_available) << "the whole machine ran out";
    EXPECT_TRUE(next[0]->same_as.empty());
}

TEST(FlightRecorder, WhatItKeepsDoesNotGrowWithLooks) {
    Recorder one;
    for (int i = 0; i < 10'000; ++i) (void)one.tell(quiet(-Duration(i * 10ms)));
    const auto told = one.tell(shared(moved(evicting(), 100s)));
    ASSERT_EQ(histories(told).size(), 1U);
    EXPECT_LE(histories(told)[0]->grown_over, 33s);
    EXPECT_TRUE(histories(told)[0]->available[1]) << "looks stand in for the kernel's samples";
}

TEST(EvenSamples, TakeTheLeastOfEachStepAndTheKernelsFirst) {
    const auto at = [](int ms) { return sample::monotonic(std::chrono::milliseconds(ms)); };
    const std::vector<MemorySample> kernel{{at(1010), 5_B, 50_B}, {at(1020), 3_B, {}}, {at(1030), 4_B, {}}};
    const std::vector<MemorySample> looks{{at(1015), 1_B, 10_B}, {at(1250), 7_B, {}}, {at(900), 9_B, {}}};
    const auto node = even_samples(kernel, looks, Signal::memory_available, at(1000), at(1300));
    EXPECT_EQ(node.step, 100ms);
    EXPECT_THAT(node.values, ElementsAre(3, std::nullopt, 7, std::nullopt));
    const auto pods = even_samples(kernel, looks, Signal::allocatable_memory_available, at(1000), at(1000));
    EXPECT_THAT(pods.values, ElementsAre(50, std::nullopt));
    EXPECT_THAT(even_samples(kernel, looks, Signal::pid_available, at(1000), at(1100)).values,
                ElementsAre(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace evictd::publish
