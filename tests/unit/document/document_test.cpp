// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Text to values, and what is refused: broken, ambiguous and malicious text, in bounded time and memory.
#include <charconv>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "document/node.hpp"
#include "document/scalar.hpp"
#include "document/value.hpp"

namespace evictd::document {
namespace {

using nlohmann::json;

json json_of(const Node& node) {
    json value;
    switch (node.kind) {
        case Node::Kind::null:
            break;
        case Node::Kind::boolean:
            value = is_true(node.text);
            break;
        case Node::Kind::integer:
            value = whole_number(node.text).value();
            break;
        case Node::Kind::fraction:
            value = std::stod(node.text);
            break;
        case Node::Kind::text:
            value = node.text;
            break;
        case Node::Kind::list:
            value = json::array();
            for (const Node& one : node.each()) value.push_back(json_of(one));
            break;
        case Node::Kind::map:
            value = json::object();
            for (const Node& one : node.each()) value[one.key] = json_of(one);
            break;
    }
    return value;
}

std::vector<Document> parsed(std::string_view text, Syntax syntax = Syntax::yaml) {
    return parse(text, "f", syntax, manifest_limits);
}

json yaml(std::string_view text) {
    const auto documents = parsed(text);
    if (documents.size() != 1) return {};
    EXPECT_TRUE(documents[0].faults.empty()) << documents[0].faults[0].text();
    return json_of(documents[0].root);
}

std::string document_fault(std::string_view text, Syntax syntax = Syntax::yaml) {
    const auto documents = parsed(text, syntax);
    if (documents.empty() || documents.back().faults.size() != 1) return "not one fault";
    return documents.back().faults[0].text().substr(2);  // without "f:"
}

// The line of what has this key, or of the nearest above it that is there.
int line_of(const Document& document, std::initializer_list<const char*> names) {
    Reading reading(document, "f");
    Value value = reading.root();
    for (const std::string_view name : names)
        value = name[0] == '[' ? value.elements().at(static_cast<std::size_t>(name[1] - '0')) : value[name];
    return value.line();
}

TEST(Yaml, PlainWordsMeanWhatTheApiServersReaderTakesThemFor) {
    EXPECT_EQ(yaml("[1, -2, +3, 0x10, 010, 0o10, 1_000, 0b11]"), json({1, -2, 3, 16, 8, 8, 1000, 3}));
    EXPECT_EQ(yaml("[1.5, 1e3, .5, -0.25]"), json({1.5, 1000.0, 0.5, -0.25}));
    EXPECT_EQ(yaml("[true, yes, On, false, no, OFF]"), json({true, true, true, false, false, false}));
    EXPECT_EQ(yaml("[~, null, ]"), json({nullptr, nullptr}));
    EXPECT_EQ(yaml("[64Mi, 1.2.3, 08, 2026-01-01T00:00:00Z, -, .inf, 1e999, 99999999999999999999]"),
              json({"64Mi", "1.2.3", 8.0, "2026-01-01T00:00:00Z", "-", ".inf", "1e999", 1e20}));
}

TEST(Yaml, QuotedWordsStayText) {
    EXPECT_EQ(yaml(R"(["1", 'true', "", !!str 5])"), json({"1", "true", "", "5"}));
    EXPECT_EQ(yaml("a: |\n  1\n"), json({{"a", "1\n"}}));
}

TEST(Yaml, AliasesAndMergesAreExpanded) {
    EXPECT_EQ(yaml("a: &x {cpu: 1}\nb: *x\nc: {<<: *x, memory: 2}\nd: {<<: [*x, {e: 3}], cpu: 9}\n"),
              json::parse(R"({"a":{"cpu":1},"b":{"cpu":1},"c":{"cpu":1,"memory":2},"d":{"cpu":9,"e":3}})"));
}

TEST(Yaml, MergesAreAppliedWhereTheyStandAsByTheKubelet) {
    EXPECT_EQ(yaml("a: &x {m: 1}\nb: {m: 2, <<: *x}\nc: {<<: *x, m: 2}\nd: {m: 2, <<: [*x, {m: 3, n: 4}], n: 5}\n"),
              json::parse(R"({"a":{"m":1},"b":{"m":1},"c":{"m":2},"d":{"m":1,"n":5}})"));
    EXPECT_EQ(document_fault("a: {m: 1, <<: {n: 2}, m: 3}\n"),
              "1: a.m: given twice (the first is on line 1: keep one)");
}

TEST(Yaml, LineEndsThatItsReaderDoesNotKnowAreRefused) {
    constexpr auto fault = "2: a line ends in U+0085, U+2028 or U+2029 (use \\n, or escape it in double quotes)";
    for (const std::string end : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
        EXPECT_EQ(document_fault("# one\n# hi" + end + "a: 1\n"), fault);
    EXPECT_TRUE(parsed("{\"a\": \"\xe2\x80\xa8\"}", Syntax::json)[0].faults.empty());
    EXPECT_EQ(yaml("a: \"\\L\"\n"), json({{"a", "\xe2\x80\xa8"}}));
}

TEST(Yaml, WhatTheKubeletsReaderDoesNotTakeForTextIsRefused) {
    constexpr auto fault = "2: not a text file (YAML or JSON in UTF-8 is expected)";
    for (const std::string bad : {"\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                  "\xc2\x80", "\xc2\x9f", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xff", "\x7f"})
        EXPECT_EQ(document_fault("a: 1\nb: x" + bad + "y\n"), fault);
    for (const std::string good :
         {"\xc2\xa0", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbd", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbd"})
        EXPECT_EQ(yaml("a: x" + good + "y\n"), json({{"a", "x" + good + "y"}}));
}

TEST(Yaml, ManyDocumentsAndEmptyOnes) {
    EXPECT_EQ(parsed("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n").size(), 2U);
    EXPECT_TRUE(parsed("").empty());
}

TEST(Yaml, DocumentsBeforeAFaultAreKept) {
    const auto documents = parsed("a: 1\n---\nb: [\n");
    ASSERT_EQ(documents.size(), 2U);
    EXPECT_TRUE(documents[0].faults.empty());
    EXPECT_EQ(documents[1].faults.size(), 1U);
    EXPECT_NE(documents[1].faults[0].what.find("; what follows it in the file is not read"), std::string::npos);
}

TEST(Yaml, DocumentsAfterOneWithAKeyGivenTwiceAreRead) {
    const auto documents = parsed("a: 1\na: 2\n---\nb: {c: [{d: 1, d: 2}]}\n---\ne: 1\n");
    ASSERT_EQ(documents.size(), 3U);
    EXPECT_TRUE(documents[0].root.is_ambiguous);
    EXPECT_TRUE(documents[1].root.is_ambiguous);
    EXPECT_EQ(documents[1].faults.size(), 1U);
    EXPECT_FALSE(documents[2].root.is_ambiguous);
    EXPECT_TRUE(documents[2].faults.empty());
}

TEST(Yaml, FaultsNameTheirLine) {
    EXPECT_EQ(document_fault("a: 1\nb: 2\na: 3\n"), "3: a: given twice (the first is on line 1: keep one)");
    EXPECT_EQ(document_fault("a: 1\n b: 2\n").substr(0, 18), "2: not valid YAML:");
    EXPECT_EQ(document_fault("a: *b\n").substr(0, 18), "1: not valid YAML:");
    EXPECT_EQ(document_fault("\n[x]: 1\n"), "2: a key is not plain text (write `key: value`)");
}

TEST(Yaml, AnAliasOfWhatItStandsInIsRefused) {
    EXPECT_EQ(document_fault("a: &a\n  b: *a\n"),
              "2: an alias refers to a value that contains it (write the value out)");
}

TEST(Yaml, AliasBombsAreRefusedBeforeTheyGrow) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ",";
        bomb += "]\n";
    }
    EXPECT_NE(document_fault(bomb).find("more than 262144 values"), std::string::npos);
    std::string wide = "a: &a \"" + std::string(200'000, 'x') + "\"\nb: [";
    for (int k = 0; k < 1000; ++k) wide += "*a,";
    EXPECT_NE(document_fault(wide + "]\n").find("more than 262144 values"), std::string::npos);
}

TEST(Yaml, AliasBombsInManyDocumentsAreOneBomb) {
    std::string bombs;
    for (int i = 0; i < 100; ++i) {
        bombs += "---\na: &a \"" + std::string(10'000, 'x') + "\"\nb: [";
        for (int k = 0; k < 100; ++k) bombs += "*a,";
        bombs += "]\n";
    }
    EXPECT_NE(document_fault(bombs).find("more than 262144 values"), std::string::npos);
}

TEST(Yaml, WhatIsLeftAfterTheLastBracketDoesNotGoOnForEver) {
    EXPECT_EQ(document_fault("{},"),
              "1: not valid YAML: something is left after the last bracket is closed (look at indentation, quotes and "
              "brackets on this line and above)");
}

TEST(Yaml, DeepNestingIsRefusedInEveryForm) {
    std::string block;
    for (int i = 0; i < 200; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_NE(document_fault(block).find("nested more than 64 deep"), std::string::npos);
    const std::string lists = std::string(1000, '[') + std::string(1000, ']');
    EXPECT_NE(document_fault(lists).find("nested more than 64 deep"), std::string::npos);
    std::string maps;
    for (int i = 0; i < 1000; ++i) maps += "{a: ";
    EXPECT_NE(document_fault(maps + std::string(1000, '}')).find("nested more than 64 deep"), std::string::npos);
    std::string dashes;
    for (int i = 0; i < 100'000; ++i) dashes += "- ";
    EXPECT_NE(document_fault(dashes).find("nested more than 64 deep"), std::string::npos);
}

TEST(Json, FaultsNameTheirLine) {
    EXPECT_EQ(document_fault("{\"a\": 1,\n \"a\": 2}", Syntax::json),
              "2: a: given twice (the first is on line 1: keep one)");
    const auto json_fault = [](std::string_view text) { return document_fault(text, Syntax::json); };
    EXPECT_EQ(json_fault("{\n\"a\": 1,\n").substr(0, 31), "3: not valid JSON: syntax error");
    EXPECT_NE(json_fault("{\n\"a\": 1,\n").find("unexpected end of input"), std::string::npos);
    EXPECT_EQ(json_fault("\n{\"a\": nope}").substr(0, 31), "2: not valid JSON: syntax error");
    EXPECT_NE(json_fault("").find("unexpected end of input"), std::string::npos);
    EXPECT_NE(json_fault("{}\n{}").find("expected end of input"), std::string::npos);
    EXPECT_NE(json_fault("{\"a\": \"\xff\"}").find("ill-formed UTF-8"), std::string::npos);
}

TEST(Yaml, ALongListIsNotSilenceNorIsJsonInOneLine) {
    std::string list = "a: [";
    std::string map = "{\"a\": [";
    for (int i = 0; i < 60'000; ++i) list += "12345, ";
    for (int i = 0; i < 60'000; ++i) map += "12345, ";
    EXPECT_EQ(yaml(list + "1]\n")["a"].size(), 60'001U);
    EXPECT_EQ(yaml(map + "1]}")["a"].size(), 60'001U);
    EXPECT_EQ(yaml("{\"a\": 1, b: yes}"), json({{"a", 1}, {"b", true}})) << "begins as JSON, goes on as YAML";
    EXPECT_EQ(document_fault("{\"a\": 1, \"a\": 2}").substr(0, 17), "1: a: given twice");
}

TEST(Yaml, DocumentsWithoutEndAreRefused) {
    std::string many;
    for (int i = 0; i < 100'000; ++i) many += "---\na\n";
    EXPECT_NE(document_fault(many, Syntax::yaml).find("more than 262144 values"), std::string::npos);
}

TEST(Json, DeepNestingIsRefused) {
    EXPECT_NE(document_fault(std::string(100'000, '['), Syntax::json).find("nested more than 64 deep"),
              std::string::npos);
}

// yaml-cpp would keep 250 bytes for each of these until the bracket before them is closed.
TEST(Yaml, WhatItKeepsInMindIsBounded) {
    const std::string sound = "a: 1\nb:\n- [1, 2]\n";
    for (const std::string piece : {"[", "[\n", "\"\"", "&a ", "x", "# comment\n"}) {
        std::string hostile = sound + "- ";
        while (hostile.size() < (300U << 10U)) hostile += piece;
        EXPECT_NE(document_fault(hostile).find("no complete value within 256 KiB"), std::string::npos) << piece;
    }
}

TEST(Lines, AreThoseOfTheKeysOrTheNearestAbove) {
    const char* text =
        "kind: Pod\nspec:\n  containers:\n  - name: a\n    resources:\n      requests:\n        memory: 1\n  - name: "
        "b\n";
    const auto documents = parsed(text);
    ASSERT_EQ(documents.size(), 1U);
    const auto line = [&](auto... names) { return line_of(documents[0], {names...}); };
    EXPECT_EQ(line("kind"), 1);
    EXPECT_EQ(line("spec", "containers", "[0]", "resources", "requests", "memory"), 7);
    EXPECT_EQ(line("spec", "containers", "[1]", "name"), 8);
    EXPECT_EQ(line("spec", "containers", "[1]", "image"), 8);
    EXPECT_EQ(line("spec", "priority"), 2);
    EXPECT_EQ(line_of(documents[0], {}), 1);
}

TEST(Lines, CountOnThroughDocumentsAndInJson) {
    const auto two = parsed("a: 1\n---\nb: 1\nc: 2\n");
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(line_of(two[1], {"c"}), 4);
    const auto nested = parsed("{\n \"a\": [\n  {\n   \"b\": 1\n  }\n ]\n}", Syntax::json);
    ASSERT_EQ(nested.size(), 1U);
    EXPECT_EQ(line_of(nested[0], {"a", "[0]", "b"}), 4);
    EXPECT_EQ(line_of(nested[0], {"a", "[0]"}), 3);
}

}  // namespace
}  // namespace evictd::document
