// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Text as the stream a YAML parser reads from, which ends the parse when it has taken too much without telling
// anything. Used by yaml.cpp only.
#pragma once

#include <cstddef>
#include <streambuf>
#include <string>
#include <string_view>

namespace evictd::document {

class TextFeed final : public std::streambuf {
public:
    // Both must outlive it; `text` is not copied.
    TextFeed(std::string_view text, const std::string& file);

    // Something was told: the text up to here is understood.
    void heard() { heard_ = gptr(); }

protected:
    // Throws Refused.
    std::streamsize xsgetn(char* to, std::streamsize count) override;

private:
    const std::string& file_;
    const char* heard_;
};

}  // namespace evictd::document
