// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_entry.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace evictd::kernel {
namespace {

std::uint64_t at_least_zero(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)); }

template <std::size_t N>
void copy_text(char (&into)[N], const std::string& text) {  // NOLINT(*-avoid-c-arrays): the kernel's
    std::memcpy(into, text.data(), std::min(text.size(), N - 1));
}

}  // namespace

evictd_pod entry_of(const port::ShownPod& shown) {
    const auto& observed = *shown.observed;
    evictd_pod entry{};
    copy_text(entry.uid, observed.pod->uid.value);
    copy_text(entry.name, observed.pod->full_name());
    if (observed.usage) {
        entry.usage = at_least_zero(observed.usage->usage.value);
        entry.working_set = at_least_zero(observed.usage->working_set.value);
        entry.anon = at_least_zero(observed.usage->anon.value);
        entry.file = at_least_zero(observed.usage->file.value);
        entry.processes = static_cast<std::uint32_t>(observed.usage->processes);
    }
    entry.request = at_least_zero(shown.request.value);
    entry.victim_rank = shown.victim_rank;
    return entry;
}

}  // namespace evictd::kernel
