// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_spool.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <unistd.h>

#include "codec/kube_event.hpp"
#include "sys/file.hpp"

namespace evictd::publish {
namespace {

// A line is one event: '+' where it is new, '=' where the server has it with a lower count.
constexpr char fresh_mark = '+';
constexpr char again_mark = '=';

}  // namespace

Status EventSpool::load() {
    if (path_.empty() || (access(path_.c_str(), F_OK) != 0 && errno == ENOENT)) {
        return {};
    }
    const auto text = sys::read_file(path_, 2 * most_bytes);
    if (!text) {
        path_.clear();
        return tl::unexpected(text.error());
    }
    std::size_t broken = 0;
    std::string_view rest = *text;
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const bool is_marked = line.size() > 1 && (line[0] == fresh_mark || line[0] == again_mark);
        auto place = is_marked ? codec::place_of_event(line.substr(1)) : std::nullopt;
        if (!place) {
            ++broken;
            continue;
        }
        (void)add({.name_space = std::move(place->name_space),
                   .name = std::move(place->name),
                   .reason = std::move(place->reason),
                   .json = std::string(line.substr(1)),
                   .is_again = line[0] == again_mark});
    }
    if (broken > 0) {
        return fail(ErrorKind::invalid, path_, std::to_string(broken) + " lines are no kube events",
                    "they are left out");
    }
    is_saved_ = true;
    return {};
}

bool EventSpool::add(SpooledEvent event, const std::function<bool(const SpooledEvent&)>& unwanted) {
    is_saved_ = false;
    for (std::size_t i = is_begun_ ? 1 : 0; i < events_.size(); ++i) {
        if (events_[i].name != event.name || events_[i].name_space != event.name_space) continue;
        bytes_ += event.json.size() - events_[i].json.size();
        events_[i].json = std::move(event.json);
        return true;
    }
    bytes_ += event.json.size();
    events_.push_back(std::move(event));
    bool fits = true;
    while (events_.size() > most_events || bytes_ > most_bytes) {
        const auto first = events_.begin() + (is_begun_ ? 1 : 0);
        auto gone = unwanted ? std::find_if(first, events_.end(), unwanted) : events_.end();
        if (gone == events_.end()) {
            gone = std::find_if(first, events_.end(), [](const SpooledEvent& one) { return one.reason != "Evicted"; });
        }
        gone = gone == events_.end() ? first : gone;
        bytes_ -= gone->json.size();
        events_.erase(gone);
        fits = false;
    }
    return fits;
}

void EventSpool::bring_to_front(std::size_t index) {
    const auto found = events_.begin() + static_cast<std::ptrdiff_t>(index);
    std::rotate(events_.begin(), found, found + 1);
}

const SpooledEvent& EventSpool::begin_first() {
    is_begun_ = true;
    return events_.front();
}

void EventSpool::drop_first() {
    bytes_ -= events_.front().json.size();
    events_.pop_front();
    is_begun_ = false;
    is_saved_ = false;
}

const EventFailures& EventSpool::fail_first(std::uint64_t accepted) {
    auto& failures = events_.front().failures;
    if (failures.count++ == 0) {
        failures.accepted_before = accepted;
    }
    return failures;
}

void EventSpool::move_first_to_end() {
    std::rotate(events_.begin(), events_.begin() + 1, events_.end());
    is_begun_ = false;
    is_saved_ = false;
}

std::size_t EventSpool::drop_namespace(const std::string& name_space) {
    if (!events_.empty() && events_.front().name_space == name_space) is_begun_ = false;
    return std::erase_if(events_, [&](const SpooledEvent& one) {
        if (one.name_space != name_space) return false;
        bytes_ -= one.json.size();
        is_saved_ = false;
        return true;
    });
}

Status EventSpool::save() {
    if (is_saved_ || path_.empty()) {
        return {};
    }
    std::string text;
    text.reserve(bytes_ + 2 * events_.size());
    for (const auto& event : events_) {
        text.push_back(event.is_again ? again_mark : fresh_mark);
        text.append(event.json).push_back('\n');
    }
    auto written = sys::write_atomically(path_, text, 0600);
    is_saved_ = written.has_value();
    return written;
}

}  // namespace evictd::publish
