// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_owed.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "event_id.hpp"
#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

// What `kernel` holds beside slab and page tables; all of it where only the sum is known.
Bytes other_kernel(const HeldMemory& held) { return std::max(Bytes{0}, held.kernel - held.slab - held.page_tables); }

std::string kind_text(const std::string& kind) {
    if (kind == "shmem") return "shared memory (tmpfs, memfd)";
    if (kind == "file") return "page cache";
    if (kind == "slab") return "slab (dentries, inodes)";
    if (kind == "page_tables") return "page tables";
    return kind == "kernel" ? "kernel memory" : "anonymous memory";
}

}  // namespace

std::string main_kind(const HeldMemory& held) {
    const std::array<std::pair<const char*, Bytes>, 6> kinds{{{"anon", held.anon},
                                                              {"file", held.file},
                                                              {"shmem", held.shmem},
                                                              {"slab", held.slab},
                                                              {"page_tables", held.page_tables},
                                                              {"kernel", other_kernel(held)}}};
    const auto most =
        std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most->second > Bytes{0} ? most->first : "";
}

void tell_owed(const OwedMemory& owed, const HeldMemory* held, Event& event) {
    const auto bytes = held != nullptr ? std::optional(held->total) : owed.left;
    const std::string kind = held != nullptr ? main_kind(*held) : "";
    const std::string amount = bytes ? bytes_text(bytes->value) : "an unknown amount";
    event.message = "Pod " + owed.pod_name;
    event.message += owed.evicted ? " was evicted and its last process is gone, but " + amount + " of its memory"
                                  : " has no process left, but " + amount + " of its memory";
    event.message += " is still charged to it";
    if (!kind.empty()) event.message += ", most of it " + kind_text(kind);
    event.message += "; no kill returns it";
    event.not_returned = EventOwed{bytes, kind};
    event.id = eviction_id(owed.pod, owed.cause);
}

}  // namespace evictd::codec
