// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace evictd::load {
namespace {

using Words = std::vector<std::string>;

// What stands behind the kind's name: none of it is an option.
struct Form {
    std::string_view name;
    Kind kind;
    std::size_t fewest;  // arguments
    std::size_t most;
    std::string_view help;
};

constexpr std::array<Form, 7> forms{{
    {"hold", Kind::hold, 1, 1, "hold MIB"},
    {"grow", Kind::grow, 1, 2, "grow MIB_PER_S|max [PROCESSES]   the rate is that of all processes together"},
    {"bomb", Kind::bomb, 1, 1, "bomb PROCESSES                   each forks and exits; needs a cgroup with pids.max"},
    {"cache", Kind::cache, 2, 2, "cache DIR MIB                    write files in DIR and read them once, repeatedly"},
    {"reread", Kind::reread, 2, 2,
     "reread DIR MIB                   read a file of zeros in DIR in 4 threads, forever"},
    {"connect", Kind::connect, 1, 1, "connect SOCKETS_PER_S            open sockets and take a MiB for each"},
    {"sockets", Kind::sockets, 0, 0, "sockets                          open and close 100 sockets a second"},
}};

constexpr std::string_view option_help =
    "  --in DIR        enter this cgroup directory first; once for each hierarchy\n"
    "  --hold MIB      hold this much before being ready (all processes together)\n"
    "  --up-to MIB     grow, connect: stop there and hold it\n"
    "  --steady        grow: what was not taken during a stall is not made up for\n"
    "  --together      grow: when the first process exits, all do\n"
    "  --after FILE    be ready, and begin when FILE exists; - is a byte on stdin\n"
    "  --term-ms MS    on SIGTERM take MS to exit, instead of exiting immediately\n"
    "  --shared        memory that is freed with the last process, not when one is killed\n"
    "  --first         before other processes that want the CPU\n"
    "  --write FILE    hold: then append to FILE forever, a page at a time\n"
    "Prints 'WORD PID NS' a line: ready (it holds what it should), begun, asked (SIGTERM), filled (all files were "
    "written\n"
    "once), refused (a socket), opened (a socket after that; sockets: ten more); NS is CLOCK_MONOTONIC.\n";

std::optional<std::size_t> number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// True: it was such an option.
bool set_flag(Options& options, std::string_view name) {
    const std::array<std::pair<std::string_view, bool*>, 4> flags{{{"--shared", &options.shared},
                                                                   {"--first", &options.first_served},
                                                                   {"--steady", &options.steady},
                                                                   {"--together", &options.together}}};
    const auto found = std::find_if(flags.begin(), flags.end(), [&](const auto& flag) { return flag.first == name; });
    if (found == flags.end()) {
        return false;
    }
    *found->second = true;
    return true;
}

// What is wrong; empty: nothing.
std::string set_number(std::size_t& into, const std::string& name, const std::string& text) {
    const auto value = number(text);
    into = value.value_or(0);
    return value ? std::string{} : name + ": '" + text + "' is not a number";
}

std::string set_value(Options& options, const std::string& name, const std::string& value) {
    if (name == "--in") {
        options.groups.push_back(value);
    } else if (name == "--after") {
        options.after = value;
    } else if (name == "--write") {
        options.write = value;
    } else if (name == "--hold") {
        return set_number(options.hold, name, value);
    } else if (name == "--up-to") {
        return set_number(options.up_to, name, value);
    } else if (name == "--term-ms") {
        std::size_t ms = 0;
        auto wrong = set_number(ms, name, value);
        options.term_ms = static_cast<long>(ms);
        return wrong;
    } else {
        return "unknown option " + name;
    }
    return {};
}

std::string set_grow(Options& options, const Words& arguments) {
    const bool fastest = arguments[0] == "max";
    std::string wrong = fastest ? std::string{} : set_number(options.rate, "MIB_PER_S", arguments[0]);
    if (wrong.empty() && arguments.size() > 1) {
        wrong = set_number(options.processes, "PROCESSES", arguments[1]);
    }
    if (wrong.empty() && !fastest && options.rate == 0) {
        wrong = "a rate of 0 does not grow: use hold";
    }
    return wrong.empty() && options.processes == 0 ? "PROCESSES: at least 1" : wrong;
}

std::string set_arguments(Options& options, const Words& arguments) {
    switch (options.kind) {
        case Kind::hold:
            return set_number(options.hold, "MIB", arguments[0]);
        case Kind::grow:
            return set_grow(options, arguments);
        case Kind::bomb:
            return set_number(options.processes, "PROCESSES", arguments[0]);
        case Kind::cache:
        case Kind::reread:
            options.directory = arguments[0];
            return set_number(options.files_mib, "MIB", arguments[1]);
        case Kind::connect:
            return set_number(options.rate, "SOCKETS_PER_S", arguments[0]);
        case Kind::sockets:
            break;
    }
    return {};
}

std::string set_kind(Options& options, const Words& plain) {
    for (const auto& form : forms) {
        if (!plain.empty() && plain[0] == form.name) {
            const Words arguments(plain.begin() + 1, plain.end());
            options.kind = form.kind;
            return arguments.size() < form.fewest || arguments.size() > form.most ? "usage: " + std::string(form.help)
                                                                                  : set_arguments(options, arguments);
        }
    }
    return plain.empty() ? "no load given" : "unknown load " + plain[0];
}

}  // namespace

tl::expected<Options, std::string> parse(const std::vector<std::string>& words) {
    Options options;
    Words plain;
    for (std::size_t i = 0; i < words.size(); i++) {
        if (!words[i].starts_with("--")) {
            plain.push_back(words[i]);
        } else if (!set_flag(options, words[i])) {
            if (i + 1 == words.size()) {
                return tl::unexpected(words[i] + " needs a value");
            }
            if (auto wrong = set_value(options, words[i], words[i + 1]); !wrong.empty()) {
                return tl::unexpected(wrong);
            }
            i++;
        }
    }
    if (auto wrong = set_kind(options, plain); !wrong.empty()) {
        return tl::unexpected(wrong);
    }
    return options;
}

std::string usage(const std::string& program) {
    std::string text = "usage: " + program + " LOAD [OPTION...]\n";
    for (const auto& form : forms) {
        text += "  " + std::string(form.help) + "\n";
    }
    return text + std::string(option_help);
}

}  // namespace evictd::load
