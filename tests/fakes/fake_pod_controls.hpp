// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' page cache, limits and freezers behind the port: what each has, what was done to it, and what fails.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evictd/port/pod_controls.hpp"

namespace evictd::fakes {

struct FakeControls {
    Bytes usage;
    Bytes cache;  // that a reclaim can have
    Bytes high = port::no_limit;
    bool frozen = false;
};

class FakePodControls final : public port::PodControls {
public:
    mutable std::map<CgroupId, FakeControls> pods;
    std::string broken;                                // the call that fails: "reclaim", "set_limit", ...
    mutable std::vector<std::string> log;              // what was written, "limit=N", "frozen", "thawed", "reclaim=N"
    std::function<void(const std::string&)> on_write;  // before it is done

    [[nodiscard]] Result<Bytes> usage(const port::CgroupPlace& pod) const override {
        return find(pod, "usage").map([](const FakeControls* one) { return one->usage; });
    }
    [[nodiscard]] Status reclaim(const port::CgroupPlace& pod, Bytes bytes) const override {
        return write(pod, "reclaim", "reclaim=" + std::to_string(bytes.value), [&](FakeControls& one) {
            const Bytes taken = std::min(bytes, one.cache);
            one.cache = one.cache - taken;
            one.usage = one.usage - taken;
        });
    }
    [[nodiscard]] Result<Bytes> limit(const port::CgroupPlace& pod) const override {
        return find(pod, "limit").map([](const FakeControls* one) { return one->high; });
    }
    [[nodiscard]] Status set_limit(const port::CgroupPlace& pod, Bytes limit) const override {
        const auto text = limit == port::no_limit ? "max" : std::to_string(limit.value);
        return write(pod, "set_limit", "limit=" + text, [&](FakeControls& one) { one.high = limit; });
    }
    [[nodiscard]] Result<bool> is_frozen(const port::CgroupPlace& pod) const override {
        return find(pod, "is_frozen").map([](const FakeControls* one) { return one->frozen; });
    }
    [[nodiscard]] Status set_frozen(const port::CgroupPlace& pod, bool frozen) const override {
        return write(pod, frozen ? "freeze" : "thaw", frozen ? "frozen" : "thawed",
                     [&](FakeControls& one) { one.frozen = frozen; });
    }

private:
    [[nodiscard]] Result<FakeControls*> find(const port::CgroupPlace& pod, const std::string& call) const {
        const auto found = pods.find(pod.id);
        if (found == pods.end()) return fail(ErrorKind::vanished, pod.path, "the cgroup is gone");
        if (call == broken) return fail(ErrorKind::failed, call, "it is broken");
        return &found->second;
    }
    template <class Change>
    [[nodiscard]] Status write(const port::CgroupPlace& pod, const std::string& call, const std::string& text,
                               const Change& change) const {
        const auto found = find(pod, call);
        if (!found) return tl::unexpected(found.error());
        if (on_write) on_write(text);
        log.push_back(text);
        change(**found);
        return {};
    }
};

}  // namespace evictd::fakes
