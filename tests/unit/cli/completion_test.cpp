// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The completion scripts as text. That bash takes them is tests/integration/cli_test.sh's.
#include "cli/completion.hpp"

#include <gmock/gmock.h>

namespace evictd::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandWords sample() {
    OptionWords output{.names = {"-o", "--output"},
                       .about = "how: it's [shown]",
                       .choices = {"table", "json"},
                       .takes_value = true,
                       .takes_file = false};
    OptionWords config{
        .names = {"--config"}, .about = "a file", .choices = {}, .takes_value = true, .takes_file = true};
    OptionWords watch{.names = {"--watch"}, .about = "again", .choices = {}, .takes_value = false, .takes_file = false};
    return {.options = {{.names = {"--version"}, .about = "", .choices = {}}},
            .verbs = {{.name = "status", .about = "what it sees", .options = {output, config, watch}, .choices = {}},
                      {.name = "check", .about = "a config", .options = {}, .choices = {}, .takes_file = true}}};
}

TEST(BashCompletion, OffersVerbsAndTheProgramsOwnOptionsFirst) {
    EXPECT_THAT(bash_completion(sample()), HasSubstr("compgen -W '--version status check'"));
}

TEST(BashCompletion, OffersWhatMayFollowEachSpellingOfAnOption) {
    EXPECT_THAT(bash_completion(sample()),
                HasSubstr("status,-o|status,--output)\n            COMPREPLY=($(compgen -W 'table json'"));
}

TEST(BashCompletion, AFlagIsFollowedByNothing) {
    EXPECT_THAT(bash_completion(sample()), Not(HasSubstr("status,--watch)")));
}

TEST(ZshCompletion, DescriptionsCannotBreakOutOfTheirQuotesOrBrackets) {
    EXPECT_THAT(zsh_completion(sample()),
                HasSubstr("'(-o --output)'{-o,--output}'[how it'\\''s shown]:value:(table json)'"));
}

TEST(FishCompletion, KnowsShortAndLongFormsAndWhatTheyTake) {
    EXPECT_THAT(fish_completion(sample()), HasSubstr("-s o -l output -x -a 'table json' -d 'how: it'\\''s [shown]'"));
    EXPECT_THAT(fish_completion(sample()), HasSubstr("-l config -r -F"));
}

TEST(FishCompletion, AVerbWithAFileArgumentGetsFiles) {
    EXPECT_THAT(fish_completion(sample()), HasSubstr("'__fish_seen_subcommand_from check' -F"));
}

}  // namespace
}  // namespace evictd::cli
