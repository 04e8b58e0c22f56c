// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Foreign text made harmless for messages.
#include "kube/printable.hpp"

#include <algorithm>

namespace evictd::kube {

std::string printable(std::string_view text, std::size_t limit) {
    std::string shown(text.substr(0, limit));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > limit ? shown + "..." : shown;
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace evictd::kube
