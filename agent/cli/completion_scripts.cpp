// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The three scripts. Each completes verbs, the options of a verb, and what may follow an option.
#include "cli/completion.hpp"

namespace evictd::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
    std::string text;
    for (const auto& word : words) {
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

std::vector<std::string> names_of(const std::vector<OptionWords>& options) {
    std::vector<std::string> names;
    for (const auto& option : options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

std::string without(std::string text, const std::string& unwanted) {
    std::erase_if(text, [&](char c) { return unwanted.find(c) != std::string::npos; });
    return text;
}

// In single quotes for a shell.
std::string shell_quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

std::string bash_values(const OptionWords& option) {
    if (option.takes_file) {
        return "COMPREPLY=($(compgen -f -- \"$current\")); compopt -o filenames 2> /dev/null";
    }
    return "COMPREPLY=($(compgen -W " + shell_quoted(joined(option.choices, " ")) + " -- \"$current\"))";
}

// `case VERB,OPTION` for what follows an option, then `case VERB` for the rest.
std::string bash_verb_options(const VerbWords& verb) {
    std::string text;
    for (const auto& option : verb.options) {
        if (!option.takes_value) {
            continue;
        }
        std::vector<std::string> patterns;
        for (const auto& name : option.names) {
            patterns.push_back(verb.name + "," + name);
        }
        text +=
            "        " + joined(patterns, "|") + ")\n            " + bash_values(option) + "\n            return ;;\n";
    }
    return text;
}

// _arguments' own marks: what is in brackets or behind a colon.
std::string zsh_about(const std::string& about) { return without(about, "[]:"); }

std::string zsh_option(const OptionWords& option) {
    std::string spec;
    if (option.names.size() > 1) {
        spec = "'(" + joined(option.names, " ") + ")'{" + joined(option.names, ",") + "}";
    } else {
        spec = option.names.front();
    }
    std::string rest = "[" + zsh_about(option.about) + "]";
    if (option.takes_value) {
        rest += option.takes_file ? ":file:_files" : ":value:(" + joined(option.choices, " ") + ")";
    }
    return spec + shell_quoted(rest);
}

std::string fish_option(const std::string& condition, const OptionWords& option) {
    std::string line = "complete -c evictd -n " + shell_quoted(condition);
    for (const auto& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.takes_value) {
        line += option.takes_file ? " -r -F" : " -x -a " + shell_quoted(joined(option.choices, " "));
    }
    return line + " -d " + shell_quoted(option.about) + "\n";
}

}  // namespace

std::string bash_completion(const CommandWords& command) {
    std::vector<std::string> first = names_of(command.options);
    std::string values;
    std::string rest;
    for (const auto& verb : command.verbs) {
        first.push_back(verb.name);
        values += bash_verb_options(verb);
        auto words = names_of(verb.options);
        words.insert(words.end(), verb.choices.begin(), verb.choices.end());
        rest += "        " + verb.name + ")\n            COMPREPLY=($(compgen -W " + shell_quoted(joined(words, " ")) +
                " -- \"$current\"))\n";
        if (verb.takes_file) {
            rest +=
                "            [[ $current == -* ]] || { COMPREPLY=($(compgen -f -- \"$current\")); "
                "compopt -o filenames 2> /dev/null; }\n";
        }
        rest += "            ;;\n";
    }
    return "# bash completion for evictd: evictd completion bash > /etc/bash_completion.d/evictd\n"
           "_evictd() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W " +
           shell_quoted(joined(first, " ")) +
           " -- \"$current\"))\n"
           "        return\n"
           "    fi\n"
           "    case $verb,$before in\n" +
           values + "    esac\n    case $verb in\n" + rest + "    esac\n}\ncomplete -F _evictd evictd\n";
}

std::string zsh_completion(const CommandWords& command) {
    std::string verbs;
    std::string cases;
    for (const auto& verb : command.verbs) {
        verbs += "        " + shell_quoted(verb.name + ":" + zsh_about(verb.about)) + "\n";
        cases += "        " + verb.name + ")\n            _arguments";
        for (const auto& option : verb.options) {
            cases += " \\\n                " + zsh_option(option);
        }
        if (verb.takes_file) {
            cases += " \\\n                '*:file:_files'";
        } else if (!verb.choices.empty()) {
            cases += " \\\n                '1:argument:(" + joined(verb.choices, " ") + ")'";
        }
        cases += " ;;\n";
    }
    std::string own;
    for (const auto& option : command.options) {
        own += " " + zsh_option(option);
    }
    return "#compdef evictd\n"
           "# zsh completion for evictd: evictd completion zsh > \"${fpath[1]}/_evictd\"\n"
           "_evictd() {\n"
           "    local -a verbs=(\n" +
           verbs + "    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        _arguments" + own +
           "\n        return\n    fi\n    local verb=${words[2]}\n    shift words\n    (( CURRENT-- ))\n"
           "    case $verb in\n" +
           cases +
           "    esac\n}\nif [ \"$funcstack[1]\" = _evictd ]; then _evictd \"$@\"; else compdef _evictd evictd; fi\n";
}

std::string fish_completion(const CommandWords& command) {
    std::string text =
        "# fish completion for evictd: evictd completion fish > ~/.config/fish/completions/evictd.fish\n"
        "complete -c evictd -f\n";
    for (const auto& option : command.options) {
        text += fish_option("__fish_use_subcommand", option);
    }
    for (const auto& verb : command.verbs) {
        text +=
            "complete -c evictd -n __fish_use_subcommand -a " + verb.name + " -d " + shell_quoted(verb.about) + "\n";
        const std::string seen = "__fish_seen_subcommand_from " + verb.name;
        for (const auto& option : verb.options) {
            text += fish_option(seen, option);
        }
        if (verb.takes_file) {
            text += "complete -c evictd -n " + shell_quoted(seen) + " -F\n";
        } else if (!verb.choices.empty()) {
            text +=
                "complete -c evictd -n " + shell_quoted(seen) + " -a " + shell_quoted(joined(verb.choices, " ")) + "\n";
        }
    }
    return text;
}

}  // namespace evictd::cli
