// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "tape_members.hpp"

#include <algorithm>

namespace evictd::codec {

bool is_empty_struct(Members members, const void* whole) {
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& member) { return member.actions->is_empty(member.in(whole)); });
}

void make_empty_struct(Members members, void* whole) {
    for (const auto& member : members) member.actions->make_empty(member.in_mutable(whole));
}

}  // namespace evictd::codec
