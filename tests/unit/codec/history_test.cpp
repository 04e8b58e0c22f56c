// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What led to an eviction: in the event, bounded; as a picture; and as the page that explain shows.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "event_id.hpp"
#include "event_json.hpp"
#include "explain_text.hpp"
#include "history_plot.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// 30 s before the eviction of sample::evicting(): 900 MiB free, then 31 MiB less every 200 ms.
History falling() {
    History history;
    history.id = eviction_id({"uid-hog"}, sample::fell_below());
    history.start = sample::start() - 30s;
    history.step = 200ms;
    for (int i = 0; i <= 150; ++i) {
        history.available.emplace_back((900_MiB).value - std::max(0, i - 124) * (31_MiB).value);
    }
    history.lines = {{true, {(100_MiB).value}}, {false, {(500_MiB).value}}};
    history.crossed = sample::start() - 300us;
    history.killed = sample::start() + 240us;
    history.emptied = sample::start() + 12ms;
    history.why = "default/hog is over its request by 900Mi; memory.available is 95Mi, under 100Mi";
    history.grown_over = 27s;
    history.growth = {{"default/hog", 800_MiB, 900_MiB}};
    history.order = {{"default/hog", QosClass::best_effort, 0, 5, 0, false, "default/hog uses 900Mi; priority 0"},
                     {"kube-system/dns", QosClass::burstable, 2'000'000'000, 5, 1, true, "not evicted: critical"}};
    history.pods = 14;
    return history;
}

Event evicted() {
    Tick tick = sample::evicted();
    tick.histories = {std::make_shared<const History>(falling())};
    return events_of(tick)[0];
}

std::vector<std::string_view> lines(std::string_view text) {
    std::vector<std::string_view> all;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        all.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return all;
}

TEST(EventId, IsTheSameInEveryEventOfAnEvictionAndInNoOther) {
    const auto begun = events_of(sample::evicting());
    const auto ended = events_of(sample::evicted());
    EXPECT_EQ(begun.back().reason, Reason::evicting);
    EXPECT_EQ(begun.back().id, ended.back().id);
    EXPECT_THAT(ended.back().id, testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(ended.back().id.size(), 10U);
    auto later = sample::fell_below();
    later.detected_at += 1ns;
    EXPECT_NE(eviction_id({"uid-hog"}, later), ended.back().id);
    EXPECT_NE(eviction_id({"uid-web"}, sample::fell_below()), ended.back().id);
    OomKill kill;
    kill.pid = 42;
    EXPECT_NE(oom_id(kill, sample::monotonic(1s)), oom_id(kill, sample::monotonic(2s)));
}

TEST(History, StandsInTheEventItBelongsToAndReadsBack) {
    const auto event = evicted();
    ASSERT_NE(event.history, nullptr);
    const auto line = to_json_line(event, "node-1");
    const auto read = event_from_json(line);
    ASSERT_TRUE(read && read->history);
    EXPECT_EQ(to_json_line(*read, "node-1"), line);
    EXPECT_EQ(read->history->available, falling().available);
    Tick other = sample::evicted();
    auto strange = falling();
    strange.id = "0000000000";
    other.histories = {std::make_shared<const History>(strange)};
    EXPECT_EQ(events_of(other)[0].history, nullptr);
}

// Whoever reads the log line by line has a buffer, and it is rotated by size.
TEST(History, IsBoundedWithTheLongestNamesToo) {
    auto history = falling();
    const std::string name(63 + 1 + 253, 'x');
    for (auto& sample : history.available) sample = std::int64_t{1} << 44;
    history.growth.assign(5, {name, 1_GiB, 1_GiB});
    history.order.assign(8, {name, QosClass::burstable, 1, 1, 1, false, name + std::string(150, 'y')});
    EXPECT_LE(to_json_line(evicted(), "node-1").size(), 4096U);
    Tick tick = sample::evicted();
    tick.histories = {std::make_shared<const History>(history)};
    EXPECT_LE(to_json_line(events_of(tick)[0], "node-1").size(), 16384U);
}

TEST(History, FromUntrustedTextIsReadOrLeftOutAndNeverThrows) {
    const std::string begin = R"({"v":1,"time":"2026-01-01T00:00:00Z","id":"a","history":)";
    for (const char* text :
         {"{}", "7", R"({"start":"x","step_ms":1})", R"({"start":"2026-01-01T00:00:00Z","step_ms":0})",
          R"({"start":"1700-01-01T00:00:00Z","step_ms":100})"}) {
        const auto read = event_from_json(begin + text + "}");
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(read->history, nullptr) << text;
    }
    const auto odd = event_from_json(
        begin +
        R"({"start":"2026-01-01T00:00:00Z","step_ms":100,"signal":5,"available":[1,null,"x",-5,1e300],)"
        R"("thresholds":[3,{"value":"x"}],"crossed":"1700-01-01T00:00:00Z","growth":[],"ranking":{"head":[1]}}})");
    ASSERT_TRUE(odd && odd->history);
    EXPECT_FALSE(odd->history->crossed);
    EXPECT_NE(plot(*odd->history, sample::start(), {}), "");
    EXPECT_NE(explain_text({*odd}, odd->history, {}), "");
}

TEST(Plot, ShowsTheFallTheThresholdsAndTheMoments) {
    const auto text = plot(falling(), sample::start(), {.color = false, .unicode = true, .columns = 100});
    const auto rows = lines(text);
    ASSERT_EQ(rows.size(), 8U + 2U + 3U) << text;
    EXPECT_THAT(std::string(rows[0]), HasSubstr("   900Mi │███"));
    EXPECT_THAT(text, HasSubstr("500Mi │────"));
    EXPECT_THAT(text, HasSubstr("100Mi │────"));
    EXPECT_THAT(std::string(rows[9]), HasSubstr("-30 s"));
    EXPECT_THAT(text, HasSubstr("crossed 23:59:59.999 (-300 us) ▲"));
    EXPECT_THAT(text, HasSubstr("SIGKILL 00:00:00.000 (+240 us) ▲"));
    EXPECT_THAT(text, HasSubstr("empty 00:00:00.012 (+12 ms) ▲"));
    // The top row is full at the left and empty at the right.
    EXPECT_THAT(std::string(rows[0]), Not(testing::EndsWith("█")));
    for (const auto row : rows) {
        EXPECT_LE(width_of(row), 100U) << row;
        EXPECT_FALSE(row.ends_with(' ')) << "'" << row << "'";
    }
}

TEST(Plot, HasColourOnlyWhereItIsAskedForAndLettersWhereThereIsNothingElse) {
    const auto plain = plot(falling(), sample::start(), {.color = false, .unicode = false, .columns = 80});
    EXPECT_THAT(plain, Not(HasSubstr("\033")));
    for (const char c : plain) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
    const auto coloured = plot(falling(), sample::start(), {.color = true, .unicode = true, .columns = 80});
    EXPECT_THAT(coloured, HasSubstr("\033[31m"));  // under the hard threshold
    EXPECT_THAT(coloured, HasSubstr("\033[33m"));  // under the soft one
    EXPECT_THAT(coloured, HasSubstr("\033[32m"));
}

TEST(Plot, AGapIsAGapAndNothingIsNoPicture) {
    History history = falling();
    for (std::size_t i = 50; i < 100; ++i) history.available[i] = std::nullopt;
    const auto rows = plot(history, sample::start(), {.color = false, .unicode = true, .columns = 161});
    EXPECT_THAT(rows, HasSubstr("█ "));
    history.available.assign(10, std::nullopt);
    EXPECT_EQ(plot(history, sample::start(), {}), "");
    history.available.clear();
    EXPECT_EQ(plot(history, sample::start(), {}), "");
    history.available = {0};
    EXPECT_NE(plot(history, sample::start(), {}), "");
}

TEST(Plot, ACrossingBeforeThePlotIsMarkedAsEarlier) {
    History history = falling();
    history.crossed = history.start - 40s;
    EXPECT_THAT(plot(history, sample::start(), {.color = false, .unicode = false, .columns = 90}),
                HasSubstr("          < crossed 23:58:50.000"));
}

TEST(Explain, ShowsPodTimeReasonLatencyAndVictimOrder) {
    const auto event = evicted();
    const auto text = explain_text({event}, event.history, {.color = false, .unicode = true, .columns = 100});
    for (const char* part :
         {"default/hog was evicted, 2026-01-01 00:00:00.012", "over its request by 900Mi",
          "memory.available was 95Mi of 3Gi, below the hard threshold of 100Mi", "540 us = detect 50 us",
          "memory.available, what was left of it", "PODS THAT GREW, within 27s", "800Mi",
          "VICTIM ORDER, at that moment", "not evicted: critical", "and 12 more", "Evicted: Pod default/hog is gone"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    for (const auto line : lines(text)) EXPECT_LE(width_of(line), 100U) << line;
}

TEST(Explain, WorksWithoutAHistoryAndForAnOomKill) {
    const auto bare = events_of(sample::evicted());
    EXPECT_THAT(explain_text(bare, nullptr, {}), HasSubstr("default/hog was evicted"));
    Event oom = bare[0];
    oom.reason = Reason::oom_killing;
    oom.pod.reset();
    EXPECT_THAT(explain_text({oom}, nullptr, {}), HasSubstr("a process of no known pod lost a process"));
}

TEST(Explain, NamesTheWaitBeforeAnEviction) {
    const auto event = evicted();
    Event delay = event;
    delay.reason = Reason::eviction_delayed;
    delay.message = "The eviction of pod default/hog is delayed for at most 9.3s";
    delay.history = nullptr;
    delay.time -= std::chrono::seconds(4);
    const auto text = explain_text({event}, event.history, {}, {delay});
    EXPECT_THAT(text, HasSubstr("waited     4s: The eviction of pod default/hog is delayed"));
    EXPECT_THAT(text, HasSubstr("EvictionDelayed: The eviction of pod"));
    const auto json = nlohmann::json::parse(explain_json({event}, event.history, {delay}));
    EXPECT_EQ(json["delays"][0]["reason"], "EvictionDelayed");
    EXPECT_EQ(json["events"].size(), 1U);
}

TEST(Explain, AWaitIsOfEvictionsForTheSameResource) {
    Event eviction = evicted();
    Event for_manifests = eviction;
    for_manifests.reason = Reason::eviction_delayed;
    for_manifests.signal.reset();
    Event for_disk_usage = for_manifests;
    for_disk_usage.signal = Signal::nodefs_available;
    ASSERT_EQ(eviction.signal, Signal::memory_available);
    EXPECT_TRUE(may_have_delayed(for_manifests, eviction));
    EXPECT_FALSE(may_have_delayed(for_disk_usage, eviction));
    eviction.signal = Signal::imagefs_available;
    EXPECT_TRUE(may_have_delayed(for_disk_usage, eviction));
    EXPECT_FALSE(may_have_delayed(for_manifests, eviction));
    eviction.reason = Reason::oom_killing;
    EXPECT_FALSE(may_have_delayed(for_disk_usage, eviction));
}

TEST(Explain, IsOneJsonDocument) {
    const auto event = evicted();
    const auto json = nlohmann::json::parse(explain_json({event}, event.history));
    EXPECT_EQ(json["id"], event.id);
    EXPECT_EQ(json["events"][0]["reason"], "Evicted");
    EXPECT_FALSE(json["events"][0].contains("history"));
    EXPECT_EQ(json["history"]["available"].size(), 151U);
    EXPECT_EQ(json["history"]["ranking"]["pods"], 14);
}

}  // namespace
}  // namespace evictd::codec
