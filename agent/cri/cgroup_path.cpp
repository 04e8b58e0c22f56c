// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/cgroup_path.hpp"

#include <algorithm>

namespace evictd::cri {
namespace {

constexpr std::string_view slice = ".slice";

// Whether it is one path component that is no way up.
bool is_name(std::string_view text) {
    return !text.empty() && text != "." && text != ".." &&
           text.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

bool is_path(std::string_view path) {
    if (!path.starts_with('/') || path.size() == 1) return false;
    for (path.remove_prefix(1);;) {
        const auto end = std::min(path.find('/'), path.size());
        if (!is_name(path.substr(0, end))) return false;
        if (end == path.size()) return true;
        path.remove_prefix(end + 1);
    }
}

// "a-b.slice" is in "a.slice". Empty: it is no slice's name.
std::string expanded(std::string_view name) {
    if (name == "-.slice") return "/";
    if (!name.ends_with(slice) || !is_name(name)) return {};
    const auto stem = name.substr(0, name.size() - slice.size());
    if (stem.empty() || stem.starts_with('-') || stem.ends_with('-')) return {};
    std::string path = "/";
    for (std::size_t end = 0; end < stem.size(); end++) {
        if (end + 1 < stem.size() && stem[end + 1] != '-') continue;
        if (stem[end] == '-') return {};  // two in a row
        path += std::string(stem.substr(0, end + 1)) + std::string(slice) + "/";
    }
    return path;
}

}  // namespace

std::string cgroup_of(std::string_view cgroups_path) {
    if (cgroups_path.starts_with('/')) return is_path(cgroups_path) ? std::string(cgroups_path) : std::string();
    const auto first = cgroups_path.find(':');
    const auto second = first == std::string_view::npos ? first : cgroups_path.find(':', first + 1);
    if (second == std::string_view::npos) return {};
    const auto parent = expanded(cgroups_path.substr(0, first));
    const auto prefix = cgroups_path.substr(first + 1, second - first - 1);
    const auto name = cgroups_path.substr(second + 1);
    if (parent.empty() || !is_name(name) || (!prefix.empty() && !is_name(prefix))) return {};
    if (name.ends_with(slice)) return {};
    return parent + (prefix.empty() ? "" : std::string(prefix) + "-") + std::string(name) + ".scope";
}

}  // namespace evictd::cri
