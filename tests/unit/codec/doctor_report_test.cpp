// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// doctor's two forms: nothing that was found is cut off or left out, and tools find hooks by name.
#include "doctor_report.hpp"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace evictd::codec {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

DoctorReport sample() {
    DoctorReport report;
    report.host = "node-1";
    report.checks = {
        {.check = "cgroups", .chosen = "v2", .detail = "memory controller at /sys/fs/cgroup", .remedy = {}},
        {.check = "PSI",
         .state = FindingState::missing,
         .chosen = {},
         .detail = "stalls are not told, and that is a sentence which is longer than a narrow terminal is wide",
         .remedy = "boot with psi=1"},
    };
    report.hooks = {{.check = "oom",
                     .state = FindingState::fallback,
                     .chosen = "tp_btf/mark_victim",
                     .detail = "tells whom",
                     .remedy = {}}};
    report.verdict = "evictd can do its job here.";
    return report;
}

TEST(DoctorJson, HasEveryKeyOfAFindingAlsoWhereThereIsNothingToSay) {
    const auto json = Json::parse(doctor_json(sample()));
    EXPECT_EQ(json["checks"][0], Json({{"check", "cgroups"},
                                       {"state", "ok"},
                                       {"chosen", "v2"},
                                       {"detail", "memory controller at /sys/fs/cgroup"},
                                       {"remedy", ""}}));
    EXPECT_EQ(json["checks"][1]["state"], "missing");
    EXPECT_TRUE(json["able"].get<bool>());
}

TEST(DoctorJson, HasHooksByName) {
    const auto json = Json::parse(doctor_json(sample()));
    EXPECT_EQ(json["hooks"]["oom"]["chosen"], "tp_btf/mark_victim");
    EXPECT_EQ(json["hooks"]["oom"]["state"], "fallback");
}

TEST(DoctorJson, SurvivesBytesThatAreNoUtf8) {
    auto report = sample();
    report.host = "node\xff";
    EXPECT_FALSE(Json::parse(doctor_json(report), nullptr, false).is_discarded());
}

TEST(DoctorText, PutsWhatIsLostBesideACheckThatChoseNothing) {
    EXPECT_THAT(doctor_text(sample(), {}), HasSubstr("  missing   PSI               stalls are not told"));
    EXPECT_THAT(doctor_text(sample(), {}), HasSubstr("-> boot with psi=1\n"));
    EXPECT_THAT(doctor_text(sample(), {}), HasSubstr("  ok        cgroups           v2\n"));
}

TEST(DoctorText, WrapsToTheTerminalWithoutLosingAWord) {
    const auto wide = doctor_text(sample(), {});
    const auto narrow = doctor_text(sample(), {.columns = 60});
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 60U) << line;
    const auto words = [](const std::string& text) {
        std::istringstream stream(text);
        return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
    };
    EXPECT_EQ(words(wide), words(narrow));
}

TEST(DoctorText, IsColouredOnlyWhereAsked) {
    EXPECT_THAT(doctor_text(sample(), {}), Not(HasSubstr("\x1b")));
    EXPECT_THAT(doctor_text(sample(), {.color = true}), HasSubstr("\x1b"));
}

TEST(DoctorText, EndsWithTheVerdict) {
    const auto text = doctor_text(sample(), {});
    EXPECT_TRUE(text.ends_with("\nevictd can do its job here.\n"));
}

TEST(AgentInShort, NamesTheAgentThatAnswered) {
    EXPECT_EQ(agent_in_short(R"({"pid":12,"version":"1.2","started":"2026-01-01T00:00:00Z","dry_run":true})"),
              "pid 12, version 1.2, since 2026-01-01T00:00:00Z, dry run");
}

TEST(AgentInShort, DoesNotFallOverAnAnswerOfAnotherKind) {
    EXPECT_FALSE(agent_in_short("nonsense").empty());
    EXPECT_FALSE(agent_in_short(R"({"pid":"x"})").empty());
}

}  // namespace
}  // namespace evictd::codec
