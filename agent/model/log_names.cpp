// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/log_names.hpp"

#include <algorithm>

namespace evictd {

namespace {

constexpr std::string_view log_suffix = ".log";

bool is_rotation_time(std::string_view text) {
    constexpr std::string_view form = "dddddddd-dddddd";
    return std::equal(text.begin(), text.end(), form.begin(), form.end(),
                      [](char c, char wanted) { return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted; });
}

}  // namespace

bool is_plain_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::string pod_of_log_directory(std::string_view name) {
    const auto mark = name.rfind('_');
    return std::string(mark == std::string_view::npos ? name : name.substr(mark + 1));
}

std::string container_of_log_link(std::string_view name) {
    const auto mark = name.rfind('-');
    if (mark == std::string_view::npos || !name.ends_with(log_suffix)) return {};
    return std::string(name.substr(mark + 1, name.size() - log_suffix.size() - mark - 1));
}

std::string_view live_log_of(std::string_view rotated) {
    constexpr std::string_view mark = ".log.";
    constexpr std::string_view compressed = ".gz";
    if (!is_plain_name(rotated)) return {};
    const auto at = rotated.rfind(mark);
    if (at == std::string_view::npos || at == 0) return {};
    auto time = rotated.substr(at + mark.size());
    if (time.ends_with(compressed)) time.remove_suffix(compressed.size());
    return is_rotation_time(time) ? rotated.substr(0, at + log_suffix.size()) : std::string_view();
}

PathParts parts_of_path(std::string_view path) {
    const auto mark = path.rfind('/');
    if (mark == std::string_view::npos) return {{}, path};
    return {path.substr(0, mark), path.substr(mark + 1)};
}

}  // namespace evictd
