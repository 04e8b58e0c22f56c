// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// yaml-cpp keeps every token since a bracket that could still become a key, up to 250 bytes of memory for a byte of
// text. What it is given in advance is what bounds it.
#include "document/text_feed.hpp"

#include <algorithm>
#include <string>

#include "document/node_builder.hpp"

namespace evictd::document {
namespace {

// As long as all annotations of a pod may be together, so that every scalar of an object fits, and 64 MiB of tokens.
// Twice as much is twice the memory that a row of brackets takes.
constexpr std::ptrdiff_t longest_silence = std::ptrdiff_t{256} << 10U;

}  // namespace

TextFeed::TextFeed(std::string_view text, const std::string& file) : file_(file), heard_(text.data()) {
    // Nothing is ever written: a character that is put back is the one that stands there.
    auto* begin = const_cast<char*>(text.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    setg(begin, begin, begin + text.size());
}

std::streamsize TextFeed::xsgetn(char* to, std::streamsize count) {
    if (gptr() - heard_ > longest_silence) {
        const auto line = 1 + std::count(static_cast<const char*>(eback()), heard_, '\n');
        throw Refused({file_,
                       static_cast<int>(line),
                       0,
                       {},
                       "no complete value within " + std::to_string(longest_silence >> 10U) + " KiB",
                       "close every bracket and quote; a file that is one long line can be JSON, not YAML"});
    }
    return std::streambuf::xsgetn(to, count);
}

}  // namespace evictd::document
