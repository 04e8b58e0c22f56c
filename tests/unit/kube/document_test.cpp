// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/document.hpp"

#include <gtest/gtest.h>

namespace evictd::kube {
namespace {

using nlohmann::json;

json yaml(std::string_view text) {
    const auto parsed = parse_documents(text, Syntax::yaml);
    EXPECT_TRUE(parsed.faults.empty()) << parsed.faults[0].text();
    return parsed.documents.size() == 1 ? parsed.documents[0].value : json();
}

std::string document_fault(std::string_view text, Syntax syntax = Syntax::yaml) {
    const auto parsed = parse_documents(text, syntax);
    return parsed.faults.size() == 1 ? parsed.faults[0].text() : std::to_string(parsed.faults.size()) + " faults";
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
    EXPECT_EQ(yaml("a: &x {cpu: 1}\nb: *x\nc: {<<: *x, memory: 2}\nd: {cpu: 9, <<: [*x, {e: 3}]}\n"),
              json::parse(R"({"a":{"cpu":1},"b":{"cpu":1},"c":{"cpu":1,"memory":2},"d":{"cpu":9,"e":3}})"));
}

TEST(Yaml, ManyDocumentsAndEmptyOnes) {
    EXPECT_EQ(parse_documents("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n", Syntax::yaml).documents.size(), 2U);
    EXPECT_TRUE(parse_documents("", Syntax::yaml).documents.empty());
}

TEST(Yaml, DocumentsBeforeAFaultAreKept) {
    const auto parsed = parse_documents("a: 1\n---\nb: [\n", Syntax::yaml);
    EXPECT_EQ(parsed.documents.size(), 1U);
    ASSERT_EQ(parsed.faults.size(), 1U);
}

TEST(Yaml, FaultsNameTheirLine) {
    EXPECT_EQ(document_fault("a: 1\nb: 2\na: 3\n"),
              "3: the key \"a\" is given twice in the same map (keep one of them)");
    EXPECT_EQ(document_fault("a: 1\n b: 2\n").substr(0, 12), "2: not YAML:");
    EXPECT_EQ(document_fault("a: *b\n").substr(0, 12), "1: not YAML:");
    EXPECT_EQ(document_fault("\n[x]: 1\n"), "2: a map or list stands where a key should be (use plain words as keys)");
}

TEST(Yaml, AnAliasOfWhatItStandsInIsRefused) {
    EXPECT_EQ(document_fault("a: &a\n  b: *a\n"), "2: an alias stands inside what it names (write the fields out)");
}

TEST(Yaml, AliasBombsAreRefusedBeforeTheyGrow) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ",";
        bomb += "]\n";
    }
    EXPECT_NE(document_fault(bomb).find("comes to more than 4 MiB of values"), std::string::npos);
    std::string wide = "a: &a \"" + std::string(200'000, 'x') + "\"\nb: [";
    for (int k = 0; k < 1000; ++k) wide += "*a,";
    EXPECT_NE(document_fault(wide + "]\n").find("comes to more than 4 MiB of values"), std::string::npos);
}

TEST(Yaml, AliasBombsInManyDocumentsAreOneBomb) {
    std::string bombs;
    for (int i = 0; i < 100; ++i) {
        bombs += "---\na: &a \"" + std::string(10'000, 'x') + "\"\nb: [";
        for (int k = 0; k < 100; ++k) bombs += "*a,";
        bombs += "]\n";
    }
    EXPECT_NE(document_fault(bombs).find("comes to more than 4 MiB of values"), std::string::npos);
}

TEST(Yaml, WhatIsLeftAfterTheLastBracketDoesNotGoOnForEver) {
    EXPECT_EQ(document_fault("{},"),
              "1: not YAML: something is left after the last bracket is closed (correct the file)");
}

TEST(Yaml, DeepNestingIsRefusedInEveryForm) {
    std::string block;
    for (int i = 0; i < 200; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_NE(document_fault(block).find("nested more than 64 levels"), std::string::npos);
    const std::string lists = std::string(1000, '[') + std::string(1000, ']');
    EXPECT_NE(document_fault(lists).find("nested more than 64 levels"), std::string::npos);
    std::string maps;
    for (int i = 0; i < 1000; ++i) maps += "{a: ";
    EXPECT_NE(document_fault(maps + std::string(1000, '}')).find("nested more than 64 levels"), std::string::npos);
    std::string dashes;
    for (int i = 0; i < 100'000; ++i) dashes += "- ";
    EXPECT_NE(document_fault(dashes).find("nested more than 64 levels"), std::string::npos);
}

TEST(Json, FaultsNameTheirLine) {
    EXPECT_EQ(document_fault("{\"a\": 1,\n \"a\": 2}", Syntax::json),
              "2: the key \"a\" is given twice in the same map (keep one of them)");
    const auto json_fault = [](std::string_view text) { return document_fault(text, Syntax::json); };
    EXPECT_EQ(json_fault("{\n\"a\": 1,\n").substr(0, 25), "3: not JSON: syntax error");
    EXPECT_NE(json_fault("{\n\"a\": 1,\n").find("unexpected end of input"), std::string::npos);
    EXPECT_EQ(json_fault("\n{\"a\": nope}").substr(0, 25), "2: not JSON: syntax error");
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
    EXPECT_EQ(document_fault("{\"a\": 1, \"a\": 2}").substr(0, 14), "1: the key \"a\"");
}

TEST(Yaml, DocumentsWithoutEndAreRefused) {
    std::string many;
    for (int i = 0; i < 100'000; ++i) many += "---\na\n";
    EXPECT_NE(document_fault(many, Syntax::yaml).find("more than 4 MiB of values"), std::string::npos);
}

TEST(Json, DeepNestingIsRefused) {
    EXPECT_NE(document_fault(std::string(100'000, '['), Syntax::json).find("nested more than 64 levels"),
              std::string::npos);
}

// yaml-cpp would keep 250 bytes for each of these until the bracket before them is closed.
TEST(Yaml, WhatItKeepsInMindIsBounded) {
    const std::string sound = "a: 1\nb:\n- [1, 2]\n";
    for (const std::string piece : {"[", "[\n", "\"\"", "&a ", "x", "# comment\n"}) {
        std::string hostile = sound + "- ";
        while (hostile.size() < (300U << 10U)) hostile += piece;
        EXPECT_NE(document_fault(hostile).find("no value ends in the 256 KiB from here on"), std::string::npos)
            << piece;
    }
}

TEST(Lines, AreThoseOfTheKeysOrTheNearestAbove) {
    const char* text =
        "kind: Pod\nspec:\n  containers:\n  - name: a\n    resources:\n      requests:\n        memory: 1\n  - name: "
        "b\n";
    const auto parsed = parse_documents(text, Syntax::yaml);
    ASSERT_EQ(parsed.documents.size(), 1U);
    const auto& lines = parsed.documents[0].lines;
    EXPECT_EQ(lines.of("kind"), 1);
    EXPECT_EQ(lines.of("spec.containers[0].resources.requests.memory"), 7);
    EXPECT_EQ(lines.of("spec.containers[1].name"), 8);
    EXPECT_EQ(lines.of("spec.containers[1].image"), 8);
    EXPECT_EQ(lines.of("spec.priority"), 2);
    EXPECT_EQ(lines.of(""), 1);
}

TEST(Lines, CountOnThroughDocumentsAndInJson) {
    const auto two = parse_documents("a: 1\n---\nb: 1\nc: 2\n", Syntax::yaml);
    ASSERT_EQ(two.documents.size(), 2U);
    EXPECT_EQ(two.documents[1].lines.of("c"), 4);
    const auto nested = parse_documents("{\n \"a\": [\n  {\n   \"b\": 1\n  }\n ]\n}", Syntax::json);
    ASSERT_EQ(nested.documents.size(), 1U);
    EXPECT_EQ(nested.documents[0].lines.of("a[0].b"), 4);
    EXPECT_EQ(nested.documents[0].lines.of("a[0]"), 3);
}

}  // namespace
}  // namespace evictd::kube
