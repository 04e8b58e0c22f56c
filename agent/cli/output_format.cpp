// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cli/output_format.hpp"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command/one_of.hpp"

namespace evictd::cli {

void add_output(CLI::App& verb, std::string& output, std::vector<std::string> formats) {
    const auto help = fmt::format("how to show it ({})", formats.front());
    auto* option = verb.add_option("-o,--output", output, help)->type_name("FORMAT");
    option->option_text(CLI::detail::join(formats, "|"));
    option->check(command::one_of(std::move(formats)));
}

}  // namespace evictd::cli
