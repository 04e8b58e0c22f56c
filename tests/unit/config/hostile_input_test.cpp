// SPDX-License-Identifier: Apache-2.0
// Broken, binary, huge and malicious files: a clear fault, in bounded time and memory, that is fit for a terminal.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace evictd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> faults_of(const std::string& yaml) {
    std::vector<std::string> out;
    const ConfigOutcome outcome = load(yaml, "f.yaml");
    if (outcome) return out;
    for (const Fault& fault : outcome.error()) out.push_back(fault.text());
    return out;
}

TEST(HostileInput, AKeyGivenTwiceIsAFaultWithBothLines) {
    EXPECT_THAT(faults_of("cgroupRoot: /a\nevictd: {dryRun: true, dryRun: false}\ncgroupRoot: /b\n"),
                ElementsAre("f.yaml:2: dryRun: given twice (the first is on line 2: keep one)",
                            "f.yaml:3: cgroupRoot: given twice (the first is on line 1: keep one)"));
}

TEST(HostileInput, BrokenYamlIsOneFaultAtItsLine) {
    EXPECT_THAT(faults_of("a: 1\nevictionHard: {memory.available: 1Gi\nb: [\n"),
                ElementsAre(HasSubstr(": not valid YAML: ")));
    EXPECT_THAT(faults_of("evictionHard:\n  a: b: c\n"), ElementsAre(StartsWith("f.yaml:2: not valid YAML: ")));
    EXPECT_THAT(faults_of("a: *unknown\n"), ElementsAre(StartsWith("f.yaml:1: not valid YAML: ")));
    EXPECT_THAT(faults_of("? [a]\n: b\n"), ElementsAre(StartsWith("f.yaml:1: a key is not plain text")));
    EXPECT_THAT(faults_of("a: {<<: {b: c}}\n"), testing::Contains(HasSubstr("<<: merge keys are not understood")));
    EXPECT_THAT(faults_of("cgroupRoot: /\n---\ncgroupRoot: /\n"),
                ElementsAre(HasSubstr("more than one YAML document")));
}

TEST(HostileInput, BinaryInputIsRefusedUnread) {
    EXPECT_THAT(faults_of(std::string("a: 1\nb: \0", 9)), ElementsAre(StartsWith("f.yaml:2: not a text file")));
    EXPECT_THAT(faults_of("\x7f"
                          "ELF"),
                ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_of("a: \xff\n"), ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_of("a: \xc3"), ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_of("# \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n"), ElementsAre());
}

TEST(HostileInput, BombsEndInOneFault) {
    EXPECT_THAT(faults_of(std::string(100'000, '[')), ElementsAre(HasSubstr("nested more than 64 deep")));
    EXPECT_THAT(faults_of(std::string(100'000, '{')), ElementsAre(HasSubstr("nested more than 64 deep")));
    std::string dashes;
    for (int i = 0; i < 50'000; ++i) dashes += "- ";
    EXPECT_THAT(faults_of(dashes), ElementsAre(HasSubstr("nested more than 64 deep")));
    std::string many = "a: [";
    for (int i = 0; i < 20'001; ++i) many += "b,";
    EXPECT_THAT(faults_of(many + "b]\n"), ElementsAre(HasSubstr("more than 20000 values")));
    EXPECT_THAT(faults_of(std::string((256 << 10) + 1, ' ')),
                ElementsAre("f.yaml: larger than 256 KiB (is this a configuration?)"));
}

TEST(HostileInput, AliasesShareAndDoNotMultiply) {
    std::string laughs = "kind: KubeletConfiguration\na0: &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 60; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
        for (int j = 0; j < 8; ++j) laughs += ", " + last;
        laughs += "]\n";
    }
    EXPECT_TRUE(load(laughs, "f.yaml"));
    EXPECT_THAT(faults_of("kind: KubeletConfiguration\na: &a [*a]\n"),
                ElementsAre(StartsWith("f.yaml:2: an alias stands inside what it names")));
}

TEST(HostileInput, WhatAFileHoldsReachesTheTerminalEscapedAndCutOff) {
    EXPECT_THAT(faults_of("\"a\\e[31m\": 1\n"), ElementsAre(StartsWith("f.yaml:1: a\\x1b[31m: unknown key")));
    const auto faults = faults_of(std::string(5000, 'a') + ": 1\n");
    ASSERT_EQ(faults.size(), 1);
    EXPECT_LT(faults[0].size(), 300);
}

TEST(HostileInput, AFileThatIsAllWrongIsNotToldToTheEnd) {
    std::string wrong;
    for (int i = 0; i < 5000; ++i) wrong += "k" + std::to_string(i) + ": 1\n";
    const auto faults = faults_of(wrong);
    EXPECT_EQ(faults.size(), max_faults + 1);
    EXPECT_THAT(faults.back(), HasSubstr("more faults than these"));
}

}  // namespace
}  // namespace evictd::config
