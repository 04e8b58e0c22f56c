// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The status document, and the page people see of it.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "agent_pods.hpp"
#include "evictd/model/text.hpp"
#include "status_json.hpp"
#include "status_text.hpp"
#include "text_style.hpp"
#include "unit/codec/sample_records.hpp"
#include "yaml_text.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

AgentStatus agent() {
    AgentStatus made;
    made.node = "node-1";
    made.version = "0.1.0";
    made.pid = 1234;
    made.started = sample::start() - 2h;
    Threshold share = sample::threshold(0_MiB);
    share.value.value = 0.1F;
    share.signal = Signal::allocatable_memory_available;
    made.thresholds = {sample::threshold(100_MiB), sample::threshold(500_MiB, 90s), share};
    made.sources = {{"watermark", "bpf_timer", false, ""},
                    {"usage", "memory.current", true, "no cgroup iterator: 40 times slower"},
                    {"oom", "", true, "OOM kills are not seen"}};
    made.pod_sources = {"manifests in /etc/evictd/pods"};
    made.as_of = sample::monotonic(100s);
    made.pod_source_states = {{"API server https://10.96.0.1:443", sample::monotonic(97s), ""},
                              {"kubelet https://127.0.0.1:10250", std::nullopt, "refused: 403 Forbidden"}};
    return made;
}

std::string document(const Tick& tick, const std::vector<std::string>& places = {}) {
    const VictimOrder order{Signal::memory_available, tick.decision.ranking, places};
    std::vector<PastEviction> past{{sample::start() + 12ms, sample::victim(), false}};
    past.push_back(past[0]);
    past[1].victim.failed = true;
    past[1].victim.error = "processes in state D";
    return status_json({agent(), &tick, order, past, {{"ring buffer full", 3}, {"slow reader", 0}}});
}

TEST(StatusJson, ShowsHowOldEachServersWordIs) {
    const auto text = document(sample::evicting());
    const auto states = json::parse(text)["pod_source_states"];
    ASSERT_EQ(states.size(), 2U);
    EXPECT_EQ(states[0]["age_seconds"], 3);
    EXPECT_FALSE(states[0].contains("fault"));
    EXPECT_FALSE(states[1].contains("age_seconds"));
    EXPECT_EQ(states[1]["fault"], "refused: 403 Forbidden");
    const auto shown = *status_text(text, Detail::normal, {});
    EXPECT_THAT(shown, testing::ContainsRegex("API server https://10.96.0.1:443 +heard 3s ago\n"));
    EXPECT_THAT(shown, HasSubstr("OUT OF DATE  not heard yet: refused: 403 Forbidden"));
}

TEST(StatusJson, HoldsSignalsAgainstEveryConfiguredThreshold) {
    auto tick = sample::evicting();
    tick.decision.thresholds_pending = {sample::met(500_MiB, 95_MiB, 90s)};
    tick.observation.readings[1] = Reading{Amount{(2_GiB).value}, Amount{(3_GiB).value}, sample::monotonic(1000s)};
    const auto status = json::parse(document(tick));
    const auto& signals = status["signals"];
    ASSERT_EQ(signals.size(), 2U);
    EXPECT_EQ(signals[0]["available"], "95Mi");
    EXPECT_EQ(signals[0]["thresholds"][0]["state"], "met");
    EXPECT_EQ(signals[0]["thresholds"][0]["first_observed_at"], "2026-01-01T00:00:00.000000000Z");
    EXPECT_EQ(signals[0]["thresholds"][1]["state"], "pending");
    EXPECT_EQ(signals[0]["thresholds"][1]["grace_period"], "1m30s");
    EXPECT_EQ(signals[1]["thresholds"][0]["value"], "10%");
    EXPECT_EQ(signals[1]["thresholds"][0]["quantity"], "322122552");
    EXPECT_EQ(signals[1]["thresholds"][0]["state"], "clear");
    EXPECT_EQ(status["conditions"][0]["status"], "True");
}

TEST(StatusJson, HoldsMemoryCountedBothWays) {
    auto tick = sample::calm();
    EXPECT_FALSE(json::parse(document(tick))["signals"][0].contains("memory_available"));
    tick.observation.readings[0]->memory = AvailableMemory{.kubelet = 95_MiB, .reclaimable = 2_GiB};
    EXPECT_EQ(json::parse(document(tick))["signals"][0]["memory_available"],
              json::parse(R"({"kubelet":"95Mi","reclaimable":"2Gi","compared":"kubelet"})"));
}

TEST(StatusJson, ListsPodsInVictimOrderWithTheReasonOfTheirPlace) {
    const auto status = json::parse(document(sample::calm(), {"no request", "within", "critical"}));
    const auto& pods = status["ranking"]["pods"];
    ASSERT_EQ(pods.size(), 3U);
    EXPECT_EQ(pods[0]["name"], "hog");
    EXPECT_EQ(pods[0]["place"], "no request");
    EXPECT_EQ(pods[0]["memory"]["working_set_bytes"], (900_MiB).value);
    EXPECT_FALSE(pods[0].contains("exemption"));
    EXPECT_EQ(pods[2]["exemption"], "critical");
}

TEST(StatusJson, ListsContainersThatAreNotCreatedAsEvictdGcReadsThem) {
    auto tick = sample::calm();
    EXPECT_FALSE(json::parse(document(tick))["ranking"]["pods"][0].contains("not_started"));
    Pod pod = *tick.observation.pods[tick.decision.ranking[0].pod].pod;
    pod.containers = {Container{.name = "main", .image = "web:2"},
                      Container{.name = "mesh", .id = "containerd://1", .image = "mesh:1"}};
    tick.observation.pods[tick.decision.ranking[0].pod].pod = std::make_shared<const Pod>(pod);
    EXPECT_EQ(json::parse(document(tick))["ranking"]["pods"][0]["not_started"],
              json::parse(R"([{"name":"main","image":"web:2"}])"));
    pod.deletion_time = WallTime{};
    tick.observation.pods[tick.decision.ranking[0].pod].pod = std::make_shared<const Pod>(pod);
    EXPECT_FALSE(json::parse(document(tick))["ranking"]["pods"][0].contains("not_started"));
}

TEST(StatusJson, ListsPodsThatHaveEndedAsEvictdGcReadsThem) {
    auto tick = sample::calm();
    EXPECT_FALSE(json::parse(document(tick)).contains("finished_pods"));
    Pod ended = *tick.observation.pods[0].pod;
    ended.uid = {"uid-ended"};
    ended.phase = PodPhase::failed;
    ended.status_reason = "Evicted";
    tick.observation.pods.push_back(
        {.pod = std::make_shared<const Pod>(ended), .usage = {}, .cgroup = {}, .stall = {}});
    auto departed = tick.observation.pods.back();
    departed.departed = true;
    tick.observation.pods.push_back(departed);
    const auto pods = agent_pods(document(tick));
    ASSERT_TRUE(pods);
    ASSERT_EQ(pods->size(), 4U) << "those that are ranked, and one";
    EXPECT_EQ(pods->back().pod.uid.value, "uid-ended");
    EXPECT_EQ(pods->back().pod.phase, PodPhase::failed);
    EXPECT_EQ(pods->back().pod.status_reason, "Evicted");
    EXPECT_FALSE(pods->back().populated);
}

TEST(StatusJson, AnOrderOverAnotherLookIsNoCrash) {
    auto tick = sample::calm();
    tick.decision.ranking[0].pod = 77;
    EXPECT_EQ(json::parse(document(tick))["ranking"]["pods"].size(), 2U);
}

TEST(StatusJson, HoldsThePodsSocketsAndWhichAreShed) {
    auto tick = sample::evicting();
    tick.decision.shed = {{PodUid{"uid-hog"}, "default/hog", CgroupId{11}}};
    const VictimOrder order{Signal::memory_available, tick.decision.ranking, {}};
    StatusInput input{agent(), &tick, order, {}, {}};
    EXPECT_FALSE(json::parse(status_json(input))["ranking"]["pods"][0].contains("sockets")) << "not counted is not 0";
    input.sockets = {{{CgroupId{11}, 3, 7, 64_KiB}, {CgroupId{99}, 1, 0, 0_B}}, TcpMemory{1_MiB, 2_MiB, 3_MiB}};
    const auto text = status_json(input);
    const auto status = json::parse(text);
    EXPECT_EQ(status["ranking"]["pods"][0]["sockets"], json::parse(R"({"open":3,"refused":7,"memory_bytes":65536})"));
    EXPECT_FALSE(status["ranking"]["pods"][1].contains("sockets"));
    EXPECT_EQ(status["sockets"]["tcp"]["pressure_bytes"], (2_MiB).value);
    EXPECT_EQ(status["sockets"]["shed"], json::parse(R"(["default/hog"])"));
    const auto wide = status_text(text, Detail::wide, {});
    ASSERT_TRUE(wide);
    EXPECT_THAT(*wide, HasSubstr("SOCKETS  SOCK MEM"));
    EXPECT_THAT(*wide, HasSubstr("      3      64Ki  "));
    tick.dry_run = true;
    EXPECT_FALSE(json::parse(status_json(input))["sockets"].contains("shed"));
}

TEST(StatusText, LostLinesOfTheEventLogAreOfThatCauseOnly) {
    EXPECT_EQ(lost_event_lines(R"({"lost":{"event log lines":5,"ring buffer full":3}})"), 5);
    for (const char* none :
         {"{}", "x", "[]", R"({"lost":{"ring buffer full":3}})", R"({"lost":{"event log lines":"5"}})"}) {
        EXPECT_EQ(lost_event_lines(none), 0) << none;
    }
}

TEST(StatusText, ShowsWhatAPersonAsksFirst) {
    const auto text = status_text(document(sample::evicting()), Detail::normal, {false, false, 120, 0s});
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("evictd 0.1.0 on node-1, pid 1234, up 2h, built-in config"));
    EXPECT_THAT(*text, HasSubstr("memory.available fell below 100Mi, to 95Mi"));
    EXPECT_THAT(*text, HasSubstr("MemoryPressure=True"));
    EXPECT_THAT(*text, HasSubstr("critical: never evicted"));
    EXPECT_THAT(*text, HasSubstr("lost: 3 ring buffer full"));
    EXPECT_THAT(*text, Not(HasSubstr("slow reader")));
    EXPECT_THAT(*text, HasSubstr("FAILED: processes in state D"));
    EXPECT_THAT(*text, Not(HasSubstr("\033")));
    EXPECT_THAT(*text, Not(HasSubstr("█")));
}

TEST(StatusText, ItsFirstLineReportsThatNoPodIsProtected) {
    auto tick = sample::calm();
    tick.pods_root.clear();
    EXPECT_TRUE(json::parse(document(tick))["no_pods_cgroup"].get<bool>());
    const auto text = status_text(document(tick), Detail::normal, {});
    ASSERT_TRUE(text);
    EXPECT_THAT(text->substr(0, text->find('\n')), HasSubstr("NO PODS' CGROUP: no pod is protected"));
    EXPECT_THAT(*status_text(document(sample::calm()), Detail::normal, {}), Not(HasSubstr("PODS' CGROUP")));
}

TEST(StatusText, NamesThePodsCgroupThatIsWatched) {
    auto tick = sample::calm();
    EXPECT_EQ(json::parse(document(tick))["pods_cgroup"], "/kubepods.slice");
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}),
                testing::ContainsRegex("pods' cgroup +/kubepods.slice\n"));
    tick.pods_root.clear();
    EXPECT_FALSE(json::parse(document(tick)).contains("pods_cgroup"));
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}), testing::ContainsRegex("pods' cgroup +none +LOST\n"));
}

TEST(StatusText, CountsThePodsThatAreNeverEvictedForWantOfAManifest) {
    auto tick = sample::calm();
    EXPECT_FALSE(json::parse(document(tick)).contains("pods_without_manifest"));
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}), Not(HasSubstr("no manifest")));
    tick.without_manifest = {1, {{PodUid{"uid-a"}}}};
    EXPECT_EQ(json::parse(document(tick))["pods_without_manifest"],
              json::parse(R"({"count":1,"uids":["uid-a"],"pods":[{"uid":"uid-a"}]})"));
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}),
                HasSubstr("  1 pod has no manifest: its requests and priority are unknown, and it is never evicted\n"
                          "    UID uid-a\n\n"));
    tick.without_manifest = {5, {{PodUid{"uid-a"}}, {PodUid{"uid-b"}}}};
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}),
                HasSubstr("  5 pods have no manifest: their requests and priority are unknown, and they are never "
                          "evicted\n    UID uid-a\n    UID uid-b\n    and 3 more\n"));
}

TEST(StatusText, NamesPodsThatOnlyTheRuntimeKnowsAndSaysSo) {
    auto tick = sample::calm();
    tick.without_manifest = {3, {{PodUid{"uid-b"}, 300_MiB}, {PodUid{"uid-a"}, 20_MiB}, {PodUid{"uid-c"}}}};
    tick.runtime_names = std::make_shared<const RuntimeNames>(
        RuntimeNames{.pods = {{{"uid-b"}, "shop", "cart"}, {{"uid-c"}, "shop", "db"}, {{"uid-z"}, "not", "here"}}});
    const auto json = json::parse(document(tick));
    EXPECT_EQ(json["pods_without_manifest"]["pods"],
              json::parse(R"([{"uid":"uid-b","namespace":"shop","name":"cart","working_set_bytes":314572800},
                              {"uid":"uid-a","working_set_bytes":20971520},
                              {"uid":"uid-c","namespace":"shop","name":"db"}])"));
    EXPECT_EQ(json["ranking"]["pods"].size(), tick.decision.ranking.size()) << "none of them is ranked";
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}),
                HasSubstr("never evicted\n    shop/cart, 300Mi, known only from the container runtime\n"
                          "    UID uid-a, 20Mi\n    shop/db, known only from the container runtime\n\n"));
    EXPECT_THAT(*status_text(document(tick), Detail::wide, {}),
                HasSubstr("    shop/cart, 300Mi, known only from the container runtime, UID uid-b\n"));
}

TEST(StatusText, PodsWithoutAManifestOfAnOlderAgentAndOfOneThatTellsNonsense) {
    auto older = json::parse(document(sample::calm()));
    older["pods_without_manifest"] = json::parse(R"({"count":3,"uids":["uid-a",7]})");
    EXPECT_THAT(*status_text(older.dump(), Detail::normal, {}), HasSubstr("    UID uid-a\n    UID \n    and 1 more\n"));
    older["pods_without_manifest"] = json::parse(R"({"count":1,"pods":[[],"x",{"name":7,"uid":{}}]})");
    EXPECT_TRUE(status_text(older.dump(), Detail::wide, {}));
}

TEST(StatusText, AScreenfulOfPodsWithoutAManifestIsNamed) {
    auto tick = sample::calm();
    tick.without_manifest.count = 200;
    for (int i = 0; i < 110; i++) tick.without_manifest.some.push_back({PodUid{"uid-" + std::to_string(i)}});
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}), HasSubstr("    UID uid-9\n    and 190 more\n"));
    EXPECT_THAT(*status_text(document(tick), Detail::wide, {}), HasSubstr("    UID uid-109\n    and 90 more\n"));
}

TEST(StatusText, TheOtherWayToCountMemoryStandsBelowTheOneThatIsCompared) {
    auto tick = sample::calm();
    tick.observation.readings[0] = Reading{Amount{(1_GiB).value}, Amount{(8_GiB).value}, sample::monotonic(1000s)};
    auto& memory =
        tick.observation.readings[0]->memory.emplace(AvailableMemory{.kubelet = 1_GiB, .reclaimable = 2_GiB});
    const auto by_kubelet = *status_text(document(tick), Detail::normal, {false, false, 120, 0s});
    EXPECT_THAT(by_kubelet, testing::ContainsRegex("memory.available .* 1Gi +8Gi +hard 100Mi +ok\n"
                                                   "    really reclaimable .* 2Gi +soft 500Mi for 1m30s +ok\n"));
    memory.compared = MemoryAvailable::reclaimable;
    tick.observation.readings[0]->available.value = memory.reclaimable.value;
    const auto reclaimable = *status_text(document(tick), Detail::normal, {false, false, 120, 0s});
    EXPECT_THAT(reclaimable, testing::ContainsRegex("memory.available .* 2Gi +8Gi +hard 100Mi +ok\n"
                                                    "    as the kubelet counts it .* 1Gi +soft 500Mi"));
}

TEST(StatusText, ADryRunReportsThatNoPodWasSignalled) {
    auto tick = sample::evicting();
    auto victim = sample::victim();
    victim.killed_at = {};
    victim.emptied_at = {};
    victim.kill_at = tick.observation.at;
    tick.decision.in_flight = {victim};
    const auto real = status_text(document(tick), Detail::normal, {});
    tick.dry_run = true;
    const auto dry = status_text(document(tick), Detail::normal, {});
    ASSERT_TRUE(real && dry);
    EXPECT_THAT(*real, HasSubstr("asked to end (SIGTERM)"));
    EXPECT_THAT(*dry, HasSubstr("would be evicted; a dry run touches nothing"));
    EXPECT_THAT(*dry, Not(HasSubstr("SIGTERM")));
}

TEST(StatusText, ShowsTheTimeToExhaustionAndTheGrowingPods) {
    auto tick = sample::calm();
    EXPECT_THAT(*status_text(document(tick), Detail::normal, {}), Not(HasSubstr("Out of memory")));
    tick.decision.exhaustion = Exhaustion{Signal::memory_available, 2300ms, 1_GiB, {"uid-web"}, 95};
    const auto status = document(tick);
    EXPECT_EQ(json::parse(status)["exhaustion"], json::parse(R"({"signal":"memory.available","left_ms":2300,)"
                                                             R"("falls_bytes_per_second":1073741824,)"
                                                             R"("pod":"default/web","share_percent":95})"));
    EXPECT_THAT(*status_text(status, Detail::normal, {}),
                HasSubstr("Out of memory in 2.3 s at this rate: memory.available falls by 1Gi a second, 95 % of it "
                          "default/web's."));
}

TEST(StatusText, ShowsWhenDisksReachTheirThresholds) {
    auto tick = sample::calm();
    EXPECT_FALSE(json::parse(document(tick)).contains("disk_exhaustion"));
    tick.decision.disk_exhaustion = {
        {Signal::nodefs_available, 40s, {(1_GiB).value}, {(12_MiB).value}, {"uid-web"}, 90},
        {Signal::nodefs_inodes_free, 125s, {0}, {1500}}};
    const auto status = document(tick);
    EXPECT_EQ(json::parse(status)["disk_exhaustion"],
              json::parse(R"([{"signal":"nodefs.available","left_ms":40000,"falls_per_second":12582912,)"
                          R"("threshold":"1Gi","pod":"default/web","share_percent":90},)"
                          R"({"signal":"nodefs.inodesFree","left_ms":125000,"falls_per_second":1500}])"));
    const auto text = *status_text(status, Detail::normal, {});
    EXPECT_THAT(text,
                HasSubstr("nodefs.available reaches its threshold of 1Gi in 40 s at this rate: it falls by 12Mi a "
                          "second, 90 % of it default/web's.\n"));
    EXPECT_THAT(text, HasSubstr("nodefs.inodesFree is used up in 2m5s at this rate: it falls by 1500 a second.\n"));
}

TEST(StatusText, ShowsAThresholdInSecondsWithoutAMark) {
    auto tick = sample::evicting();
    Threshold seconds = sample::threshold(0_MiB, 5s);
    seconds.time_left = 30s;
    auto facts = agent();
    facts.thresholds = {seconds};
    const VictimOrder order{Signal::memory_available, tick.decision.ranking, {}};
    auto met = sample::met(500_MiB, 250_MiB, 5s);
    met.threshold.time_left = 30s;
    tick.decision.thresholds_pending = {met};
    const auto status = status_json({facts, &tick, order, {}, {}});
    EXPECT_EQ(json::parse(status)["signals"][0]["thresholds"][0]["value"], "30s left");
    EXPECT_EQ(json::parse(status)["signals"][0]["thresholds"][0]["state"], "pending");
    const auto text = status_text(status, Detail::normal, {});
    EXPECT_THAT(*text, HasSubstr("soft 30s left for 5s"));
    EXPECT_THAT(text->substr(0, text->find("PODS")), Not(HasSubstr("┃")));
}

TEST(StatusText, FitsTheTerminal) {
    for (const int columns : {100, 120, 160}) {
        const auto text = status_text(document(sample::evicting()), Detail::normal, {true, true, columns, 0s});
        ASSERT_TRUE(text);
        std::string_view rest = *text;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            const auto line = rest.substr(0, end);
            EXPECT_LE(width_of(line), static_cast<std::size_t>(columns)) << line;
            EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
            rest.remove_prefix(end + 1);
        }
    }
}

TEST(StatusText, WideSaysWhenTheNextLookIsAndWhy) {
    auto tick = sample::evicting();
    tick.decision.next_look = {tick.observation.at + 100ms, NextLookReason::unreported_stalls, {}};
    const auto text = document(tick);
    const auto next = json::parse(text)["next_look"];
    EXPECT_EQ(parse_rfc3339(next["at"].get<std::string>()), tick.observation.wall + 100ms);
    EXPECT_EQ(next["why"], "unreported_stalls");
    EXPECT_THAT(*status_text(text, Detail::wide, {}), HasSubstr("Next look at "));
    EXPECT_THAT(*status_text(text, Detail::wide, {}), HasSubstr(": unreported stalls.\n"));
    EXPECT_THAT(*status_text(text, Detail::normal, {}), Not(HasSubstr("Next look")));
}

TEST(StatusText, AnAgentWithoutAnObservationReportsThat) {
    const auto text = status_text(status_json({agent(), nullptr, {}, {}, {}}), Detail::wide, {});
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("No observation yet"));
    EXPECT_THAT(*text, HasSubstr("none since the agent started"));
}

TEST(StatusText, AForeignDocumentIsAnErrorOrAPageAndNeverAnException) {
    EXPECT_FALSE(status_text("nonsense", Detail::normal, {}));
    EXPECT_FALSE(rank_text("{}", {}));
    const auto odd = R"({"time":5,"signals":[3,{"signal":[]}],"ranking":{"pods":[7,{"name":1}]},"in_flight":[null],)"
                     R"("last_evictions":["x",{"latency_us":[]}],"sources":[{}],"pod_sources":[1],"lost":{"a":"b"}})";
    EXPECT_TRUE(status_text(odd, Detail::wide, {}));
}

TEST(RankText, ShowsTheReasonForEachPlace) {
    const auto tick = sample::calm();
    const VictimOrder order{Signal::memory_available, tick.decision.ranking, {"over its request by 900Mi", "", ""}};
    const auto text = rank_text(rank_json(agent(), tick, order), {});
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("over its request by 900Mi"));
    EXPECT_THAT(*text, HasSubstr("within its request"));
}

TEST(YamlText, QuotesWhatYamlWouldMisread) {
    const auto yaml = yaml_text(
        R"({"a":"text","b":"true","c":"1","d":"x: y","e":[],"f":{},"g":[{"h":1,"i":["j"]},[2,3]],"k":null,"l":"","m":"ö","q":"- no","r":"95Mi"})");
    ASSERT_TRUE(yaml);
    EXPECT_EQ(
        *yaml,
        "a: text\nb: \"true\"\nc: \"1\"\nd: \"x: y\"\ne: []\nf: {}\ng:\n- h: 1\n  i:\n  - j\n-\n  - 2\n  - 3\nk: null\n"
        "l: \"\"\nm: \"ö\"\nq: \"- no\"\nr: 95Mi\n");
    EXPECT_FALSE(yaml_text("{"));
}

}  // namespace
}  // namespace evictd::codec
