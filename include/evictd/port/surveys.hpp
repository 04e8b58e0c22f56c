// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What pods keep on disk, walked slowly beside everything else.
#pragma once

#include "evictd/model/ids.hpp"
#include "evictd/model/survey.hpp"

namespace evictd::port {

class Surveys {
public:
    Surveys() = default;
    Surveys(const Surveys&) = delete;
    Surveys& operator=(const Surveys&) = delete;
    virtual ~Surveys() = default;

    // All are thread-safe, and none waits for a disk.
    // Never null; without pods before the first directories were listed.
    [[nodiscard]] virtual SurveyPtr newest() const = 0;
    // Walks all trees of this pod as soon as a thread is free, at full speed. One that is being walked is walked again
    // afterwards.
    virtual void refresh(const PodUid& pod) = 0;
};

}  // namespace evictd::port
