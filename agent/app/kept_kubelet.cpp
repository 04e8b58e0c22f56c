// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/kept_kubelet.hpp"

#include <string_view>
#include <utility>

#include "evictd/model/text.hpp"
#include "reconcile/ledger_file.hpp"

namespace evictd::app {
namespace {

// The number is that of the layout: with another one the file is not read.
constexpr std::string_view layout = "evictd: the kubelet's configuration, 1";

// A line without its end, which `rest` loses. None: there is no whole line.
std::optional<std::string_view> next_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
}

// It is written without fsync: after a crash of the machine it may be cut short, so it says how long it is.
std::string head_of(const std::string& node, const KeptKubelet& kept) {
    return std::string(layout) + '\n' + node + '\n' + std::to_string(kept.text.size()) + '\n' + rfc3339(kept.at) + '\n';
}

}  // namespace

std::string kept_kubelet_path(const AgentConfig& config) { return config.state_path + "/kubelet_config"; }

Status keep_kubelet(const std::string& path, const std::string& node, const KeptKubelet& kept) {
    auto text = head_of(node, kept) + kept.text;
    if (text.size() > longest_kept_kubelet) return fail(ErrorKind::invalid, path, "the answer is too long to be kept");
    return reconcile::write_ledger(path, text);
}

Result<std::optional<KeptKubelet>> read_kept_kubelet(const std::string& path, const std::string& node) {
    const auto text = reconcile::read_ledger(path, longest_kept_kubelet);
    if (!text) return tl::unexpected(text.error());
    if (!*text) return std::nullopt;
    std::string_view rest(**text);
    if (next_line(rest) != layout) return fail(ErrorKind::invalid, path, "was not written by this version of evictd");
    if (next_line(rest) != node) return fail(ErrorKind::invalid, path, "is of another node");
    const auto size = next_line(rest);
    const auto at = parse_rfc3339(next_line(rest).value_or(""));
    if (!at || size != std::to_string(rest.size())) return fail(ErrorKind::invalid, path, "is not whole");
    return KeptKubelet{.text = std::string(rest), .at = *at};
}

}  // namespace evictd::app
