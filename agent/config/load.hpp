// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The way in: YAML (or JSON) text or files to a Config, or to every fault at once. Reads files, touches nothing else.
//
// Of two files, the kubelet's values hold first and evictd's own file overrides them key by key: a key of the top level
// replaces the kubelet's as a whole (`evictionHard` with all its signals), and so does each setting below `evictd:`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Fault;
using document::Faults;

using ConfigOutcome = tl::expected<Config, Faults>;

// Whether keys that evictd does not know are the kubelet's and ignored. A file with `kind: KubeletConfiguration` is one
// of the kubelet's in any case.
enum class Dialect { evictd, kubelet };

[[nodiscard]] ConfigOutcome load(std::string_view text, std::string file_name, Dialect dialect = Dialect::evictd);

// Settings within another document, as a scenario's `config`: faults are noted there.
[[nodiscard]] Config load(const document::Value& settings);

// A file that cannot be read is a single fault on line 0, of kind `not_permitted` where that is why.
[[nodiscard]] ConfigOutcome load_file(const std::filesystem::path& path, Dialect dialect = Dialect::evictd);

// `run --kubelet-config FILE --config FILE`. Without either: the defaults.
[[nodiscard]] ConfigOutcome load_files(const std::optional<std::filesystem::path>& kubelet_config,
                                       const std::optional<std::filesystem::path>& config);
// The same files again, in an agent that runs: never blocks, and what can be read only once is a fault.
[[nodiscard]] ConfigOutcome reload_files(const std::optional<std::filesystem::path>& kubelet_config,
                                         const std::optional<std::filesystem::path>& config);

}  // namespace evictd::config
