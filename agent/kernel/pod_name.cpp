// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_name.hpp"

#include <algorithm>

namespace evictd::kernel {
namespace {

// UIDs are UUIDs, or the hash of a static pod's manifest.
bool is_uid(std::string_view text) {
    return text.size() >= 8 && text.size() <= 63 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
           });
}

}  // namespace

std::optional<PodUid> pod_uid_of(std::string_view name) {
    constexpr std::string_view slice = ".slice";
    constexpr std::string_view pod = "pod";
    if (!name.ends_with(slice)) {
        if (name.starts_with(pod) && is_uid(name.substr(pod.size()))) {
            return PodUid{std::string(name.substr(pod.size()))};
        }
        return std::nullopt;
    }
    // "-" separates the levels of a slice's name, so the last level is the pod's and the uid's own "-" are "_".
    name.remove_suffix(slice.size());
    const auto last = name.rfind('-');
    const auto level = last == std::string_view::npos ? name : name.substr(last + 1);
    if (!level.starts_with(pod)) {
        return std::nullopt;
    }
    std::string uid(level.substr(pod.size()));
    std::replace(uid.begin(), uid.end(), '_', '-');
    return is_uid(uid) ? std::optional(PodUid{std::move(uid)}) : std::nullopt;
}

}  // namespace evictd::kernel
