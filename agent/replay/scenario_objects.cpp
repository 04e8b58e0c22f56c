// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_objects.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "config/setting.hpp"

namespace evictd::replay {
namespace {

std::string read_word(const Value& map, std::string_view key) {
    const Value word = map.at(key);
    const auto text = word.text();
    if (!text || text->empty()) word.refuse("is missing", "give it as text");
    return std::string(text.value_or(""));
}

OwnerReference read_owner(const Value& map) {
    map.allow({"kind", "uid", "name", "controller", "blockOwnerDeletion"});
    return {.kind = read_word(map, "kind"),
            .name = std::string(map.at("name").text().value_or("")),
            .uid = read_word(map, "uid"),
            .controller = map.at("controller").boolean().value_or(false),
            .block_owner_deletion = map.at("blockOwnerDeletion").boolean().value_or(false)};
}

policy::OwnedObject read_object(const Value& map) {
    map.allow({"kind", "uid", "name", "owners"});
    policy::OwnedObject object;
    object.id = {read_word(map, "kind"), read_word(map, "uid")};
    object.name = map.at("name").text().value_or("");
    const Value owners = map.at("owners");
    owners.each_element([&](const Value& element) { object.owners.push_back(read_owner(element)); });
    return object;
}

policy::DeletePolicy read_policy(const Value& value) {
    constexpr std::array<std::string_view, 3> names{"background", "foreground", "orphan"};  // by DeletePolicy
    const auto text = value.text();
    if (!text) return policy::DeletePolicy::background;
    const auto* const found = std::find(names.begin(), names.end(), *text);
    if (found == names.end()) {
        value.refuse("is no way to delete: \"" + excerpt(*text) + "\"", "use foreground, background or orphan");
        return policy::DeletePolicy::background;
    }
    return static_cast<policy::DeletePolicy>(found - names.begin());
}

void refuse_stranger(const Value& uid, std::string_view text, const ObjectsByUid& objects) {
    if (uid.has_fault()) return;
    std::vector<std::string_view> known;
    known.reserve(objects.size());
    for (const auto& [name, object] : objects) known.push_back(name);
    std::sort(known.begin(), known.end());
    uid.refuse("there is no object \"" + excerpt(text) + "\"",
               known.empty() ? "list it in `objects`"
                             : "did you mean " + excerpt(config::nearest(text, known)) + "? List it in `objects`");
}

}  // namespace

std::vector<policy::OwnedObject> read_objects(const Value& objects) {
    std::vector<policy::OwnedObject> list;
    std::unordered_set<std::string> taken;
    objects.each_element([&](const Value& element) {
        policy::OwnedObject object = read_object(element);
        if (!taken.insert(object.id.uid).second) {
            element.at("uid").refuse("is listed twice: \"" + excerpt(object.id.uid) + "\"", "give each object its own");
        }
        list.push_back(std::move(object));
    });
    return list;
}

ObjectsByUid by_uid(const std::vector<policy::OwnedObject>& objects) {
    ObjectsByUid uids;
    uids.reserve(objects.size());
    for (const auto& object : objects) uids.emplace(object.id.uid, &object);
    return uids;
}

std::optional<std::vector<DeleteRequest>> read_deletions(const Value& list, const ObjectsByUid& objects) {
    if (!list.present()) return std::nullopt;
    std::vector<DeleteRequest> deletions;
    list.each_element([&](const Value& element) {
        element.allow({"uid", "policy"});
        const std::string uid = read_word(element, "uid");
        const auto policy = read_policy(element.at("policy"));
        const auto found = objects.find(uid);
        if (found == objects.end()) return refuse_stranger(element.at("uid"), uid, objects);
        deletions.push_back({found->second->id, policy});
    });
    return deletions;
}

}  // namespace evictd::replay
