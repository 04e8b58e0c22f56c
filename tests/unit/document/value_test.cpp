// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Values of a document read as types, and where their faults are.
#include "document/value.hpp"

#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd::document {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ValueTest : public testing::Test {
protected:
    Value root(std::string_view text, const Limits& limits = manifest_limits) {
        reading_.emplace(parse_one(text, "f.yaml", limits), "f.yaml");
        return reading_->root();
    }
    std::vector<std::string> faults() {
        std::vector<std::string> texts;
        for (const Fault& fault : reading_->take_faults()) texts.push_back(fault.text());
        return texts;
    }

    std::optional<Reading> reading_;
};

TEST_F(ValueTest, EveryFaultIsNotedWithItsLineAndKeyInTheOrderOfTheText) {
    const Value map = root("a:\n- b: 5\n- b: [x]\nc: soon\nd: {}\ne: 300\nf: blue\n");
    constexpr std::array<std::pair<std::string_view, int>, 3> colours{{{"red", 1}, {"green", 2}, {"grey", 3}}};
    EXPECT_FALSE(map["f"].one_of(colours));
    EXPECT_FALSE(map["e"].integer(0, 255));
    EXPECT_FALSE(map["d"].boolean());
    EXPECT_FALSE(map["c"].duration());
    for (const Value& element : map["a"].elements()) EXPECT_FALSE(element["b"].text());
    EXPECT_THAT(faults(), ElementsAre("f.yaml:2: a[0].b: invalid value \"5\" (expected text: put it in quotes)",
                                      "f.yaml:3: a[1].b: found a list (expected text: put it in quotes)",
                                      "f.yaml:4: c: time: invalid duration \"soon\" (a duration is numbers with units, "
                                      "such as 90s, 5m or 1h30m)",
                                      "f.yaml:5: d: found a map (expected true or false)",
                                      "f.yaml:6: e: invalid value \"300\" (expected a whole number from 0 to 255)",
                                      "f.yaml:7: f: invalid value \"blue\" (expected red, green or grey)"));
}

TEST_F(ValueTest, WhatIsAbsentOrNullIsNoFault) {
    const Value map = root("a:\nb: {c: null}\n");
    EXPECT_FALSE(map["a"].present() || map["a"].text() || map["b"]["c"].integer() || map["x"]["y"].boolean());
    EXPECT_TRUE(map["a"].elements().empty() && map["a"].fields().empty());
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(ValueTest, AnAbsentFieldIsRefusedAtTheNearestThatIsThere) {
    const Value map = root("a:\n  b: 1\n");
    map["a"]["c"]["d"].refuse("is missing", "add it");
    EXPECT_THAT(faults(), ElementsAre("f.yaml:1: a.c.d: is missing (add it)"));
}

TEST_F(ValueTest, EveryFaultOfManyHasItsOwnPathAndSharedValuesHaveTheFirst) {
    std::string text = "shared: &s {a: [x, y]}\nother: *s\nlists:\n";
    for (int i = 0; i < 30; i++) text += "- [1, {k: [2, z]}]\n";
    const Value map = root(text);
    for (const char* name : {"other", "shared"}) EXPECT_FALSE(map[name]["a"].elements()[1].integer());
    std::vector<std::string> expected{"f.yaml:1: shared.a[1]: invalid value \"y\" (expected a whole number)"};
    const auto lists = map["lists"].elements();
    for (std::size_t i = 0; i < lists.size(); i++) {
        EXPECT_FALSE(lists[i].elements()[1]["k"].elements()[1].boolean());
        expected.push_back("f.yaml:" + std::to_string(4 + i) + ": lists[" + std::to_string(i) +
                           "][1].k[1]: invalid value \"z\" (expected true or false)");
    }
    EXPECT_EQ(faults(), expected);
}

TEST_F(ValueTest, TextIsStrictAndAScalarIsWhatWasWritten) {
    const Value list = root("[0x10, yes, '5', 1.50, text]");
    std::vector<std::string> written;
    for (const Value& element : list.elements()) written.push_back(element.scalar().value_or("?"));
    EXPECT_THAT(written, ElementsAre("0x10", "yes", "5", "1.50", "text"));
    EXPECT_EQ(list.elements()[0].integer(), 16);
    EXPECT_EQ(list.elements()[0].quantity()->value(), 16);
    EXPECT_EQ(list.elements()[1].boolean(), true);
    EXPECT_EQ(list.elements()[2].text(), "5");
    EXPECT_THAT(faults(), IsEmpty());
    EXPECT_FALSE(list.elements()[1].text());
    EXPECT_THAT(faults(), testing::SizeIs(1));
}

TEST_F(ValueTest, UnknownFieldsNameTheNearestKnown) {
    root("colour: 1\nsise: 2\n").allow({"size", "colour"});
    EXPECT_THAT(faults(), ElementsAre("f.yaml:2: sise: unknown key (did you mean size?)"));
}

TEST_F(ValueTest, NoNameIsSuggestedThatDiffersInMoreThanAThird) {
    constexpr std::array<std::string_view, 2> known{"size", "colour"};
    EXPECT_EQ(did_you_mean("sizes", known), "did you mean size?");
    EXPECT_EQ(did_you_mean("coler", known), "did you mean colour?") << "two letters of five";
    EXPECT_EQ(did_you_mean("shape", known), "expected size or colour");
    EXPECT_EQ(did_you_mean("shape", known, "see the manual"), "see the manual");
    EXPECT_EQ(did_you_mean("siz", known, {}, "top."), "did you mean top.size?");
    EXPECT_EQ(did_you_mean("sz", known), "expected size or colour");
    const std::vector<std::string_view> many(17, "unlike");
    EXPECT_EQ(did_you_mean("x", many), "") << "too many to list";
}

TEST_F(ValueTest, AKeyThatIsKnownElsewhereIsSaidToBelongThere) {
    const auto belongs = [](std::string_view key) {
        return key == "paint" ? "paint is a top-level key" : std::string{};
    };
    root("paint: 1\nsise: 2\n").allow({"size", "point"}, belongs);
    EXPECT_THAT(faults(), ElementsAre("f.yaml:1: paint: unknown key (paint is a top-level key)",
                                      "f.yaml:2: sise: unknown key (did you mean size?)"));
}

TEST_F(ValueTest, WhatIsBelowAMissingFieldIsNoFaultOfItsOwn) {
    const Value map = root("a:\n  b: 1\n");
    map["a"]["c"].refuse("missing", "add it");
    map["a"]["c"]["d"].refuse("missing", "add it");
    map["a"]["cd"].refuse("missing", "add it");
    EXPECT_THAT(faults(), ElementsAre("f.yaml:1: a.c: missing (add it)", "f.yaml:1: a.cd: missing (add it)"));
}

// sigs.k8s.io/yaml makes JSON of YAML, where such a number is written 1000. In JSON, Go's decoder refuses it.
TEST_F(ValueTest, AWholeFractionIsAWholeNumberInYamlOnly) {
    const Value list = root("[1e3, 30.0, -2.0, 08, 1.5, 1e300]");
    std::vector<std::optional<std::int64_t>> numbers;
    for (const Value& element : list.elements()) numbers.push_back(element.integer());
    EXPECT_THAT(numbers, ElementsAre(1000, 30, -2, 8, std::nullopt, std::nullopt));
    EXPECT_FALSE(root("{\"a\": 1e3}")["a"].integer());
    EXPECT_FALSE(root("{\"a\": 30.0}")["a"].integer());
}

// What an alias stands for is in the text once: a fault of its inside is one fault, but each use is refused.
TEST_F(ValueTest, EveryUseOfAnAliasIsRefused) {
    const Value map = root("a: &a {b: x}\nc: *a\n");
    for (const auto* name : {"a", "c"}) {
        const std::size_t before = reading_->refusals();
        EXPECT_FALSE(map[name]["b"].integer());
        EXPECT_GT(reading_->refusals(), before) << name;
    }
    EXPECT_THAT(faults(), ElementsAre("f.yaml:1: a.b: invalid value \"x\" (expected a whole number)"));
}

TEST_F(ValueTest, NoMoreFaultsAreKeptThanAllowed) {
    const Value list = root("[a, b, c, d]");
    const auto elements = list.elements();
    const std::size_t most = reading_->allow_faults(1);
    for (const Value& element : elements) (void)element.integer();
    reading_->limit_faults(most);
    EXPECT_EQ(reading_->refusals(), elements.size());
    EXPECT_THAT(faults(), testing::SizeIs(1));
}

// An alias of an alias may be as deep as the two together.
TEST_F(ValueTest, AliasesDoNotNestDeeperThanText) {
    for (const Limits& limits : {manifest_limits, configuration_limits}) {
        std::string text = "a0: &a0 " + std::string(40, '[') + "x" + std::string(40, ']') + "\n";
        text += "a1: " + std::string(22, '[') + "*a0" + std::string(22, ']') + "\n";
        root(text, limits);
        EXPECT_THAT(faults(), IsEmpty());
        text += "a2: " + std::string(24, '[') + "*a0" + std::string(24, ']') + "\n";
        root(text, limits);
        EXPECT_THAT(faults(), ElementsAre("f.yaml:3: nested more than 64 deep (use no aliases of aliases)"));
    }
}

}  // namespace
}  // namespace evictd::document
