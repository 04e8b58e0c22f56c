// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Shell completions, written from a description of the command line. Pure; what the command line is, completion.cpp
// asks of CLI11, so nothing here is to be kept in step by hand.
#pragma once

#include <string>
#include <vector>

namespace evictd::cli {

struct OptionWords {
    std::vector<std::string> names;  // "-o", "--output"
    std::string about;
    std::vector<std::string> choices;  // what may follow; empty: anything
    bool takes_value = false;
    bool takes_file = false;
};

struct VerbWords {
    std::string name;
    std::string about;
    std::vector<OptionWords> options;
    std::vector<std::string> choices;  // of its own argument
    bool takes_file = false;           // its own argument is a file
};

// `options` are the program's own.
struct CommandWords {
    std::vector<OptionWords> options;
    std::vector<VerbWords> verbs;
};

[[nodiscard]] std::string bash_completion(const CommandWords& command);
[[nodiscard]] std::string zsh_completion(const CommandWords& command);
[[nodiscard]] std::string fish_completion(const CommandWords& command);

}  // namespace evictd::cli
