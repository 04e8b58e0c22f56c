// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Parts of the status document for who draws a page of its own (the demo's live view): the figures of one signal, the
// pods as a table, the decision's sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/model/units.hpp"
#include "text_style.hpp"

namespace evictd::codec {

struct StatusParts {
    std::size_t pods_measured = 0;  // pods with a usage and a process
    std::optional<Amount> available;
    std::optional<Amount> capacity;
    std::string pods;  // as `evictd status` shows them
    std::string why;
    std::vector<SourceRow> sources;
};

[[nodiscard]] Result<StatusParts> status_parts(std::string_view json, Signal signal, const TextStyle& style);

}  // namespace evictd::codec
