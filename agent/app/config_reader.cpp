// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Everything but make() and read_now() runs in the lane.
#include "app/config_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <sys/stat.h>

#include "sys/clock.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

// A restart between two lists of its pods is not seen by those, and by its listener only in its network namespace. As
// long as the period of the lists: for each question the kubelet asks the API server about us, and two that come
// together share the answer.
constexpr Duration pause_between_questions = 15min;
constexpr Duration pause_while_unknown = 60s;
constexpr Duration pause_while_it_starts = 10s;

// How often files are looked at that cannot be watched, or have changed without an event and may be being written.
constexpr Duration pause_unsettled = 2s;

std::string stamp_of(const std::string& file) {
    struct stat now {};
    if (::stat(file.c_str(), &now) != 0) return "-";
    std::string text;
    for (const auto number : {static_cast<std::int64_t>(now.st_dev), static_cast<std::int64_t>(now.st_ino),
                              static_cast<std::int64_t>(now.st_size), static_cast<std::int64_t>(now.st_mtim.tv_sec),
                              static_cast<std::int64_t>(now.st_mtim.tv_nsec)}) {
        text += std::to_string(number) + " ";
    }
    return text;
}

bool has_text(const std::string& file) {
    struct stat now {};
    return ::stat(file.c_str(), &now) == 0 && now.st_size > 0;
}

}  // namespace

std::string config_stamp(const std::vector<std::string>& files) {
    std::string text;
    for (const auto& file : files) text += stamp_of(file);
    return text;
}

Result<std::unique_ptr<ConfigReader>> ConfigReader::make(Needs needs) {
    std::unique_ptr<ConfigReader> made(new ConfigReader(std::move(needs)));
    for (const auto& file : made->needs_.files) {
        const std::filesystem::path path(file);
        auto& places = made->places_;
        auto place = std::find_if(places.begin(), places.end(),
                                  [&](const Place& one) { return one.directory == path.parent_path(); });
        if (place == places.end()) place = places.insert(place, {.directory = path.parent_path(), .names = {}});
        place->names.insert(path.filename());
        if (has_text(file)) made->had_text_.insert(file);
    }
    made->read_ = made->needs_.stamp;
    auto lane =
        sys::Lane::make("evictd-config", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    made->lane_ = std::move(*lane);
    made->lane_->post([reader = made.get()] { reader->begin(); });
    return made;
}

void ConfigReader::read_now() {
    lane_->post([this] { read(); });
}

void ConfigReader::begin() {
    was_heard_ = needs_.kubelet && !needs_.is_kubelet_kept;
    if (was_heard_) {
        asked_at_ = sys::SystemClock().monotonic();
        keep_kubelet();
    }
    (void)was_kubelet_restarted();
    look();
}

// Also after each event: a directory that was replaced, or has come to be, is watched from then on. False: it is not.
bool ConfigReader::watch(Place& place) {
    if (!place.watch) {
        auto made = kube::DirectoryWatch::make(place.directory);
        if (!made) return false;
        place.watch = std::move(*made);
    }
    if (!place.readable) {
        auto readable = lane_->loop().add_fd(place.watch->fd(), [this, &place] { on_event(place); });
        if (!readable) return false;
        place.readable = std::move(*readable);
    }
    return place.watch->renew().has_value();
}

// A volume of a ConfigMap changes by a new directory and a rename of the link ..data, so every name matters; but a file
// of another name that is being written is no reason to wait.
void ConfigReader::on_event(Place& place) {
    const auto changes = place.watch->read();
    for (const auto& name : changes.complete) place.begun.erase(name);
    for (const auto& name : changes.begun) {
        if (place.names.contains(name)) place.begun.insert(name);
    }
    (void)watch(place);
    const bool writing = !place.begun.empty();
    const auto now = sys::SystemClock().monotonic();
    if (!unsettled_since_) unsettled_since_ = now;
    if (writing && !std::exchange(is_written_, true)) unsettled_since_ = now;
    // Further events put it off, but not for ever: others may write in the same directory without a pause.
    const auto at =
        std::min(now + (writing ? needs_.longest_write : needs_.pause), *unsettled_since_ + needs_.longest_write);
    settle_is_due_ = lane_->arm(settle_, at, [this] {
        settle_is_due_ = false;
        is_written_ = false;
        unsettled_since_.reset();
        read_if_changed();
    });
}

void ConfigReader::read_if_changed() {
    auto stamp = config_stamp(needs_.files);
    if (stamp == read_) return;
    if (auto faults = emptied(); !faults.empty()) {
        read_ = std::move(stamp);
        return needs_.deliver(tl::unexpected(std::move(faults)));
    }
    read();
}

// An empty file is valid and means the defaults. One that had text was truncated by a copy onto a full disk: the
// defaults would evict pods for that very disk.
config::Faults ConfigReader::emptied() const {
    config::Faults faults;
    for (const auto& file : had_text_) {
        struct stat now {};
        if (::stat(file.c_str(), &now) != 0 || now.st_size > 0) continue;
        faults.push_back({.file = file, .what = "is empty and was not before", .remedy = "send SIGHUP if it is meant"});
    }
    return faults;
}

void ConfigReader::read() {
    read_ = config_stamp(needs_.files);  // before they are read: what changes meanwhile is another change
    had_text_.clear();
    for (const auto& file : needs_.files) {
        if (has_text(file)) had_text_.insert(file);
    }
    for (auto& place : places_) place.begun.clear();
    needs_.deliver(needs_.read(needs_.kubelet));
}

bool ConfigReader::was_kubelet_restarted() {
    const auto listener = needs_.kubelet_listener ? needs_.kubelet_listener() : std::string();
    return !listener.empty() && std::exchange(listener_, listener) != listener;
}

Duration ConfigReader::pause_before_asking() const {
    if (is_unanswered_) return pause_while_it_starts;
    return needs_.kubelet && !needs_.is_kubelet_kept ? pause_between_questions : pause_while_unknown;
}

// Where it may not be asked, that is logged once for each time that it is heard again.
void ConfigReader::look_at_kubelet() {
    const bool heard = needs_.is_kubelet_heard();
    bool is_back = !std::exchange(was_heard_, heard) && heard;
    if (was_kubelet_restarted()) is_back = is_unanswered_ = true;
    const auto now = sys::SystemClock().monotonic();
    const bool is_due = (heard || is_unanswered_) && (!asked_at_ || now - *asked_at_ >= pause_before_asking());
    if (!is_back && !is_due) return;
    asked_at_ = now;
    auto text = needs_.ask_kubelet();
    is_unanswered_ = is_unanswered_ && !text && text.error().kind == ErrorKind::unreachable;
    if (!text) {
        if (is_back) sys::log::warn("could not read the kubelet's configuration: " + text.error().text());
        return;
    }
    take_kubelet(std::move(*text));
}

void ConfigReader::take_kubelet(std::string text) {
    if (text == refused_) return;
    if (needs_.kubelet && !needs_.is_kubelet_kept && needs_.kubelet->text == text) return keep_kubelet();
    config::KubeletText fresh{.name = "the kubelet's /configz", .text = std::move(text)};
    if (auto own = config::load_kubelet(fresh); !own) {  // what was known before is kept
        refused_ = std::move(fresh.text);
        return needs_.deliver(tl::unexpected(std::move(own.error())));
    }
    refused_.clear();
    needs_.kubelet = std::move(fresh);
    needs_.is_kubelet_kept = false;
    keep_kubelet();
    needs_.on_kubelet(*needs_.kubelet);
    if (needs_.merges_kubelet) read();
}

// Also where it is the same: how old it is counts from the last answer.
void ConfigReader::keep_kubelet() const {
    if (needs_.keep_kubelet) needs_.keep_kubelet(needs_.kubelet->text);
}

// For what no event tells: directories that cannot be watched, files on another machine, and the kubelet.
void ConfigReader::look() {
    if (needs_.ask_kubelet && needs_.is_kubelet_heard) look_at_kubelet();
    bool watched = true;
    for (auto& place : places_) watched = watch(place) && watched;
    // Not while an event's pause runs, and only what was the same at the last look: it may be being written.
    if (const auto seen = config_stamp(needs_.files); !settle_is_due_ && seen == std::exchange(seen_, seen)) {
        read_if_changed();
    }
    const bool settled = seen_ == read_;
    const auto pause = watched && settled ? needs_.look_period : std::min(needs_.look_period, pause_unsettled);
    (void)lane_->arm(again_, sys::SystemClock().monotonic() + pause, [this] { look(); });
}

}  // namespace evictd::app
