// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as a configuration: a Config that can be described, or faults that each fit one printable line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/describe.hpp"
#include "config/load.hpp"

namespace {

void expect(bool holds) {
    if (!holds) std::abort();
}

bool printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const auto config = evictd::config::load(text, "f.yaml");
    if (config) {
        expect(!evictd::config::describe(*config, false).empty());
        return 0;
    }
    expect(!config.error().empty());
    for (const auto& fault : config.error()) expect(!fault.what.empty() && printable(fault.text()));
    return 0;
}
