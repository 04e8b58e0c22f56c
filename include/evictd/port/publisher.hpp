// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who hears of a Record. Publishers live in lanes: nothing on the kill path waits for one.
#pragma once

#include "evictd/model/record_ptr.hpp"

namespace evictd::port {

class Publisher {
public:
    Publisher() = default;
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;
    virtual ~Publisher() = default;

    // Called in order, on one thread. A publisher that cannot keep its promise counts that and says so in its own way.
    virtual void publish(const RecordPtr& record) = 0;
};

}  // namespace evictd::port
