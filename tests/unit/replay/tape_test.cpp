// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A tape played again: the same decisions from the same looks; lost and torn parts are passed over, forged ones
// refused; another configuration shows where it would have decided otherwise.
#include <functional>

#include <gmock/gmock.h>

#include "codec/decision_json.hpp"
#include "replay/difference.hpp"
#include "replay/tape_player.hpp"
#include "replay/what_if.hpp"
#include "unit/replay/live_run.hpp"

namespace evictd::replay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::limits;
using testing::LiveRun;
using testing::threshold;

struct Played {
    std::vector<std::string> lines;
    std::vector<std::string> notes;
    std::string mismatch;  // with its place
    std::string error;
};

Played play(const std::vector<std::string>& files) {
    Played played;
    TapeLooks looks(files, [&](const std::string& note) { played.notes.push_back(note); });
    TapePlayer player;
    while (true) {
        const auto placed = looks.next();
        if (!placed) played.error = placed.error().text();
        if (!placed || !*placed) return played;
        const auto look = player.play((*placed)->look, (*placed)->follows);
        if (!look.mismatch.empty()) played.mismatch = (*placed)->place + ": " + look.mismatch;
        if (!look.mismatch.empty()) return played;
        played.lines.push_back(look.line);
    }
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void rewrite(const std::string& path, const std::function<void(std::string&)>& change) {
    auto text = text_of(path);
    change(text);
    std::ofstream(path, std::ios::binary) << text;
}

void replace(std::string& text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
}

EvictionConfig hard_and_soft() { return limits({threshold(100_MiB), threshold(200_MiB, 3s)}); }

// Falls, is short for a while, and recovers.
void night(LiveRun& run) {
    for (const auto mib : {500, 300, 150, 140, 130, 120, 110, 90, 80, 400, 500, 500})
        run.look({std::int64_t{mib} << 20});
}

TEST(Tape, ALiveRunIsDecidedAgainByteForByte) {
    LiveRun run(hard_and_soft());
    night(run);
    const auto played = play({run.path});
    EXPECT_EQ(played.mismatch, "");
    EXPECT_EQ(played.error, "");
    EXPECT_THAT(played.notes, IsEmpty());
    ASSERT_EQ(played.lines.size(), 12U);
    const auto evicted = [](const std::string& line) {
        return line.find(R"("evict":{"pod":"default/hog")") != std::string::npos;
    };
    EXPECT_EQ(std::count_if(played.lines.begin(), played.lines.end(), evicted), 1);
}

TEST(Tape, WhatIsDesiredIsComparedToo) {
    LiveRun run(hard_and_soft());
    night(run);
    rewrite(run.path, [](std::string& text) { replace(text, R"("exits":true)", R"("exits":false)"); });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("the desired state is not the recorded one"));
}

TEST(Tape, WhenToLookNextAndWhyIsComparedToo) {
    LiveRun run(hard_and_soft());
    run.look(500_MiB);
    run.look(150_MiB);
    EXPECT_EQ(play({run.path}).mismatch, "");
    rewrite(run.path, [](std::string& text) {
        replace(text, R"("next_look":{"in_ns":100000000,"why":"pressure"})",
                R"("next_look":{"in_ns":1,"why":"period"})");
    });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("the next look is not the recorded one: "));
}

// The facts that the next look depends on are on the tape.
TEST(Tape, TheNextLookFollowsFromWhatWasRecordedOfTheSources) {
    LiveRun run(hard_and_soft());
    run.watching.crossed[0] = 200_MiB;
    run.look(500_MiB);
    rewrite(run.path, [](std::string& text) {
        EXPECT_THAT(text, HasSubstr(R"("why":"disputed_crossing")"));
        replace(text, R"("crossed":[209715200)", R"("crossed":[null)");
    });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("the next look is not the recorded one: "));
}

// Agents before that recorded neither the facts nor the next look.
TEST(Tape, WithoutTheNextLookIsPlayedAndAllElseCompared) {
    LiveRun run(hard_and_soft());
    night(run);
    rewrite(run.path, [](std::string& text) {
        for (const auto& [begin, end] :
             {std::pair(R"(,"next_look":)", R"(,"decision":)"), std::pair(R"(,"watching":)", R"(},"desired":)"),
              std::pair(R"(,"look_period":)", R"(},"before":)")})
            for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin))
                text.erase(at, text.find(end, at) - at);
    });
    EXPECT_EQ(play({run.path}).mismatch + play({run.path}).error, "");
    rewrite(run.path, [](std::string& text) { replace(text, R"("exits":true)", R"("exits":false)"); });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("the desired state is not the recorded one"));
}

TEST(Tape, OfAnAgentThatDidNotRecordWhatItDesiresIsPlayed) {
    LiveRun run(hard_and_soft());
    night(run);
    rewrite(run.path, [](std::string& text) {
        for (auto at = text.find(R"(,"desired":)"); at != std::string::npos; at = text.find(R"(,"desired":)"))
            text.erase(at, text.find(R"(,"decision":)", at) - at);
        replace(text, R"("why":")", R"("why":"in other words: )");
    });
    const auto played = play({run.path});
    EXPECT_EQ(played.mismatch + played.error, "");
    EXPECT_EQ(played.lines.size(), 12U);
}

TEST(Tape, RotatedFilesPlayByThemselvesAndTogether) {
    LiveRun run(hard_and_soft(), 8_KiB);
    for (int i = 0; i < 4; ++i) night(run);
    ASSERT_TRUE(std::filesystem::exists(run.path + ".1"));
    const auto older = play({run.path + ".1"});
    const auto newer = play({run.path});
    const auto both = play({run.path + ".1", run.path});
    EXPECT_EQ(older.error + newer.error + both.error + older.mismatch + newer.mismatch + both.mismatch, "");
    EXPECT_EQ(both.lines.size(), older.lines.size() + newer.lines.size());
    EXPECT_THAT(play({run.path, run.path + ".1"}).error, HasSubstr("older file first"));
}

TEST(Tape, LostLooksAreReportedAndTheStateIsTakenFromTheTape) {
    LiveRun run(hard_and_soft());
    for (int i = 0; i < 10; ++i) run.look(150_MiB, i == 3 || i == 4);
    const auto played = play({run.path});
    EXPECT_EQ(played.mismatch + played.error, "");
    EXPECT_THAT(played.notes, ElementsAre(HasSubstr("the looks between 3 and 6 were lost")));
    EXPECT_EQ(played.lines.size(), 8U);
}

TEST(Tape, AChangedConfigurationIsFollowed) {
    LiveRun run(hard_and_soft());
    run.look(150_MiB);
    run.set(limits({threshold(160_MiB)}));
    EXPECT_TRUE(run.look(150_MiB));
    run.look(500_MiB);
    EXPECT_EQ(play({run.path}).mismatch, "");
}

TEST(Tape, ATapeThatWasChangedIsReportedWithItsLine) {
    LiveRun run(hard_and_soft());
    night(run);
    rewrite(run.path, [](std::string& text) { replace(text, R"("available":157286400)", R"("available":94371840)"); });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("night.tape:4: the decision is not the recorded one: "));
}

TEST(Tape, AStateThatIsNotTheOneCarriedOnIsReported) {
    LiveRun run(hard_and_soft());
    run.look(150_MiB);
    run.set(hard_and_soft());
    run.look(150_MiB);
    rewrite(run.path, [](std::string& text) {
        const auto second = text.rfind(R"("first_observed":[)");
        text.replace(text.find(R"("at":36)", second), 7, R"("at":35)");
    });
    EXPECT_THAT(play({run.path}).mismatch, HasSubstr("night.tape:3: what was remembered before this look is not"));
}

TEST(Tape, ALineThatWasNotFinishedIsLeftOut) {
    LiveRun run(hard_and_soft());
    night(run);
    rewrite(run.path, [](std::string& text) { text.resize(text.size() - 100); });
    const auto played = play({run.path});
    EXPECT_EQ(played.error + played.mismatch, "");
    EXPECT_EQ(played.lines.size(), 11U);
    EXPECT_THAT(played.notes, ElementsAre(HasSubstr("night.tape:13: the last line was not finished")));
}

TEST(Tape, AnAgentThatWasKilledAndStartedAgainGoesOnInTheSameFile) {
    LiveRun first(hard_and_soft());
    night(first);
    LiveRun second(hard_and_soft());
    night(second);
    rewrite(first.path, [&](std::string& text) {
        text.resize(text.size() - 100);
        text += "\n" + text_of(second.path);
    });
    rewrite(first.path, [](std::string& text) {
        const auto header = text.rfind(R"("started":"1970)");
        text.replace(header + 11, 4, "1971");
    });
    const auto played = play({first.path});
    EXPECT_EQ(played.error + played.mismatch, "");
    EXPECT_EQ(played.lines.size(), 23U);
    EXPECT_THAT(played.notes, ElementsAre(HasSubstr("was not finished"), HasSubstr("started again")));
}

TEST(Tape, WhatNoRecorderWritesIsRefusedWithItsLine) {
    LiveRun run(hard_and_soft());
    night(run);
    const auto good = text_of(run.path);
    const auto refused = [&](const std::string& text) {
        std::ofstream(run.path, std::ios::binary) << text;
        return play({run.path}).error;
    };
    EXPECT_THAT(refused(""), HasSubstr("night.tape: not a tape"));
    EXPECT_THAT(refused("garbage\n"), HasSubstr("night.tape:1: not a JSON object"));
    EXPECT_THAT(refused(good.substr(good.find('\n') + 1)), HasSubstr("night.tape:1: a look before any header"));
    auto missing = good;
    missing.erase(good.find("\n{\"look\":5") + 1, good.find("\n{\"look\":6") - good.find("\n{\"look\":5"));
    EXPECT_THAT(refused(missing), HasSubstr("night.tape:6: look 6 comes after look 4: lines are missing"));
    auto bad = good;
    bad.insert(bad.find("\n{\"look\":5") + 1, "{\n");
    EXPECT_THAT(refused(bad), HasSubstr("night.tape:6: not a JSON object"));
    EXPECT_THAT(refused(good.substr(0, good.find('\n') + 1) + std::string(9'000'000, 'x')),
                HasSubstr("night.tape:2: a line is longer than"));
    EXPECT_THAT(play({run.path + ".not"}).error, HasSubstr("No such file"));
    EXPECT_THAT(play({run.directory.path().string()}).error, HasSubstr("not a regular file"));
}

TEST(Tape, IsKnownByItsFirstBytes) {
    LiveRun run(hard_and_soft());
    run.look(500_MiB);
    run.directory.write("scenario.yaml", "version: 1\n");
    EXPECT_TRUE(is_tape(run.path));
    EXPECT_FALSE(is_tape(run.directory / "scenario.yaml"));
    EXPECT_FALSE(is_tape(run.directory / "nothing"));
}

struct Compared {
    std::string text;
    std::string json;
    std::vector<std::string> evicted;  // by the other configuration
};

Compared compare(const LiveRun& run, const EvictionConfig& other) {
    Compared compared;
    TapeLooks looks({run.path}, [](const std::string&) {});
    TapePlayer player;
    WhatIf what_if(other);
    Differences text(Differences::Format::text, "as recorded", "with other.yaml");
    Differences json(Differences::Format::json, "", "");
    for (auto placed = looks.next(); placed && *placed; placed = looks.next()) {
        const auto& look = (*placed)->look;
        const auto recorded = player.play(look, (*placed)->follows);
        const auto with = what_if.play(look, recorded.decision);
        const Side first{recorded.decision, look.observation, recorded.line};
        const Side second{with.decision, with.observation, codec::decision_line(with.decision, with.observation)};
        const auto when = "look " + std::to_string(look.number);
        text.look(when, first, second, compared.text);
        json.look(when, first, second, compared.json);
        if (with.decision.evict)
            compared.evicted.push_back(codec::pod_name(with.decision.evict->pod, with.observation));
    }
    text.summary(compared.text);
    json.summary(compared.json);
    return compared;
}

TEST(WhatIf, TheRecordedConfigurationMakesNoDifference) {
    LiveRun run(hard_and_soft());
    night(run);
    const auto compared = compare(run, hard_and_soft());
    EXPECT_EQ(compared.text, "12 looks, 0 differ. 3 evictions as recorded, 3 with other.yaml.\n");
    EXPECT_EQ(compared.json, "");
}

TEST(WhatIf, AStricterThresholdEvictsEarlierAndItsVictimIsGoneFromThenOn) {
    LiveRun run(limits({threshold(100_MiB)}));
    for (const auto mib : {500, 300, 250, 300, 90, 500}) run.look({std::int64_t{mib} << 20});
    const auto compared = compare(run, limits({threshold(260_MiB)}));
    EXPECT_THAT(compared.evicted, ElementsAre("default/hog", "default/web"));  // at 90Mi, as the figures are recorded
    EXPECT_THAT(compared.text, HasSubstr("look 3\n"
                                         "  as recorded      nothing to do\n"
                                         "  with other.yaml  memory.available (hard) met; MemoryPressure; evicts "
                                         "default/hog for memory.available, grace 1s\n"));
    EXPECT_THAT(compared.text,
                HasSubstr("6 looks, 3 differ, the first: look 3. 1 eviction as recorded, 2 with other.yaml."));
    EXPECT_EQ(std::count(compared.json.begin(), compared.json.end(), '\n'), 3);
    EXPECT_THAT(compared.json, ::testing::StartsWith(R"({"without":{"at":"2025-)"));
}

TEST(WhatIf, ALaxerThresholdSparesAndTheEvictedPodIsGoneAsRecorded) {
    LiveRun run(limits({threshold(100_MiB)}));
    for (const auto mib : {500, 90, 500, 500}) run.look({std::int64_t{mib} << 20});
    const auto compared = compare(run, limits({threshold(50_MiB)}));
    EXPECT_THAT(compared.evicted, IsEmpty());
    EXPECT_THAT(compared.text, HasSubstr("evicts default/hog"));
}

TEST(WhatIf, MemoryCountedTheOtherWayIsAskedOfTheSameTape) {
    LiveRun run(limits({threshold(100_MiB)}));
    run.reclaimable = 800_MiB;
    for (const auto mib : {500, 90, 500}) run.look({std::int64_t{mib} << 20});
    auto other = limits({threshold(100_MiB)});
    EXPECT_THAT(compare(run, other).evicted, ElementsAre("default/hog"));
    other.memory_available = MemoryAvailable::reclaimable;
    EXPECT_THAT(compare(run, other).evicted, IsEmpty());
}

TEST(WhatIf, TheSameDifferenceIsReportedOnce) {
    LiveRun run(limits({threshold(10_MiB)}));
    for (int i = 0; i < 8; ++i) run.look(150_MiB);
    auto other = limits({threshold(10_MiB), threshold(200_MiB, 2s)});
    other.max_pod_grace_period = 5s;
    const auto compared = compare(run, other);
    EXPECT_THAT(compared.text, HasSubstr("MemoryPressure\n  and the same at "));
}

}  // namespace
}  // namespace evictd::replay
