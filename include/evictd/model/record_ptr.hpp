// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A record, for those who pass it on and do not look into it.
#pragma once

#include <memory>
#include <variant>

namespace evictd {

struct Tick;
struct AgentNotice;
using Record = std::variant<Tick, AgentNotice>;
using RecordPtr = std::shared_ptr<const Record>;

}  // namespace evictd
