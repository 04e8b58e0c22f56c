// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as a record of the ring buffer, as rows of the usage iterator, as /proc's texts and as a cgroup's name:
// what is read out of them is within its bounds. The kernel is trusted to write them; a wrong offset of ours is not.
#include "kernel/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "evictd/abi/event.h"
#include "kernel/pod_name.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/usage_files.hpp"

namespace {

using namespace evictd;

void expect(bool holds) {
    if (!holds) std::abort();
}

struct Check {
    void operator()(const WatermarkCrossed& edge) const {
        expect(edge.threshold.value >= 0 && edge.available.value >= 0);
    }
    void operator()(const OomKill& kill) const {
        expect(kill.comm.size() <= EVICTD_COMM_LENGTH && kill.comm.find('\0') == std::string::npos);
        expect(kill.memcg == (kill.limiting_cgroup != CgroupId{}));
        expect(kill.usage.value >= 0 && kill.limit.value >= 0);
        expect(kill.container_cgroup.size() <= EVICTD_CGROUP_NAME_LENGTH &&
               kill.container_cgroup.find('\0') == std::string::npos);
        expect(kill.role <= OomRole::child);
    }
    void operator()(const CgroupLife& life) const {
        expect(life.path.size() <= EVICTD_PATH_LENGTH && life.path.find('\0') == std::string::npos);
        expect(life.change <= CgroupChange::emptied);
    }
    void operator()(const MemcgBreach& breach) const {
        expect(breach.usage.value >= 0 && breach.limit.value >= 0);
        expect(breach.container_cgroup.size() <= EVICTD_CGROUP_NAME_LENGTH &&
               breach.container_cgroup.find('\0') == std::string::npos);
        expect((breach.hits > 0) == (breach.pod_cgroup != CgroupId{}));
    }
    void operator()(const SocketMemoryShort& memory) const {
        expect(memory.protocol.size() <= EVICTD_PROTOCOL_LENGTH && memory.protocol.find('\0') == std::string::npos);
        expect(memory.used.value >= 0 && memory.pressure.value >= 0 && memory.limit.value >= 0);
    }
    void operator()(const StallTriggered& /*never*/) const { expect(false); }
    void operator()(const EventsLost& /*never*/) const { expect(false); }
    template <class Other>
    void operator()(const Other& /*any*/) const {}
};

void records(std::span<const std::byte> bytes) {
    if (const auto event = kernel::decode_event(bytes)) {
        expect(event->time.time_since_epoch().count() >= 0);
        std::visit(Check{}, event->kind);
    }
    std::vector<port::CgroupUsage> rows;
    kernel::decode_usage(bytes, rows);
    expect(rows.size() == bytes.size() / sizeof(evictd_usage));
    for (const auto& row : rows) {
        expect(row.usage.value >= 0 && row.inactive_file.value >= 0 && row.active_file.value >= 0 &&
               row.anon.value >= 0);
        expect(!row.limit || row.limit->value >= 0);
    }
}

void texts(const std::string& text) {
    if (const auto reading = kernel::parse_meminfo(text)) {
        expect(reading->total.value >= 0 && reading->available.value >= 0);
    }
    expect(kernel::parse_cpu_list_pages(text) >= 0);
    (void)kernel::flat_value(text, "inactive_file");
    if (const auto uid = kernel::pod_uid_of(text)) {
        expect(uid->value.size() >= 8 && uid->value.size() <= 63);
        expect(uid->value.find_first_of("/_. ") == std::string::npos);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    records({reinterpret_cast<const std::byte*>(bytes), size});
    texts({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
