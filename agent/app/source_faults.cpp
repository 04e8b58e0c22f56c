// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/source_faults.hpp"

#include <algorithm>
#include <utility>

namespace evictd::app {
namespace {

// Enough to see what they have in common.
constexpr std::size_t most_named = 3;

// A source tries again every second: half would report a fault that flaps more often, twice as much would hide one that
// came back.
constexpr Duration forget_after = std::chrono::seconds(60);

// Absent ones, some 200 bytes each. Beyond that those absent longest are forgotten, and may be reported once more.
constexpr std::size_t most_absent = 1024;

using Unread = std::map<std::string, std::optional<MonotonicTime>>;

void forget_absent(Unread& known, MonotonicTime now) {
    std::erase_if(known, [&](const auto& entry) { return entry.second && now - *entry.second >= forget_after; });
    std::vector<Unread::iterator> absent;
    for (auto one = known.begin(); one != known.end(); ++one) {
        if (one->second) {
            absent.push_back(one);
        }
    }
    if (absent.size() <= most_absent) {
        return;
    }
    const auto kept = absent.end() - static_cast<std::ptrdiff_t>(most_absent);
    std::nth_element(absent.begin(), kept, absent.end(), [](auto a, auto b) { return *a->second < *b->second; });
    std::for_each(absent.begin(), kept, [&](auto one) { known.erase(one); });
}

}  // namespace

// The time of absence, not of the last sight: a source delivers a set only when it differs from the one before.
std::vector<Error> SourceFaults::note_unread(Known& known, const std::vector<Error>& unread, MonotonicTime now) {
    if (unread.empty()) {
        known.unread.clear();
        return {};
    }
    forget_absent(known.unread, now);
    std::vector<Error> fresh;
    std::set<std::string> current;
    for (const auto& error : unread) {
        const auto& text = *current.insert(error.text()).first;
        if (known.unread.insert_or_assign(text, std::nullopt).second) {
            fresh.push_back(error);
        }
    }
    for (auto& [text, absent_since] : known.unread) {
        if (!absent_since && !current.contains(text)) {
            absent_since = now;
        }
    }
    forget_absent(known.unread, now);
    return fresh;
}

SourceFaults::New SourceFaults::note(std::size_t source, const port::PodSet& set, MonotonicTime now) {
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
    fresh.unread = note_unread(known, set.unread, now);
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
