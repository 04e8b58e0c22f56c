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
#include <vector>

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

// What a running kubelet says of its configuration: {"kubeletconfig":{...}}.
struct KubeletText {
    std::string name;  // for people
    std::string text;
};
// What lies beneath evictd's own files while the kubelet's configuration is not known, and none was kept: the kubelet's
// default hard threshold on memory (eviction.DefaultEvictionHard), because an agent without a threshold protects
// nothing. Those on disks are left to the kubelet: this one may have been told otherwise, and disks fill slowly.
[[nodiscard]] KubeletText unknown_kubelet();
// It alone, as a configuration of evictd.
[[nodiscard]] ConfigOutcome load_kubelet(const KubeletText& kubelet);

// `run --kubelet-config FILE --config FILE`. Without either: the defaults. `kubelet` comes before both files, which
// override it.
[[nodiscard]] ConfigOutcome load_files(const std::optional<std::filesystem::path>& kubelet_config,
                                       const std::optional<std::filesystem::path>& config,
                                       const std::optional<KubeletText>& kubelet = {});
// The same files again, in an agent that runs: never blocks, and what can be read only once is a fault.
[[nodiscard]] ConfigOutcome reload_files(const std::optional<std::filesystem::path>& kubelet_config,
                                         const std::optional<std::filesystem::path>& config,
                                         const std::optional<KubeletText>& kubelet = {});
// Whether reload_files() may read it.
[[nodiscard]] bool is_readable_again(const std::filesystem::path& path);

// The names of settings that differ, though both are in force as far as that is possible without a restart.
[[nodiscard]] std::vector<std::string> different_settings(const Config& in_force, const Config& wanted);

}  // namespace evictd::config
