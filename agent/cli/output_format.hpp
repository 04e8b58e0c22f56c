// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The option -o of a verb: in which format it prints its answer.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace evictd::cli {

// `formats`: the first is the default, which `output` has already. `output` must live until the command line
// is parsed.
void add_output(CLI::App& verb, std::string& output, std::vector<std::string> formats);

}  // namespace evictd::cli
