// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd completion: the command line as CLI11 knows it, as a script for a shell.
#include "cli/completion.hpp"

#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>

#include "cli/verb.hpp"
#include "command/one_of.hpp"
#include "command/terminal.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::one_of;
using command::print;

namespace {

// one_of shows what it takes as "FORMAT:{table,json}".
std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const auto open = type.find('{');
    const auto close = type.find('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos) {
        return choices;
    }
    std::istringstream words(type.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(words, word, ',');) {
        choices.push_back(word);
    }
    return choices;
}

bool is_path(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type == "FILE" || type == "PATH" || type == "DIR" || option.get_name(true) == "FILE";
}

OptionWords words_of(const CLI::Option& option) {
    OptionWords words{.names = {},
                      .about = option.get_description(),
                      .choices = choices_of(option),
                      .takes_value = option.get_items_expected_max() > 0,
                      .takes_file = is_path(option)};
    for (const auto& name : option.get_snames()) {
        words.names.push_back("-" + name);
    }
    for (const auto& name : option.get_lnames()) {
        words.names.push_back("--" + name);
    }
    return words;
}

VerbWords words_of(const CLI::App& verb) {
    VerbWords words{
        .name = verb.get_name(), .about = verb.get_description(), .options = {}, .choices = {}, .takes_file = false};
    for (const auto* option : verb.get_options()) {
        if (option->get_positional()) {
            words.choices = choices_of(*option);
            words.takes_file = is_path(*option);
        } else {
            words.options.push_back(words_of(*option));
        }
    }
    return words;
}

CommandWords words_of_program(const CLI::App& program) {
    CommandWords command;
    for (const auto* option : program.get_options()) {
        command.options.push_back(words_of(*option));
    }
    for (const auto* verb : program.get_subcommands({})) {
        if (!verb->get_group().empty()) {  // hidden otherwise
            command.verbs.push_back(words_of(*verb));
        }
    }
    return command;
}

Exit write(const CLI::App& program, const std::string& shell) {
    const auto command = words_of_program(program);
    end_quietly({});
    const auto printed = print(shell == "bash"  ? bash_completion(command)
                               : shell == "zsh" ? zsh_completion(command)
                                                : fish_completion(command));
    return printed ? Exit::fine : tell(printed.error());
}

}  // namespace

void add_completion(CLI::App& program, Action& action) {
    auto shell = std::make_shared<std::string>();
    auto* verb = program.add_subcommand("completion", "Print a script that completes evictd's command line in a shell");
    verb->add_option("SHELL", *shell, "bash, zsh or fish")
        ->type_name("")
        ->option_text(" ")
        ->check(one_of({"bash", "zsh", "fish"}))
        ->required();
    verb->footer(
        "Examples:\n"
        "  source <(evictd completion bash)\n"
        "  evictd completion fish > ~/.config/fish/completions/evictd.fish");
    verb->callback([shell, &program, &action] { action = [shell, &program] { return write(program, *shell); }; });
}

}  // namespace evictd::cli
