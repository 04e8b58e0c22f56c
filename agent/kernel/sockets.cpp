// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/sockets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>

#include "evictd/abi/settings.h"
#include "sys/fd.hpp"
#include "sys/log.hpp"

namespace evictd::kernel {
namespace {

const Candidate* find(const Choice& choice, const char* hook) {
    const auto found = std::find_if(choice.chosen.begin(), choice.chosen.end(), [&](const Candidate* candidate) {
        return std::strcmp(candidate->hook.name, hook) == 0;
    });
    return found == choice.chosen.end() ? nullptr : *found;
}

SourceRow* row_of(std::vector<SourceRow>& rows, const char* hook) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const SourceRow& row) { return row.hook == hook; });
    return found == rows.end() ? nullptr : &*found;
}

std::int64_t count_of(std::uint64_t value) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

PodSockets decode(CgroupId pod, const evictd_sockets& entry) {
    return {.pod = pod,
            .open = count_of(entry.open),
            .refused = count_of(entry.refused),
            .memory = {count_of(entry.memory)}};
}

}  // namespace

Sockets::Sockets(bpf_object* object, const Choice& choice, const std::string& unified, std::vector<SourceRow>& rows)
    : object_(object) {
    for (const char* hook : {"sockets", "sockets_shed"}) {
        const auto* candidate = find(choice, hook);
        auto* row = row_of(rows, hook);
        if (candidate != nullptr && row != nullptr) {
            attach(*candidate, unified, *row);
        }
    }
}

void Sockets::attach(const Candidate& candidate, const std::string& unified, SourceRow& row) {
    auto* program = bpf_object__find_program_by_name(object_, candidate.program);
    const auto refused = [&](const std::string& why) {
        row.detail = row.chosen + ": " + why;
        row.chosen.clear();
    };
    if (candidate.attach == Attach::iterator) {
        files_.reset(bpf_program__attach_iter(program, nullptr));
        return files_ ? void() : refused(std::strerror(errno));
    }
    if (unified.empty()) {
        return refused("cgroup v2 is mounted nowhere (mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified)");
    }
    const auto root = sys::open(unified, O_RDONLY | O_DIRECTORY);
    made_.reset(root ? bpf_program__attach_cgroup(program, root->get()) : nullptr);
    if (!made_) {
        refused(root ? std::strerror(errno) : root.error().text());
    }
}

int Sockets::map(const char* name) const { return bpf_object__find_map_fd_by_name(object_, name); }

void Sockets::forget(CgroupId pod) { (void)bpf_map_delete_elem(map("sockets"), &pod.value); }

Result<std::vector<PodSockets>> Sockets::read() {
    if (!files_) {
        return fail(ErrorKind::failed, "sockets", "they are not counted on this host", "evictd doctor tells why");
    }
    if (auto counted = run_iterator(files_.get(), "sockets"); !counted) {
        return tl::unexpected(counted.error());
    }
    std::vector<PodSockets> pods;
    const int counters = map("sockets");
    std::uint64_t pod = 0;
    std::optional<std::uint64_t> before;
    // One that goes away meanwhile makes the kernel begin anew: bounded, so that nobody can keep us here.
    for (std::size_t i = 0;
         i < EVICTD_MAX_PODS && bpf_map_get_next_key(counters, before ? &*before : nullptr, &pod) == 0; i++) {
        evictd_sockets entry{};
        if (bpf_map_lookup_elem(counters, &pod, &entry) == 0) {
            pods.push_back(decode({pod}, entry));
        }
        before = pod;
    }
    return pods;
}

Status Sockets::refuse(std::span<const CgroupId> pods, MonotonicTime until) {
    if (pods.empty() && refused_.empty()) {
        return {};
    }
    if (!made_) {
        return fail(ErrorKind::failed, "sockets", "they cannot be refused on this host", "evictd doctor tells why");
    }
    const int told = map("shed"), counters = map("sockets");
    const auto until_ns = static_cast<std::uint64_t>(until.time_since_epoch().count());
    Status result;
    for (const auto pod : pods) {
        const evictd_sockets none{};
        (void)bpf_map_update_elem(counters, &pod.value, &none, BPF_NOEXIST);  // what is refused is counted there
        if (bpf_map_update_elem(told, &pod.value, &until_ns, BPF_ANY) != 0 && result) {
            result = sys::fail_errno("sockets", errno);
        }
    }
    for (const auto pod : refused_) {
        if (std::find(pods.begin(), pods.end(), pod) == pods.end()) {
            (void)bpf_map_delete_elem(told, &pod.value);
        }
    }
    refused_.assign(pods.begin(), pods.end());
    return result;
}

std::int64_t Sockets::refused(CgroupId pod) const {
    evictd_sockets entry{};
    return bpf_map_lookup_elem(map("sockets"), &pod.value, &entry) == 0 ? count_of(entry.refused) : 0;
}

}  // namespace evictd::kernel
