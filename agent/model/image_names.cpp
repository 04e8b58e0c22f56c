// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/image_names.hpp"

#include <algorithm>
#include <string>

namespace evictd {

namespace {

struct ImageName {
    std::string tagged;       // "nginx:latest", of "docker.io/library/nginx"; empty: it has only a digest
    std::string_view digest;  // "sha256:..."; empty: none
};

void strip(std::string_view& text, std::string_view prefix) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
}

ImageName parts_of(std::string_view name) {
    const auto at = name.find('@');
    ImageName parts;
    if (at != std::string_view::npos) parts.digest = name.substr(at + 1);
    name = name.substr(0, at);
    strip(name, "index.");
    strip(name, "docker.io/");
    strip(name, "library/");
    const auto last = name.rfind('/');
    const bool has_tag = name.find(':', last == std::string_view::npos ? 0 : last) != std::string_view::npos;
    if (name.empty() || (!has_tag && !parts.digest.empty())) return parts;
    parts.tagged = std::string(name) + (has_tag ? "" : ":latest");
    return parts;
}

}  // namespace

std::string_view digits_of_image(std::string_view id) {
    strip(id, "sha256:");
    return id;
}

bool may_be_named(const RuntimeImage& image, std::string_view name) {
    if (name.empty()) return false;
    if (digits_of_image(image.id) == digits_of_image(name)) return true;
    const ImageName wanted = parts_of(name);
    const auto is_it = [&](const std::string& other) {
        const ImageName parts = parts_of(other);
        const bool same_digest = !parts.digest.empty() && (parts.digest == wanted.digest || parts.digest == name);
        return same_digest || (!parts.tagged.empty() && parts.tagged == wanted.tagged) || other == name;
    };
    return image.spec == name || std::any_of(image.tags.begin(), image.tags.end(), is_it) ||
           std::any_of(image.digests.begin(), image.digests.end(), is_it);
}

}  // namespace evictd
