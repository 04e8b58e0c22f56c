// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Everything but the constructor and start() runs in the lane.
#include "kube/manifest_source.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sys/clock.hpp"
#include "sys/log.hpp"

namespace evictd::kube {
namespace {

// Files are often copied by the dozen: one look for all of them. Half as long would mean more looks, twice as long a
// new pod unknown for longer; either way it is far below the time a container takes to start.
constexpr Duration pause_before_a_look = std::chrono::milliseconds(5);

// How often the directory is looked at where it cannot be watched, or where something in it cannot be read: no event
// says when it can be. A container takes about as long to start.
constexpr Duration retry_pause = std::chrono::seconds(1);

// The rest after a look is this many times the CPU time that it took, so that 10,000 manifests that come one by one are
// not 10,000 looks at 10,000: twice as much would keep a new one unknown for longer than a container takes to start.
// Not the time that passed: on a loaded machine a look waits for a CPU longer than it works, and the next must not wait
// for ten times that.
constexpr int rest_after_a_look = 10;

std::string absolute(const std::string& directory) {
    std::error_code ignored;
    auto path = std::filesystem::absolute(directory, ignored).lexically_normal();
    if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // a slash at the end
    return path;
}

bool is_same(const port::PodSet& a, const port::PodSet& b) {
    const auto same_texts = [](const std::vector<Error>& some, const std::vector<Error>& others) {
        return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                          [](const Error& x, const Error& y) { return x.text() == y.text(); });
    };
    return a.pods == b.pods && same_texts(a.rejected, b.rejected) && same_texts(a.unread, b.unread);
}

}  // namespace

ManifestSource::ManifestSource(const std::string& directory, std::optional<PodOrigin> origin, Duration writer_pause)
    : directory_(absolute(directory)), origin_(origin), writer_pause_(writer_pause), manifests_(directory_, origin) {}

Status ManifestSource::start(OnChange on_change) {
    if (lane_) return fail(ErrorKind::failed, describe(), "already started");
    on_change_ = std::move(on_change);
    auto lane =
        sys::Lane::make("evictd-pods", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    lane_ = std::move(*lane);
    lane_->post([this] { begin(); });
    return {};
}

std::string ManifestSource::describe() const {
    return (origin_ == PodOrigin::static_file ? "static pods in " : "manifests in ") + directory_;
}

void ManifestSource::begin() {
    auto soon = lane_->loop().add_timer([this] { look(); });
    auto settle = lane_->loop().add_timer([this] {
        for (const auto& name : std::exchange(unfinished_, {})) manifests_.read_again(name);
        look();
    });
    auto again = lane_->loop().add_timer([this] { look(); });
    for (const auto* timer : {&soon, &settle, &again})
        if (!*timer) return sys::log::error(describe() + ": " + timer->error().text());
    soon_ = std::move(*soon);
    settle_ = std::move(*settle);
    again_ = std::move(*again);
    look();
}

// At each look. Where there is no inotify, that is every second: no event calls for a look then, only again_ does.
Status ManifestSource::watch() {
    if (!watch_) {
        auto made = DirectoryWatch::make(directory_);
        if (!made) return tl::unexpected(made.error());
        watch_ = std::move(*made);
    }
    if (!readable_) {
        auto readable = lane_->loop().add_fd(watch_->fd(), [this] { on_event(); });
        if (!readable) return tl::unexpected(readable.error());
        readable_ = std::move(*readable);
    }
    auto renewed = watch_->renew();
    absorb(watch_->read());
    return renewed;
}

void ManifestSource::on_event() {
    const auto changes = watch_->read();
    absorb(changes);
    if (changes.any) look_soon();
}

void ManifestSource::absorb(const DirectoryWatch::Changes& changes) {
    if (changes.lost) {
        manifests_.read_all_again();
        unfinished_.clear();
    }
    for (const auto& name : changes.complete) {
        unfinished_.erase(name);
        manifests_.read_again(name);
    }
    for (const auto& name : changes.begun) {
        if (!is_manifest_name(name)) continue;
        unfinished_.insert(name);
        settle_.arm_in(writer_pause_);
    }
}

void ManifestSource::look_soon() {
    // Not pushed back by further events: a directory that never rests is still looked at.
    if (!std::exchange(is_look_due_, true)) soon_.arm_in(rest_);
}

void ManifestSource::look() {
    const auto begin = sys::thread_cpu_time();
    look_now();
    rest_ = std::clamp(rest_after_a_look * (sys::thread_cpu_time() - begin), pause_before_a_look, retry_pause);
}

void ManifestSource::look_now() {
    is_look_due_ = false;
    const auto watched = watch();
    auto set = manifests_.look(unfinished_);
    if (!watched) set.unread.push_back(watched.error());
    if (!set.unread.empty()) again_.arm_in(retry_pause);
    publish(std::move(set));
}

void ManifestSource::publish(port::PodSet set) {
    if (published_ && is_same(*published_, set)) return;
    if (on_change_(set))
        published_ = std::move(set);
    else
        again_.arm_in(retry_pause);
}

}  // namespace evictd::kube
