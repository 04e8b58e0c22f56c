// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/image_uses.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "evictd/model/image_names.hpp"

namespace evictd {

namespace {

using ByName = std::unordered_multimap<std::string, std::size_t>;

ByName index_names(const std::vector<RuntimeImage>& images) {
    ByName by_name;
    const auto add = [&by_name](const std::string& name, std::size_t image) {
        for (auto& spelling : spellings_of_image(name)) by_name.emplace(std::move(spelling), image);
    };
    for (std::size_t i = 0; i < images.size(); ++i) {
        add(images[i].id, i);
        for (const auto* names : {&images[i].tags, &images[i].digests}) {
            for (const std::string& name : *names) add(name, i);
        }
    }
    return by_name;
}

// Whether there is an image of that name; each of them is used.
bool note_use(const RuntimeContainer& container, bool leaves, const std::string& name, const ByName& by_name,
              ImageUsers& users) {
    bool found = false;
    for (const std::string& spelling : spellings_of_image(name)) {
        const auto [first, last] = by_name.equal_range(spelling);
        for (auto entry = first; entry != last; ++entry) {
            ImageUsers::Of& of = users.of[entry->second];
            if (leaves) of.leaving = true;
            if (!leaves) of.staying = &container;
        }
        found = found || first != last;
    }
    return found;
}

// A tag can move to another image while a container still runs the old one; an ID and a digest cannot. An exact ID says
// what the container uses though it is not listed (somebody removed it); what its other names are of stays too then.
void find_image_of(const RuntimeContainer& container, bool leaves, const ByName& by_name, ImageUsers& users) {
    bool named = false;
    bool found = false;
    bool exact = false;
    for (const std::string* name : {&container.image_id, &container.image_ref, &container.image}) {
        if (name->empty() || (exact && (found || leaves))) continue;
        named = true;
        const bool is_listed = note_use(container, leaves, *name, by_name, users);
        const bool is_id = name == &container.image_id || !digits_of_content(*name).empty();
        exact = exact || is_id || (is_listed && name->find('@') != std::string::npos);
        found = found || is_listed;
    }
    if (leaves || exact) return;
    users.some_untold = true;
    if (named && !found) users.unresolved = &container;
}

void find_volumes_of(const RuntimeContainer& container, bool leaves, const ByName& by_name, ImageUsers& users) {
    for (const std::string& name : container.image_volumes) {
        const bool is_listed = note_use(container, leaves, name, by_name, users);
        if (!is_listed && !leaves) users.unresolved = &container;
    }
}

}  // namespace

ImageUsers find_image_users(const Runtime& runtime, const std::unordered_set<std::string_view>& gone) {
    const ByName by_name = index_names(runtime.images);
    ImageUsers users;
    users.of.resize(runtime.images.size());
    for (const RuntimeContainer& container : runtime.containers) {
        const bool leaves = gone.contains(container.id);
        find_image_of(container, leaves, by_name, users);
        find_volumes_of(container, leaves, by_name, users);
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
