// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
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

std::vector<std::string> faults_in(const std::string& yaml) {
    std::vector<std::string> out;
    const ConfigOutcome outcome = load(yaml, "f.yaml");
    if (outcome) return out;
    for (const Fault& fault : outcome.error()) out.push_back(fault.text());
    return out;
}

TEST(HostileInput, AKeyGivenTwiceIsAFaultWithBothLines) {
    EXPECT_THAT(faults_in("cgroupRoot: /a\nevictd: {dryRun: true, dryRun: false}\ncgroupRoot: /b\n"),
                ElementsAre("f.yaml:2: evictd.dryRun: given twice (the first is on line 2: keep one)",
                            "f.yaml:3: cgroupRoot: given twice (the first is on line 1: keep one)"));
}

TEST(HostileInput, BrokenYamlIsOneFaultAtItsLine) {
    EXPECT_THAT(faults_in("a: 1\nevictionHard: {memory.available: 1Gi\nb: [\n"),
                ElementsAre(HasSubstr(": not valid YAML: ")));
    EXPECT_THAT(faults_in("evictionHard:\n  a: b: c\n"), ElementsAre(StartsWith("f.yaml:2: not valid YAML: ")));
    EXPECT_THAT(faults_in("a: *unknown\n"), ElementsAre(StartsWith("f.yaml:1: not valid YAML: ")));
    EXPECT_THAT(faults_in("? [a]\n: b\n"), ElementsAre(StartsWith("f.yaml:1: a key is not plain text")));
    EXPECT_THAT(faults_in("a: {<<: {b: c}}\n"), testing::Contains(HasSubstr("<<: merge keys (<<) are not supported")));
    EXPECT_THAT(faults_in("cgroupRoot: /\n---\ncgroupRoot: /\n"), ElementsAre(HasSubstr("more than one document")));
}

TEST(HostileInput, AnUnclosedBracketIsNamedWithItsOwnLine) {
    EXPECT_THAT(faults_in("# ours\nevictionHard: {memory.available: 1Gi\nevictd:\n  bpf: off\n"),
                ElementsAre("f.yaml:2: not valid YAML: { is not closed (close it on line 3 or before)"));
    EXPECT_THAT(faults_in("evictionHard:\n  memory.available: 1Gi\nenforceNodeAllocatable: [pods\nevictd: {}\n"),
                ElementsAre("f.yaml:3: not valid YAML: [ is not closed (close it on line 4 or before)"));
}

TEST(HostileInput, BrokenJsonIsReportedAsJsonAndBrokenYamlAsYaml) {
    EXPECT_THAT(
        faults_in("{\n \"evictionHard\": {\n  \"memory.available\": \"1Gi\"\n  \"nodefs.available\": \"5%\"\n }\n}\n"),
        ElementsAre(StartsWith("f.yaml:4: not valid JSON: ")));
    EXPECT_THAT(faults_in("{\n \"evictionHard\": {\n"), ElementsAre(StartsWith("f.yaml:3: not valid JSON: ")));
    EXPECT_THAT(faults_in("{\"cgroupRoot\": /,  # no JSON\n \"evictd\": {bpf: off},\n a: ]\n"),
                ElementsAre(StartsWith("f.yaml:3: not valid YAML: ")));
}

TEST(HostileInput, BinaryInputIsRefusedUnread) {
    EXPECT_THAT(faults_in(std::string("a: 1\nb: \0", 9)), ElementsAre(StartsWith("f.yaml:2: not a text file")));
    EXPECT_THAT(faults_in("\x7f"
                          "ELF"),
                ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_in("a: \xff\n"), ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_in("a: \xc3"), ElementsAre(StartsWith("f.yaml:1: not a text file")));
    EXPECT_THAT(faults_in("# \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n"), ElementsAre());
}

TEST(HostileInput, OtherEncodingsAreFaultsAndByteOrderMarksAndWindowsLinesAreNot) {
    std::string utf16 = "\xff\xfe";
    for (const char c : std::string("cgroupRoot: /a\n")) utf16 += {c, '\0'};
    EXPECT_THAT(faults_in(utf16), ElementsAre(StartsWith("f.yaml:1: not a text file (YAML or JSON in UTF-8")));
    EXPECT_THAT(faults_in("# ours\r\ncgroupRoot: /a\r\nevictionHard:\r\n  memory.available: 1Gi\r\n"), ElementsAre());
    EXPECT_EQ(load("\xef\xbb\xbf"
                   "cgroupRoot: /a\r\n",
                   "f")
                  .value()
                  .cgroup_root,
              "/a");
    EXPECT_THAT(faults_in("# a comment\rcgroupRoot: /a\r"),
                ElementsAre(StartsWith("f.yaml:1: a line ends in a carriage return alone (save it with ")));
}

TEST(HostileInput, ATruncatedFileIsOneFaultOrWhatIsLeftOfIt) {
    const std::string whole =
        "evictionHard: {memory.available: \"1Gi\", nodefs.available: '10%'}\nevictd: {dryRun: true}\n";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto faults = faults_in(whole.substr(0, size));
        EXPECT_LE(faults.size(), 1U) << whole.substr(0, size);
    }
    EXPECT_THAT(faults_in(whole.substr(0, 40)), ElementsAre(StartsWith("f.yaml:1: not valid YAML: ")));
}

TEST(HostileInput, NumbersThatAreNoneOrNegativeNameTheirLineAndKey) {
    const auto at = [](const std::string& value, const std::string& what) {
        EXPECT_THAT(faults_in("# ours\nevictionHard:\n  memory.available: " + value + "\n"),
                    ElementsAre(StartsWith("f.yaml:3: evictionHard.memory.available: " + what)));
    };
    at("-1Gi", "eviction threshold memory.available must be positive: -1Gi (");
    at("NaN%", "strconv.ParseFloat: parsing \"NaN\": invalid syntax (");
    at(".nan", "invalid quantity \".nan\" (");
    at("-.inf", "invalid quantity \"-.inf\" (");
    at("1e400%", "strconv.ParseFloat: parsing \"1e400\": value out of range (");
    at("-5%", "eviction percentage threshold memory.available must be >= 0%: -5% (");
}

TEST(HostileInput, BombsEndInOneFault) {
    EXPECT_THAT(faults_in(std::string(100'000, '[')), ElementsAre(HasSubstr("nested more than 64 deep")));
    EXPECT_THAT(faults_in(std::string(100'000, '{')), ElementsAre(HasSubstr("nested more than 64 deep")));
    std::string dashes;
    for (int i = 0; i < 50'000; ++i) dashes += "- ";
    EXPECT_THAT(faults_in(dashes), ElementsAre(HasSubstr("nested more than 64 deep")));
    std::string many = "a: [";
    for (int i = 0; i < 20'001; ++i) many += "b,";
    EXPECT_THAT(faults_in(many + "b]\n"), ElementsAre(HasSubstr("more than 20000 values")));
    EXPECT_THAT(faults_in(std::string((256 << 10) + 1, ' ')),
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
    EXPECT_THAT(faults_in("kind: KubeletConfiguration\na: &a [*a]\n"),
                ElementsAre(StartsWith("f.yaml:2: an alias refers to a value that contains it")));
}

TEST(HostileInput, WhatAFileHoldsReachesTheTerminalEscapedAndCutOff) {
    EXPECT_THAT(faults_in("\"a\\e[31m\": 1\n"), ElementsAre(StartsWith("f.yaml:1: a\\x1b[31m: unknown key")));
    const auto faults = faults_in(std::string(5000, 'a') + ": 1\n");
    ASSERT_EQ(faults.size(), 1);
    EXPECT_LT(faults[0].size(), 300);
}

TEST(HostileInput, TheFaultsOfAFileThatIsAllWrongAreLimited) {
    std::string wrong;
    for (int i = 0; i < 5000; ++i) wrong += "k" + std::to_string(i) + ": 1\n";
    const auto faults = faults_in(wrong);
    EXPECT_EQ(faults.size(), document::max_faults + 1);
    EXPECT_THAT(faults.back(), HasSubstr("more faults than these"));
}

}  // namespace
}  // namespace evictd::config
