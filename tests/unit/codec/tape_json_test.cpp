// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A tape gives back exactly what was put on it, each pod once, and refuses what no recorder has written.
#include "codec/tape_json.hpp"

#include <gmock/gmock.h>

#include "codec/decision_json.hpp"
#include "unit/codec/random_values.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class T>
void expect_round_trip(unsigned seed) {
    const auto value = RandomValues(seed).make<T>();
    std::vector<PodPtr> pods;
    const ValueWriter::NumberOf number = [&](const PodPtr& pod) {
        pods.push_back(pod);
        return static_cast<std::uint32_t>(pods.size());
    };
    RuntimePtr runtime;
    const auto number_of_runtime = [&](const RuntimePtr& one) {
        runtime = one;
        return 7U;
    };
    std::string text;
    ValueWriter(text, number, number_of_runtime).write(value);
    ValueReader reader([&](std::uint32_t wanted) { return pods.at(wanted - 1); },
                       [&](std::uint32_t wanted) { return wanted == 7 ? runtime : RuntimePtr{}; });
    T back = RandomValues(seed + 1).make<T>();  // whatever was in it before does not shine through
    const auto json = ValueReader::Json::parse(text, nullptr, false);
    ASSERT_TRUE(reader.read(json, back)) << reader.fault() << " in " << text;
    EXPECT_TRUE(same(value, back)) << text;
}

TEST(TapeJson, EveryFieldOfWhatIsDecidedOverComesBackExactly) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        expect_round_trip<Observation>(seed);
        expect_round_trip<EvictionConfig>(seed);
        expect_round_trip<State>(seed);
        expect_round_trip<Pod>(seed);
        expect_round_trip<Runtime>(seed);
        expect_round_trip<KernelEvent>(seed);
        expect_round_trip<Threshold>(seed);
    }
}

TEST(TapeJson, ABreachWrittenWithoutAPodIsRead) {
    KernelEvent event;
    const std::string line =
        R"({"time":5,"kind":{"memcg_breach":{"limit_kind":"max","cgroup":9,"usage":1048576,"limit":2097152}}})";
    const auto json = ValueReader::Json::parse(line);
    ValueReader reader({});
    ASSERT_TRUE(reader.read(json, event)) << reader.fault();
    const auto& breach = std::get<MemcgBreach>(event.kind);
    EXPECT_EQ(breach.cgroup, CgroupId{9});
    EXPECT_EQ(breach.pod_cgroup, CgroupId{});
    std::string text;
    const ValueWriter::NumberOf none;
    ValueWriter(text, none).write(event);
    EXPECT_EQ(text, line) << "one of the pods' root is written as before";
}

TEST(TapeJson, ATapeFromBeforeTheChoiceOfGraceGivesPodsTheirOwn) {
    EvictionConfig config;
    Pod pod{.qos = QosClass::guaranteed, .has_resources = true};
    ValueReader reader({});
    ASSERT_TRUE(reader.read(ValueReader::Json::parse(R"({"pressure_transition_period":5})"), config));
    EXPECT_EQ(config.soft_eviction_grace, SoftEvictionGrace::pod);
    ASSERT_TRUE(reader.read(ValueReader::Json::parse(R"({"name":"a","requests":{}})"), pod)) << reader.fault();
    EXPECT_FALSE(pod.qos || pod.has_resources || pod.requests.hugepages);
}

TEST(TapeJson, ATapeFromBeforeTheImagesOfPodsIsRead) {
    Pod pod{.containers = {Container{.name = "old", .image = "x"}}};
    ValueReader reader({});
    const auto json = ValueReader::Json::parse(R"({"name":"a","containers":[{"name":"app"}]})");
    ASSERT_TRUE(reader.read(json, pod)) << reader.fault();
    ASSERT_EQ(pod.containers.size(), 1U);
    EXPECT_EQ(pod.containers[0].image, "");
}

TEST(TapeJson, OfAStateFromBeforeItWasMeasuredWhatOthersTakeIsNotKnown) {
    State state;
    state.available_once_reaped = {7};
    const auto older = R"({"reaping":[{"pod":"a","cgroup":7,"emptied_at":5,"tasks":600}]})";
    ValueReader reader({});
    ASSERT_TRUE(reader.read(ValueReader::Json::parse(older), state)) << reader.fault();
    EXPECT_EQ(state.reaping.at(0).tasks, 600);
    EXPECT_EQ(state.available_once_reaped, std::nullopt);
    state.available_once_reaped = {2'400};
    EXPECT_THAT(state_line(state), HasSubstr(R"("available_once_reaped":2400)"));
}

TEST(TapeJson, FloatsAreBitExact) {
    for (const float value : {0.1F, 0.15F, 1.0F / 3, 1e-45F, -0.0F, 3.4028235e38F, 0.05F}) {
        std::string text;
        const ValueWriter::NumberOf none;
        ValueWriter(text, none).write(value);
        float back = 7;
        ASSERT_TRUE(ValueReader({}).read(ValueReader::Json::parse(text), back)) << text;
        EXPECT_TRUE(same(value, back)) << text;
    }
}

TEST(TapeJson, AQuantityKeepsItsNanosAndItsFormat) {
    const Quantity quantity(-(static_cast<Int128>(1) << 100), Quantity::Format::decimal_exponent);
    EXPECT_EQ(tape_text(quantity), "-1267650600228229401496703205376e");
    const auto back = quantity_from_tape(tape_text(quantity));
    ASSERT_TRUE(back);
    EXPECT_TRUE(same(quantity, *back));
    const auto spelled = quantity_from_tape("7000000000d007");
    ASSERT_TRUE(spelled);
    EXPECT_EQ(spelled->spelling(), "007");
    EXPECT_EQ(tape_text(*spelled), "7000000000d007");
    for (const char* bad : {"", "1", "d", "-d", "1x", "1.5d", "1d<", "99999999999999999999999999999999999999999d"})
        EXPECT_FALSE(quantity_from_tape(bad)) << bad;
}

Tick recorded(Tick tick, std::uint64_t number = 1) {
    tick.number = number;
    tick.config = std::make_shared<const EvictionConfig>();
    tick.before = std::make_shared<const State>();
    return tick;
}

struct Tapes : testing::Test {
    TapeLook read(const std::string& line) {
        auto read = reader.read(line);
        EXPECT_TRUE(read) << read.error().text();
        const auto* look = read ? std::get_if<TapeLook>(&*read) : nullptr;
        EXPECT_NE(look, nullptr) << line;
        return look != nullptr ? *look : TapeLook{};
    }
    std::string why(const std::string& line) {
        const auto read = reader.read(line);
        return read ? "it was read" : read.error().why;
    }

    TapeWriter writer{"0.1.0", "node-1", sample::start()};
    TapeReader reader;
};

TEST_F(Tapes, TheHeaderHasVersionNodeAndTime) {
    const auto line = writer.header(sample::start() + std::chrono::seconds(1));
    EXPECT_TRUE(line.starts_with(R"({"evictd_tape":1,"version":"0.1.0","node":"node-1",)")) << line;
    const auto read = reader.read(line);
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<TapeHeader>(*read).time, sample::start() + std::chrono::seconds(1));
    EXPECT_EQ(std::get<TapeHeader>(*read).started, sample::start());
}

TEST_F(Tapes, OnlyTheFirstLookOfAPartHasConfigurationStateAndPods) {
    const auto tick = recorded(sample::evicting());
    const auto first = writer.look(tick, true);
    auto second_tick = tick;
    second_tick.number = 2;
    const auto second = writer.look(second_tick, false);
    EXPECT_THAT(first, HasSubstr(R"("pods":[[1,)"));
    EXPECT_THAT(second, Not(HasSubstr(R"("pods":[[)")));
    EXPECT_LT(second.size(), first.size());
    const auto whole = read(first);
    EXPECT_TRUE(whole.config && whole.before);
    const auto rest = read(second);
    EXPECT_FALSE(rest.config || rest.before);
    EXPECT_EQ(rest.number, 2U);
    EXPECT_TRUE(same(rest.observation, tick.observation));
    EXPECT_EQ(rest.decision, decision_line(tick.decision, tick.observation));
}

TEST_F(Tapes, APodThatChangedIsWrittenAnew) {
    auto tick = recorded(sample::calm());
    (void)read(writer.look(tick, true));
    auto changed = std::make_shared<Pod>(*tick.observation.pods[0].pod);
    changed->priority = 7;
    tick.observation.pods[0].pod = changed;
    const auto line = writer.look(tick, false);
    EXPECT_THAT(line, HasSubstr(R"("pods":[[4,)"));
    EXPECT_EQ(read(line).observation.pods[0].pod->priority, 7);
}

TEST_F(Tapes, APodThatLeftAndCameBackIsWrittenAnew) {
    auto tick = recorded(sample::calm());
    (void)read(writer.look(tick, true));
    auto without = tick;
    without.observation.pods.pop_back();
    (void)read(writer.look(without, false));
    EXPECT_EQ(read(writer.look(tick, false)).observation.pods.back().pod->name, "dns");
}

TEST_F(Tapes, AnInventoryIsWrittenOnceForAllLooksThatShareIt) {
    Runtime runtime;
    runtime.images.emplace_back().id = "sha256:77";
    Tick tick = recorded(sample::calm());
    tick.observation.pods.clear();
    tick.decision.ranking.clear();
    tick.observation.runtime = std::make_shared<const Runtime>(runtime);
    const auto first = writer.look(tick, true);
    const auto second = writer.look(tick, false);
    EXPECT_THAT(first, HasSubstr("sha256:77"));
    EXPECT_THAT(second, Not(HasSubstr("sha256:77")));
    runtime.images[0].id = "sha256:88";
    tick.observation.runtime = std::make_shared<const Runtime>(runtime);
    const auto third = writer.look(tick, false);
    ASSERT_TRUE(read(first).observation.runtime);
    EXPECT_EQ(read(second).observation.runtime->images.at(0).id, "sha256:77");
    EXPECT_EQ(read(third).observation.runtime->images.at(0).id, "sha256:88");
    const auto header = writer.header({});
    (void)reader.read(header);
    const auto lost = reader.read(second);
    ASSERT_FALSE(lost);
    EXPECT_THAT(lost.error().text(), HasSubstr("inventory"));
    EXPECT_THAT(writer.look(tick, true), HasSubstr("sha256:88"));
}

TEST_F(Tapes, WhatIsToGoIsComparedByAReplay) {
    Tick tick = recorded(sample::calm());
    tick.decision.garbage.pass = 3;
    tick.decision.garbage.forced = true;
    const Garbage logs{GarbageKind::log_directory, "a_b_c", "a/b", {"c"}, {}, "its pod is gone"};
    const Garbage cgroup{GarbageKind::cgroup, "/kubepods/podc", "a/b", {"c"}, {}, "its pod is gone"};
    tick.decision.garbage.removals = GarbageList({cgroup, logs});
    tick.observation.left_cgroups = {{PodUid{"c"}, "/kubepods/podc"}};
    const auto look = read(writer.look(tick, true));
    EXPECT_THAT(
        look.desired,
        HasSubstr(R"("garbage":{"pass":3,"forced":true,"removals":["cgroup /kubepods/podc","log directory a_b_c"]})"));
    ASSERT_EQ(look.observation.left_cgroups.size(), 1U);
    EXPECT_EQ(look.observation.left_cgroups[0].path, "/kubepods/podc");
}

TEST_F(Tapes, AfterAHeaderNothingOfWhatStoodBeforeIsNeeded) {
    const auto tick = recorded(sample::calm());
    (void)writer.look(tick, true);
    (void)writer.header({});
    EXPECT_EQ(read(writer.look(tick, true)).observation.pods.size(), 3U);
    ASSERT_TRUE(reader.read(writer.header({})));
    EXPECT_THAT(why(R"({"look":2,"observation":{"pods":[{"pod":1}]},"decision":{}})"), HasSubstr("no pod"));
}

TEST_F(Tapes, KeysOfOlderAgentsAreIgnored) {
    EXPECT_EQ(why(R"({"before":{"ended":[{"restarts":3,"awaited_long":true}]},"observation":{},"decision":{}})"),
              "it was read");
    EXPECT_EQ(why(R"({"before":{"ended":[{"awaited_long":true,"nonsense":1}]},"observation":{},"decision":{}})"),
              "before.ended[0]: unknown key 'nonsense'");
}

TEST_F(Tapes, FaultsAreReportedWithTheirPlace) {
    EXPECT_EQ(why("{"), "not a JSON object");
    EXPECT_EQ(why("[]"), "not a JSON object");
    EXPECT_EQ(why("{}"), "neither a header nor a look");
    EXPECT_EQ(why(R"({"evictd_tape":2})"), "a tape of another version: this evictd reads version 1");
    EXPECT_EQ(why(R"({"observation":{"at":1.5},"decision":{}})"), "observation.at: not a whole number");
    EXPECT_EQ(why(R"({"observation":{"at":9223372036854775807},"decision":{}})"),
              "observation.at: a time out of range");
    EXPECT_EQ(why(R"({"observation":{"atx":1},"decision":{}})"), "observation: unknown key 'atx'");
    EXPECT_EQ(why(R"({"observation":{"pods":[{}]},"decision":{}})"),
              "observation.pods[0]: figures beyond any machine's");
    EXPECT_EQ(why(R"({"pods":[[1,{"priority":3000000000}]],"observation":{},"decision":{}})"),
              "pod.priority: a number out of range");
    EXPECT_EQ(why(R"({"observation":{"cause":{"kind":"luck"}},"decision":{}})"),
              "observation.cause.kind: an unknown word");
    EXPECT_EQ(why(R"({"config":{"thresholds":[{"value":{"share":"1"}}]},"observation":{},"decision":{}})"),
              "config.thresholds[0].value: an unknown kind");
    EXPECT_THAT(why(std::string(100'000, '[')), "not a JSON object");
    EXPECT_THAT(
        why(R"({"observation":)" + std::string(100'000, '[') + std::string(100'000, ']') + R"(,"decision":{}})"),
        HasSubstr("observation"));
}

TEST_F(Tapes, AFieldAddedToAStructIsMissedAtCompileTime) {
    struct Two {
        int a = 0;
        std::optional<Bytes> b;
    };
    EXPECT_FALSE(all_described<Two>(described(field<&Two::a>("a"))));
    EXPECT_TRUE(all_described<Two>(described(field<&Two::a>("a"), field<&Two::b>("b"))));
    struct Other {
        std::optional<Bytes> b;
    };
    EXPECT_FALSE(all_described<Two>(described(field<&Two::a>("a"), field<&Other::b>("b")))) << "of another struct";
    EXPECT_TRUE(has_enumerator<Signal::pid_available>());
    EXPECT_FALSE(has_enumerator<static_cast<Signal>(signal_count)>());
}

}  // namespace
}  // namespace evictd::codec
