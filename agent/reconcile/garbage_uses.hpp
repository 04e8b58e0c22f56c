// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether what is to go is in use after all, asked right before it goes. What the runtime does not say is in use.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/garbage.hpp"
#include "evictd/port/container_runtime.hpp"

namespace evictd::reconcile {

// Why it stays.
struct GarbageStays {
    GarbageOutcome outcome;
    bool is_unanswered = false;  // the runtime did not say
};

class GarbageUses {
public:
    // It must outlive this.
    explicit GarbageUses(port::ContainerRuntime& runtime) : runtime_(runtime) {}

    // None: it may go. `sandbox_image`: what sandboxes were made of when it was chosen; empty: it is not known.
    [[nodiscard]] std::optional<GarbageStays> why_it_stays(const Garbage& one, const std::string& sandbox_image);

private:
    [[nodiscard]] std::optional<GarbageStays> container(const Garbage& one);
    [[nodiscard]] std::optional<GarbageStays> sandbox(const Garbage& one);
    [[nodiscard]] std::optional<GarbageStays> image(const Garbage& one, const std::string& sandbox_image);
    [[nodiscard]] std::optional<GarbageStays> directory(const Garbage& one);

    port::ContainerRuntime& runtime_;
};

// Not found is as wanted. Any other error proves nothing.
[[nodiscard]] GarbageStays unknown_use(const Garbage& one, const Error& error);

}  // namespace evictd::reconcile
