// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The real programs in the running kernel, loaded once for all tests: verifying them takes seconds on an emulated
// machine. Each test has cgroups and events of its own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/bpf.hpp"
#include "kernel/bpf_events.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/pod_process.hpp"
#include "kernel/usage_iter.hpp"

namespace evictd::kernel_test {

// Ends the programs before the process does.
class LoadedOnce final : public testing::Environment {
public:
    void TearDown() override;
};

// `refused`: programs that are not taken, as if the kernel refused them.
Result<std::unique_ptr<kernel::Bpf>> load_bpf(const std::string& pin_path, std::vector<kernel::Refusal> refused = {});
MonotonicTime now();
// As often as a pod that lives at its limit is reported here; an agent waits for a minute.
inline constexpr Duration pod_limit_period = std::chrono::milliseconds(300);

class WithBpf : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    // "kubepods", limited, as the pods' root.
    void make_pods_root(std::optional<Bytes> limit);
    // The first event of this kind, of those not looked at before, that `fits`; waits for it. Those before it are
    // dropped.
    template <class Kind, class Fits>
    std::optional<KernelEvent> wait_for(Fits fits, Duration within = patience) {
        return wait_for_any(
            [&](const KernelEvent& event) {
                const auto* kind = std::get_if<Kind>(&event.kind);
                return kind != nullptr && fits(*kind);
            },
            within);
    }
    std::optional<KernelEvent> wait_for_any(const std::function<bool(const KernelEvent&)>& fits, Duration within);
    // Everything that is pending, without waiting.
    std::vector<KernelEvent> pending();
    // Until the watermark timer has compared so many times more.
    bool wait_for_ticks(std::uint64_t more);
    [[nodiscard]] std::vector<port::CgroupUsage> usage() const;

    TestCgroups cgroups_;
    kernel::Bpf* bpf_ = nullptr;
    kernel::BpfEvents* events_ = nullptr;

private:
    std::vector<KernelEvent> unseen_;
};

}  // namespace evictd::kernel_test
