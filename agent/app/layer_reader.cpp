// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/layer_reader.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

// Containers come and go: what is older says little of those that run now.
constexpr Duration oldest_figures = 60s;
// A container's cgroup is made before the runtime lists its pod. All that start within a second cost one list.
constexpr Duration names_delay = 1s;
constexpr Duration shortest_names_period = 2s;  // cgroups may come all the time
constexpr Duration names_asked_again = 10s;     // the runtime may have been slower than our delay, or silent
// Each new cgroup asks: this finds what that missed. Until then such a pod has no name in events.
constexpr Duration longest_names_period = 60s;

}  // namespace

LayerReader::LayerReader(std::unique_ptr<port::ContainerRuntime> runtime, const sys::Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), runtime_(std::move(runtime)) {}

Result<std::unique_ptr<LayerReader>> LayerReader::make(std::unique_ptr<port::ContainerRuntime> runtime,
                                                       const sys::Clock& clock, Options options) {
    std::unique_ptr<LayerReader> made(new LayerReader(std::move(runtime), clock, std::move(options)));
    auto lane = sys::Lane::make("evictd-layers", sys::Loop::default_queue, Duration::zero(), sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    made->lane_ = std::move(*lane);
    (void)made->lane_->post([reader = made.get()] {
        reader->read();
        reader->read_names();
    });
    return made;
}

LayerReader::~LayerReader() {
    runtime_->cancel();
    if (lane_) lane_->close();
}

void LayerReader::read() {
    is_asked_ = false;
    const auto begin = clock_.monotonic();
    if (!is_heard_) ask_filesystems();
    note(observe::read_layers(*runtime_, begin));
    began_at_ = begin;
    ended_at_ = clock_.monotonic();
    read_later();
}

// From begin to begin: figures count from then, and are not to be too old before the next ones come. A slow runtime has
// its rest: as long as it took, or the whole pause.
void LayerReader::read_later() {
    const auto pace = pace_.load();
    const auto pause = is_heard_ ? pace : std::min(pace, options_.longest_pause_after_failure);
    const auto rest = std::min<Duration>(pause, ended_at_ - began_at_);
    const auto at = std::max({clock_.monotonic(), began_at_ + pause, ended_at_ + rest});
    (void)lane_->arm(timer_, at, [this] { read(); });
}

bool LayerReader::set_pace(Duration pace) {
    const auto before = pace_.exchange(pace);
    const bool is_taken = pace >= before || lane_->post([this] { read_later(); });
    if (!is_taken) pace_ = before;
    return is_taken;
}

void LayerReader::ask() {
    if (is_asked_.exchange(true)) return;
    if (!lane_->post([this] { read(); })) is_asked_ = false;
}

void LayerReader::read_names() {
    const bool was_asked = are_names_asked_.exchange(false);
    names_read_at_ = clock_.monotonic();
    auto answer = observe::read_names(*runtime_);
    {
        const std::scoped_lock lock(mutex_);
        names_trouble_ = answer ? std::string{} : answer.error().text();
        if (answer) names_.swap(*answer);
    }
    const bool is_soon = was_asked || !answer;
    answer = {};  // frees the old names, without the mutex
    const auto period = is_soon ? names_asked_again : longest_names_period;
    (void)lane_->arm(names_timer_, clock_.monotonic() + period, [this] { read_names(); });
}

void LayerReader::ask_names() {
    if (are_names_asked_.exchange(true)) return;
    const auto soon = [this] {
        const auto at = std::max(clock_.monotonic() + names_delay, names_read_at_ + shortest_names_period);
        (void)lane_->arm(names_timer_, at, [this] { read_names(); });
    };
    if (!lane_->post(soon)) are_names_asked_ = false;
}

RuntimeNamesPtr LayerReader::names() const {
    const std::scoped_lock lock(mutex_);
    return names_;
}

void LayerReader::ask_filesystems() {
    const auto filesystems = runtime_->filesystems();
    is_heard_ = filesystems && !filesystems->images.empty();
    if (!is_heard_) return;
    is_heard_ = options_.filesystems(*filesystems);
    if (!names_trouble_.empty()) ask_names();
}

void LayerReader::note(Result<observe::ContainerLayersPtr> answer) {
    const bool answered = answer.has_value();
    {
        const std::scoped_lock lock(mutex_);
        trouble_ = answer ? std::string{} : answer.error().text();
        if (answer) newest_ = std::move(*answer);
    }
    // It may come back with another root directory.
    is_heard_ = is_heard_ && answered;
    tell_whether_missing();
    options_.changed();
}

void LayerReader::tell_whether_missing() {
    const bool is_missing = newest() == nullptr;
    if (is_missing != is_missing_ && options_.missing(is_missing ? trouble() : std::string())) is_missing_ = is_missing;
}

observe::ContainerLayersPtr LayerReader::newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_ && clock_.monotonic() - newest_->at <= oldest_figures ? newest_ : nullptr;
}

std::string LayerReader::trouble() const {
    const std::scoped_lock lock(mutex_);
    const bool is_silent = newest_ && clock_.monotonic() - newest_->at > oldest_figures;
    if (trouble_.empty() && is_silent) return "the container runtime does not answer";
    return trouble_.empty() ? names_trouble_ : trouble_;
}

}  // namespace evictd::app
