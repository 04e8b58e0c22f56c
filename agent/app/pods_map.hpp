// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the pinned map "pods" current, for bpftool and for other programs. Off the kill path, as any publisher.
#pragma once

#include "evictd/port/publisher.hpp"
#include "kernel/bpf.hpp"

namespace evictd::app {

class PodsMap final : public port::Publisher {
public:
    // `bpf` must outlive it.
    explicit PodsMap(kernel::Bpf& bpf) : bpf_(bpf) {}
    void publish(const RecordPtr& record) override;

private:
    kernel::Bpf& bpf_;
    bool failed_ = false;
};

}  // namespace evictd::app
