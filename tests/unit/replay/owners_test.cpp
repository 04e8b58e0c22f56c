// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The owner graph as a step asks it: what is deleted, what follows, and what is refused. Its rules have tests of their
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/owner_question.hpp"
#include "replay/step_text.hpp"
#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string web = "- {kind: pod, uid: u1, name: web}\n- {kind: pod, uid: u2, name: db}\n";
const std::string web_sandbox =
    "- {kind: sandbox, uid: s1, owners: [{kind: pod, uid: u1, name: web, blockOwnerDeletion: true}]}\n";

std::string story(const std::string& objects, const std::string& deletions) {
    return "objects:\n" + objects + "steps:\n- {at: 0s, delete: [" + deletions + "]}\n";
}

std::vector<std::string> actions_of(const nlohmann::ordered_json& step) {
    std::vector<std::string> actions;
    for (const auto& action : step.at("deleted")) {
        actions.push_back(action.at("action").get<std::string>() + " " + action.at("object").get<std::string>());
    }
    return actions;
}

struct OwnerCase {
    const char* name;
    std::string objects;
    std::string deletions;
    std::vector<std::string> actions;
};

class Owners : public testing::TestWithParam<OwnerCase> {};

TEST_P(Owners, AreFollowedInTheOrderOfTheGraph) {
    EXPECT_EQ(actions_of(play(story(GetParam().objects, GetParam().deletions)).at(0)), GetParam().actions);
}

const OwnerCase cases[] = {
    {"BackgroundIsTheDefaultAndTakesTheOwnerFirst",
     web + web_sandbox,
     "{uid: u1}",
     {"remove pod/u1", "remove sandbox/s1"}},
    {"ForegroundTakesTheDependentsFirst",
     web + web_sandbox,
     "{uid: u1, policy: foreground}",
     {"remove sandbox/s1", "remove pod/u1"}},
    {"OrphanLeavesTheDependents",
     web + web_sandbox,
     "{uid: u1, policy: orphan}",
     {"drop_references sandbox/s1", "remove pod/u1"}},
    {"ASolidSecondOwnerKeepsTheObject",
     web + "- {kind: image, uid: i1, owners: [{kind: pod, uid: u1}, {kind: pod, uid: u2}]}\n",
     "{uid: u1}",
     {"remove pod/u1", "drop_references image/i1"}},
    {"WithBothOwnersTheObjectGoes",
     web + "- {kind: image, uid: i1, owners: [{kind: pod, uid: u1}, {kind: pod, uid: u2}]}\n",
     "{uid: u1}, {uid: u2}",
     {"remove pod/u1", "remove pod/u2", "remove image/i1"}},
    {"ACircleIsUnblocked",
     "- {kind: v, uid: a, owners: [{kind: v, uid: b, blockOwnerDeletion: true}]}\n"
     "- {kind: v, uid: b, owners: [{kind: v, uid: a, blockOwnerDeletion: true}]}\n",
     "{uid: a, policy: foreground}",
     {"unblock v/b", "remove v/a", "remove v/b"}},
    {"AnOwnerThatIsNotListedIsAbsent",
     web + "- {kind: cgroup, uid: g1, owners: [{kind: pod, uid: old, name: web}]}\n",
     "",
     {"look_up pod/old", "remove cgroup/g1"}},
    {"AnOwnerOfAnotherKindIsAbsentWhateverItsUid",
     web + "- {kind: cgroup, uid: g1, owners: [{kind: job, uid: u1}]}\n",
     "",
     {"look_up job/u1", "remove cgroup/g1"}},
    {"AnOwnerMayBeListedAfterItsDependent", web_sandbox + web, "", {}},
    {"TheLastOfTwoPoliciesForOneObjectCounts",
     web + web_sandbox,
     "{uid: u1, policy: orphan}, {uid: u1, policy: background}",
     {"remove pod/u1", "remove sandbox/s1"}},
    {"WithoutObjectsNothingFollows", "", "", {}},
};

INSTANTIATE_TEST_SUITE_P(Deleted, Owners, testing::ValuesIn(cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(OwnerQuestion, ChangesNothingForLaterSteps) {
    const auto steps = play(story(web + web_sandbox, "{uid: u1}") + "- {at: 1s, delete: [{uid: u1}]}\n- {at: 2s}\n");
    EXPECT_EQ(steps.at(1).at("deleted"), steps.at(0).at("deleted"));
    EXPECT_FALSE(steps.at(2).contains("deleted"));
}

TEST(OwnerQuestion, IsAnsweredAfterTheCollectionsWithTheReason) {
    const auto lines = play_lines("objects:\n" + web + "steps:\n- {at: 0s, gc: {logs: {}}, delete: [{uid: u1}]}\n");
    EXPECT_THAT(lines.at(0), HasSubstr(R"("gc":{"logs":[]},"deleted":[{"action":"remove","object":"pod/u1",)"
                                       R"("why":"its deletion was asked for"}],"why":)"));
}

TEST(OwnerQuestion, StopsWithAnErrorBeyondItsBound) {
    const auto scenario = parse_scenario(story(web + web_sandbox, "{uid: u1}"), "s.yaml");
    ASSERT_TRUE(scenario);
    const auto& deletions = *scenario->steps.at(0).deletions;
    const auto bounded = ask_owner_graph(scenario->objects, deletions, 1);
    EXPECT_EQ(bounded.actions.size(), 1U);
    EXPECT_THAT(bounded.error, HasSubstr("stopped after 1 action"));
    EXPECT_THAT(ask_owner_graph(scenario->objects, deletions, 2).error, IsEmpty());

    StepResult result = Player(*scenario).play(scenario->steps.at(0));
    result.deleted = bounded;
    std::string line;
    append_json(*scenario, result, line);
    EXPECT_THAT(line, HasSubstr(R"(],"deleted_error":"stopped after 1 )"));
}

TEST(OwnerQuestion, IsAShortListForPeople) {
    std::string objects = "- {kind: pod, uid: u1}\n";
    for (int i = 0; i < 30; ++i) {
        objects += "- {kind: c, uid: c" + std::to_string(i) + ", owners: [{kind: pod, uid: u1}]}\n";
    }
    const auto scenario = parse_scenario(story(objects, "{uid: u1}"), "s.yaml");
    ASSERT_TRUE(scenario);
    std::string text;
    append_text(*scenario, Player(*scenario).play(scenario->steps.at(0)), {}, text);
    EXPECT_THAT(text, HasSubstr("  delete      remove pod/u1: its deletion was asked for\n"));
    EXPECT_THAT(text, HasSubstr("and 11 more\n"));
}

struct Refusal {
    const char* name;
    std::string text;
    std::vector<std::string> parts;
};

class RefusedOwners : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedOwners, AreReportedInOneLine) {
    const std::string fault = fault_of(GetParam().text);
    for (const auto& part : GetParam().parts) EXPECT_THAT(fault, HasSubstr(part));
    EXPECT_EQ(fault.find('\n'), std::string::npos);
}

const Refusal refusals[] = {
    {"AnUnknownUid",
     story(web, "{uid: u3}"),
     {"s.yaml:5", "steps[0].delete[0].uid", "there is no object \"u3\"", "did you mean u"}},
    {"AUidWhereThereAreNoObjects", story("", "{uid: u3}"), {"there is no object", "list it in `objects`"}},
    {"AnUnknownPolicy",
     story(web, "{uid: u1, policy: now}"),
     {"s.yaml:5", "steps[0].delete[0].policy", "invalid value \"now\"", "expected background, foreground or orphan"}},
    {"NoUid", story(web, "{policy: orphan}"), {"steps[0].delete[0].uid", "is missing"}},
    {"NoMap", story(web, "u1"), {"steps[0].delete[0]", "expected a map"}},
    {"AnUnknownKeyOfADeletion", story(web, "{uid: u1, polcy: orphan}"), {"delete[0].polcy", "did you mean policy?"}},
    {"TwoObjectsWithOneUid",
     story(web + "- {kind: sandbox, uid: u1}\n", ""),
     {"s.yaml:4", "objects[2].uid", "is listed twice: \"u1\""}},
    {"AnUnknownKeyOfAnObject", story("- {kind: pod, uid: u1, owner: []}\n", ""), {"objects[0].owner", "owners?"}},
    {"AnUnknownKeyOfAnOwner",
     story("- {kind: pod, uid: u1, owners: [{kind: a, uid: b, blocks: true}]}\n", ""),
     {"s.yaml:2", "objects[0].owners[0].blocks", "unknown key"}},
    {"NoKind", story("- {uid: u1}\n", ""), {"s.yaml:2", "objects[0].kind", "is missing"}},
    {"AnEmptyUid", story("- {kind: pod, uid: ''}\n", ""), {"objects[0].uid", "is missing"}},
    {"AUidThatIsNoText", story("- {kind: pod, uid: 1}\n", ""), {"objects[0].uid", "expected text"}},
    {"ObjectsThatAreNoList", "objects: {kind: pod}\nsteps: []\n", {"s.yaml:1", "objects", "expected a list"}},
};

INSTANTIATE_TEST_SUITE_P(Faults, RefusedOwners, testing::ValuesIn(refusals),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace evictd::replay
