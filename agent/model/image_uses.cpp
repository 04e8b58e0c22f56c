// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/image_uses.hpp"

#include <string>
#include <unordered_map>

#include "evictd/model/image_names.hpp"

namespace evictd {

namespace {

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A name can move to another image while a container still runs the old one; an id cannot.
bool is_content_id(std::string_view image) {
    constexpr std::size_t digits = 64;
    return digits_of_image(image).size() == digits && is_hex(digits_of_image(image));
}

using ByName = std::unordered_multimap<std::string_view, std::size_t>;

ByName index_names(const std::vector<RuntimeImage>& images) {
    ByName by_name;
    for (std::size_t i = 0; i < images.size(); ++i) {
        by_name.emplace(digits_of_image(images[i].id), i);
        for (const auto* names : {&images[i].tags, &images[i].digests}) {
            for (const std::string& name : *names) by_name.emplace(name, i);
        }
    }
    return by_name;
}

void find_image_of(const RuntimeContainer& container, bool leaves, const ByName& by_name, ImageUsers& users) {
    bool named = false;
    bool found = false;
    bool exact = false;
    for (const std::string* name : {&container.image_id, &container.image_ref, &container.image}) {
        if (name->empty() || exact) continue;
        named = true;
        const auto [first, last] = by_name.equal_range(digits_of_image(*name));
        for (auto entry = first; entry != last; ++entry) {
            ImageUsers::Of& of = users.of[entry->second];
            if (leaves) of.leaving = true;
            if (!leaves) of.staying = &container;
        }
        found = found || first != last;
        const bool is_digest = first != last && name->find('@') != std::string::npos;
        exact = name == &container.image_id || is_content_id(*name) || is_digest;
    }
    if (leaves || exact) return;
    users.some_untold = true;
    if (named && !found) users.unresolved = &container;
}

}  // namespace

ImageUsers find_image_users(const Runtime& runtime, const std::unordered_set<std::string_view>& gone) {
    const ByName by_name = index_names(runtime.images);
    ImageUsers users;
    users.of.resize(runtime.images.size());
    for (const RuntimeContainer& container : runtime.containers) {
        find_image_of(container, gone.contains(container.id), by_name, users);
    }
    return users;
}

void note_image_uses(const Runtime* before, WallTime now, Runtime& runtime) {
    const ImageUsers users = find_image_users(runtime, {});
    const bool unknown = users.some_untold || !runtime.whole.containers;
    std::unordered_map<std::string_view, const RuntimeImage*> known;
    if (before != nullptr) {
        for (const RuntimeImage& image : before->images) known.emplace(image.id, &image);
    }
    runtime.since = before != nullptr ? before->since : runtime.at;
    for (std::size_t i = 0; i < runtime.images.size(); ++i) {
        RuntimeImage& image = runtime.images[i];
        const auto earlier = known.find(image.id);
        const bool is_new = before != nullptr && earlier == known.end();
        image.first_detected = is_new ? now : WallTime{};
        image.last_used.reset();
        if (earlier != known.end()) {
            image.first_detected = earlier->second->first_detected;
            image.last_used = earlier->second->last_used;
        }
        const bool used = users.of[i].staying != nullptr || may_be_named(image, runtime.sandbox_image);
        if (used) image.last_used = now;
        image.in_use = used || unknown;
    }
}

}  // namespace evictd
