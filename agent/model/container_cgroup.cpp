// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/container_cgroup.hpp"

#include <cstddef>

namespace evictd {

bool is_cgroup_of_container(std::string_view cgroup_name, std::string_view id) {
    constexpr std::size_t shortest_id = 12;
    return id.size() >= shortest_id && cgroup_name.find(id) != std::string_view::npos;
}

}  // namespace evictd
