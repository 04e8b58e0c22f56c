// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "load/options.hpp"

#include <gmock/gmock.h>

namespace evictd::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fault_of(const std::vector<std::string>& words) {
    const auto options = parse(words);
    return options ? "accepted" : options.error();
}

TEST(LoadOptions, OptionsMayStandAnywhere) {
    const auto options = parse({"--in", "/a", "grow", "--hold", "16", "max", "8", "--in", "/b", "--together"});
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(options->kind, Kind::grow);
    EXPECT_EQ(options->rate, 0U);
    EXPECT_EQ(options->processes, 8U);
    EXPECT_EQ(options->hold, 16U);
    EXPECT_EQ(options->up_to, endless_mib);
    EXPECT_TRUE(options->together);
    EXPECT_FALSE(options->steady);
    EXPECT_THAT(options->groups, ElementsAre("/a", "/b"));
}

TEST(LoadOptions, EveryKindTakesItsArguments) {
    EXPECT_EQ(parse({"hold", "5"})->hold, 5U);
    EXPECT_EQ(parse({"grow", "200"})->rate, 200U);
    EXPECT_EQ(parse({"bomb", "3"})->processes, 3U);
    EXPECT_EQ(parse({"connect", "60"})->rate, 60U);
    EXPECT_EQ(parse({"sockets"})->kind, Kind::sockets);
    for (const char* kind : {"cache", "reread"}) {
        const auto options = parse({kind, "/files", "640"});
        ASSERT_TRUE(options) << options.error();
        EXPECT_EQ(options->directory, "/files");
        EXPECT_EQ(options->files_mib, 640U);
    }
}

TEST(LoadOptions, FaultsAreReported) {
    EXPECT_EQ(fault_of({}), "no load given");
    EXPECT_EQ(fault_of({"gulp", "5"}), "unknown load gulp");
    EXPECT_EQ(fault_of({"hold", "5", "--quietly", "1"}), "unknown option --quietly");
    EXPECT_EQ(fault_of({"hold", "5", "--after"}), "--after needs a value");
    EXPECT_EQ(fault_of({"hold", "5x"}), "MIB: '5x' is not a number");
    EXPECT_EQ(fault_of({"grow", "0"}), "a rate of 0 does not grow: use hold");
    EXPECT_EQ(fault_of({"grow", "max", "0"}), "PROCESSES: at least 1");
    EXPECT_THAT(fault_of({"cache", "/files"}), HasSubstr("usage: cache DIR MIB"));
    EXPECT_THAT(fault_of({"sockets", "5"}), HasSubstr("usage: sockets"));
}

}  // namespace
}  // namespace evictd::load
