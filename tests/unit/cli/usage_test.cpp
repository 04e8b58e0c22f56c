// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wrong usage, in one line each.
#include "command/usage.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "command/demo_options.hpp"

namespace evictd::command {
namespace {

// What is wrong with a command line of evictd-demo; empty: nothing.
std::string fault_of(const std::string& line) {
    CLI::App program{"a test"};
    DemoOptions options;
    add_demo_options(program, options);
    try {
        program.parse(line);
    } catch (const CLI::ParseError& error) {
        return usage_fault(error);
    }
    return {};
}

TEST(Usage, FaultsAreInOurWords) {
    EXPECT_EQ(fault_of("--foo"), "unexpected argument: --foo");
    EXPECT_EQ(fault_of("a b").substr(0, 22), "unexpected arguments: ");
    EXPECT_EQ(fault_of("--output"), "--output: needs a value");
    EXPECT_EQ(fault_of("--output xml"), "--output: invalid value \"xml\" (expected text, json)");
}

TEST(DemoOptions, NoSteeringIsOfTheOomRaceOnly) {
    EXPECT_EQ(fault_of(""), "");
    EXPECT_EQ(fault_of("--no-steering --scenario oomrace"), "");
    EXPECT_EQ(fault_of("--scenario oomrace --no-steering"), "");
    EXPECT_EQ(fault_of("--no-steering"), "--no-steering: requires --scenario oomrace");
    EXPECT_EQ(fault_of("--no-steering --scenario spike"), "--no-steering: requires --scenario oomrace");
}

TEST(DemoOptions, ScriptsHaveNeitherJsonNorAnAgentWithoutBpf) {
    EXPECT_EQ(fault_of("--scenario cluster"), "");
    EXPECT_EQ(fault_of("--scenario disk"), "");
    EXPECT_EQ(fault_of("--scenario forkbomb"), "");
    EXPECT_EQ(fault_of("--scenario disk -o json"), "--output json: not available with --scenario disk");
    EXPECT_EQ(fault_of("--scenario disk --no-bpf"), "--no-bpf: not available with --scenario disk");
    EXPECT_EQ(fault_of("--scenario cluster -o json"), "--output json: not available with --scenario cluster");
    EXPECT_EQ(fault_of("--scenario cluster --no-bpf"), "--no-bpf: not available with --scenario cluster");
    EXPECT_EQ(fault_of("--scenario cluster --no-steering"), "--no-steering: requires --scenario oomrace");
}

}  // namespace
}  // namespace evictd::command
