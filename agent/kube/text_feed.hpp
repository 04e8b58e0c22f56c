// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Text as the stream a YAML parser reads from, which ends the parse when it has taken too much without telling
// anything. Used by document.cpp only.
#pragma once

#include <cstddef>
#include <streambuf>
#include <string_view>

namespace evictd::kube {

class TextFeed final : public std::streambuf {
public:
    // `text` must outlive it, and is not copied.
    explicit TextFeed(std::string_view text);

    // Something was told: the text up to here is understood.
    void heard() { heard_ = gptr(); }

protected:
    // Throws Refused.
    std::streamsize xsgetn(char* to, std::streamsize count) override;

private:
    const char* heard_;
};

}  // namespace evictd::kube
