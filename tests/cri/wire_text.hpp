// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// CRI requests as the tests write them, and the one field of most answers.
#pragma once

#include <functional>
#include <string>

#include "http/wire_reader.hpp"
#include "http/wire_writer.hpp"

namespace evictd::cri_test {

inline std::string message(const std::function<void(http::WireWriter&)>& write) {
    http::WireWriter writer;
    write(writer);
    return writer.take();
}

inline std::string first_text(const std::string& bytes) {
    http::WireReader reader(bytes);
    const auto field = reader.next();
    return field && *field ? std::string((*field)->bytes) : std::string();
}

}  // namespace evictd::cri_test
