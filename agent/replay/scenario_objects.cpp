// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_objects.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "evictd/model/text.hpp"
#include "replay/scenario_step.hpp"

namespace evictd::replay {
namespace {

std::string read_word(const Value& map, std::string_view key) {
    const Value word = map[key];
    const auto text = word.text();
    if (!text || text->empty()) word.refuse("is missing", "give it as text");
    return text.value_or("");
}

OwnerReference read_owner(const Value& map) {
    map.allow({"kind", "uid", "name", "controller", "blockOwnerDeletion"});
    return {.kind = read_word(map, "kind"),
            .name = map["name"].text().value_or(""),
            .uid = read_word(map, "uid"),
            .controller = map["controller"].boolean().value_or(false),
            .block_owner_deletion = map["blockOwnerDeletion"].boolean().value_or(false)};
}

policy::OwnedObject read_object(const Value& map) {
    map.allow({"kind", "uid", "name", "owners"});
    policy::OwnedObject object;
    object.id = {read_word(map, "kind"), read_word(map, "uid")};
    object.name = map["name"].text().value_or("");
    for (const Value& element : map["owners"].elements()) object.owners.push_back(read_owner(element));
    return object;
}

policy::DeletePolicy read_policy(const Value& value) {
    using policy::DeletePolicy;
    constexpr std::array<std::pair<std::string_view, DeletePolicy>, 3> words{{
        {"background", DeletePolicy::background},
        {"foreground", DeletePolicy::foreground},
        {"orphan", DeletePolicy::orphan},
    }};
    return value.one_of(words).value_or(DeletePolicy::background);
}

void refuse_stranger(const Value& uid, std::string_view text, const ObjectsByUid& objects) {
    if (uid.reading().is_full()) return;
    std::vector<std::string_view> known;
    known.reserve(objects.size());
    for (const auto& [name, object] : objects) known.push_back(name);
    std::sort(known.begin(), known.end());
    uid.refuse("there is no object " + in_quotes(text), where_to_list(text, known, "objects"));
}

}  // namespace

std::vector<policy::OwnedObject> read_objects(const Value& objects) {
    std::vector<policy::OwnedObject> list;
    std::unordered_set<std::string> taken;
    for (const Value& element : objects.elements()) {
        policy::OwnedObject object = read_object(element);
        if (!taken.insert(object.id.uid).second) {
            element["uid"].refuse("is listed twice: \"" + excerpt(object.id.uid) + "\"", "give each object its own");
        }
        list.push_back(std::move(object));
    }
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
    for (const Value& element : list.elements()) {
        element.allow({"uid", "policy"});
        const std::string uid = read_word(element, "uid");
        const auto policy = read_policy(element["policy"]);
        const auto found = objects.find(uid);
        if (found == objects.end()) {
            refuse_stranger(element["uid"], uid, objects);
            continue;
        }
        deletions.push_back({found->second->id, policy});
    }
    return deletions;
}

}  // namespace evictd::replay
