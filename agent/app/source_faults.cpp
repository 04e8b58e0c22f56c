// SPDX-License-Identifier: Apache-2.0
#include "app/source_faults.hpp"

#include <algorithm>
#include <utility>

namespace evictd::app {
namespace {

// Enough to see what they have in common.
constexpr std::size_t most_named = 3;

}  // namespace

SourceFaults::New SourceFaults::note(std::size_t source, const port::PodSet& set) {
    if (sources_.size() <= source) {
        sources_.resize(source + 1);
    }
    auto& known = sources_[source];
    New fresh;
    std::set<std::string> rejected;
    for (const auto& error : set.rejected) {
        if (const auto [text, is_new] = rejected.insert(error.text()); is_new && !known.rejected.contains(*text)) {
            fresh.rejected.push_back(error);
        }
    }
    known.rejected = std::move(rejected);
    if (set.unread.empty()) {
        known.unread.clear();
    }
    for (const auto& error : set.unread) {
        if (known.unread.insert(error.text()).second) {
            fresh.unread.push_back(error);
        }
    }
    return fresh;
}

std::string say_unread(const std::vector<Error>& unread) {
    std::string text;
    for (std::size_t i = 0; i < std::min(unread.size(), most_named); i++) {
        text += (text.empty() ? "" : "; ") + unread[i].text();
    }
    if (unread.size() > most_named) {
        text += "; and " + std::to_string(unread.size() - most_named) + " more manifests cannot be read";
    }
    return text;
}

}  // namespace evictd::app
