// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether a pod is gone, asked of the API server, by name and UID. Only its own word counts: an error, a refusal and a
// 404 of a proxy prove nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/api_server.hpp"

namespace evictd::reconcile {

class PodAbsence {
public:
    // `api`: null, there is none.
    explicit PodAbsence(std::shared_ptr<port::ApiServer> api) : api_(std::move(api)) {}

    // True: there is no such pod, or one of that name ("namespace/name") has another UID. Waits for the answer, for
    // some seconds at most. Error: it is not known.
    [[nodiscard]] Result<bool> is_gone(const PodUid& pod, const std::string& name);
    // Thread-safe: a call under way and all later ones end with an error. For an agent that ends.
    void cancel() { is_cancelled_ = true; }

private:
    std::shared_ptr<port::ApiServer> api_;
    std::atomic<bool> is_cancelled_ = false;
};

}  // namespace evictd::reconcile
