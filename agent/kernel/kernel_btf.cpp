// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/kernel_btf.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <bpf/btf.h>

namespace evictd::kernel {
namespace {

// What CO-RE searches by name; nothing for others.
std::string_view searched_name(const btf* types, const btf_type* type) {
    if (!btf_is_composite(type) && !btf_is_typedef(type) && !btf_is_any_enum(type) && !btf_is_int(type)) {
        return {};
    }
    const std::string_view name = btf__name_by_offset(types, type->name_off);
    return name.substr(0, name.find("___"));
}

// Types, by id, with those that they are made of.
class NeededTypes {
public:
    explicit NeededTypes(const btf* types) : types_(types), needed_(btf__type_cnt(types)) {}

    void add(std::uint32_t id) {
        note(id);
        while (!unfollowed_.empty()) {
            const btf_type* type = btf__type_by_id(types_, unfollowed_.back());
            unfollowed_.pop_back();
            follow(type);
        }
    }
    [[nodiscard]] bool has(std::uint32_t id) const { return needed_[id]; }
    [[nodiscard]] std::uint32_t last() const { return last_; }

private:
    void note(std::uint32_t id) {
        if (id == 0 || id >= needed_.size() || needed_[id]) {
            return;
        }
        needed_[id] = true;
        last_ = std::max(last_, id);
        unfollowed_.push_back(id);
    }

    void follow(const btf_type* type) {
        if (btf_is_composite(type)) {
            for (std::uint16_t i = 0; i < btf_vlen(type); i++) {
                note(btf_members(type)[i].type);
            }
        } else if (btf_is_array(type)) {
            note(btf_array(type)->type);
            note(btf_array(type)->index_type);
        } else if (btf_is_mod(type) || btf_is_typedef(type)) {
            note(type->type);
        }
    }

    const btf* types_;
    std::vector<bool> needed_;
    std::vector<std::uint32_t> unfollowed_;
    std::uint32_t last_ = 0;
};

NeededTypes types_of_same_name(const btf* programs, const btf* kernel) {
    std::unordered_set<std::string_view> names;
    for (std::uint32_t id = 1; id < btf__type_cnt(programs); id++) {
        names.insert(searched_name(programs, btf__type_by_id(programs, id)));
    }
    NeededTypes needed(kernel);
    for (std::uint32_t id = 1; id < btf__type_cnt(kernel); id++) {
        const auto name = searched_name(kernel, btf__type_by_id(kernel, id));
        if (!name.empty() && names.contains(name)) {
            needed.add(id);
        }
    }
    return needed;
}

}  // namespace

void FreeBtf::operator()(btf* types) const { btf__free(types); }

Btf excerpt_for(const btf* programs, const btf* kernel) {
    const auto needed = types_of_same_name(programs, kernel);
    Btf excerpt(btf__new_empty());
    for (std::uint32_t id = 1; excerpt && id <= needed.last(); id++) {
        const btf_type* type = btf__type_by_id(kernel, id);
        // A pointer to nothing stands for all that is not needed, so that ids stay as they are.
        const int added = needed.has(id) && !btf_is_ptr(type) ? btf__add_type(excerpt.get(), kernel, type)
                                                              : btf__add_ptr(excerpt.get(), 0);
        if (added != static_cast<int>(id)) {
            excerpt.reset();
        }
    }
    return excerpt;
}

}  // namespace evictd::kernel
