// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pressure_files.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

// Nearer to the last one a total adds nothing: 100 ms is the shortest window.
constexpr Duration between_samples = std::chrono::milliseconds(20);

std::optional<Duration> total_of(std::string_view text, std::string_view kind) {
    const auto line = text.starts_with(kind) ? 0 : text.find("\n" + std::string(kind) + " ");
    constexpr std::string_view label = "total=";
    const auto at = line == std::string_view::npos ? line : text.find(label, line);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t total = 0;
    const char* begin = text.data() + at + label.size();
    const auto parsed = std::from_chars(begin, text.data() + text.size(), total);
    constexpr std::int64_t most = std::int64_t{1} << 50;  // microseconds: 35 years, and no overflow in nanoseconds
    return parsed.ec == std::errc() && total >= 0 && total <= most ? std::optional(std::chrono::microseconds(total))
                                                                   : std::nullopt;
}

}  // namespace

PressureTotals parse_pressure(std::string_view text) { return {total_of(text, "some"), total_of(text, "full")}; }

void StallHistory::add(MonotonicTime at, Duration total) {
    if (samples_.size() > 1 && at - samples_[samples_.size() - 2].at < between_samples) {
        samples_.back() = {at, total};
    } else {
        samples_.push_back({at, total});
    }
    while (samples_.size() > 2 && samples_[1].at <= at - length(StallWindow::ten_seconds)) {
        samples_.pop_front();
    }
}

// On the straight line between the two totals around it.
Duration StallHistory::total_at(MonotonicTime at) const {
    const auto later = std::find_if(samples_.begin(), samples_.end(), [&](const Sample& s) { return s.at >= at; });
    if (later == samples_.begin()) {
        return samples_.front().total;
    }
    const auto& after = later == samples_.end() ? samples_.back() : *later;
    const auto& before = *std::prev(later);
    if (after.at <= before.at) {
        return after.total;
    }
    const double part =
        static_cast<double>((at - before.at).count()) / static_cast<double>((after.at - before.at).count());
    const auto grown = static_cast<double>((after.total - before.total).count()) * part;
    return before.total + Duration(static_cast<Duration::rep>(grown));
}

std::optional<StallTimes> StallHistory::lost() const {
    if (samples_.size() < 2) {
        return std::nullopt;
    }
    StallTimes times{};
    for (std::size_t i = 0; i < times.size(); i++) {
        const Duration window = length(static_cast<StallWindow>(i));
        const Duration lost = samples_.back().total - total_at(samples_.back().at - window);
        times.at(i) = std::clamp(lost, Duration{0}, window);
    }
    return times;
}

PressureFiles::PressureFiles() {
    for (std::size_t i = 0; i < files_.size(); i++) {
        auto file = sys::open("/proc/pressure/" + std::string(name(static_cast<StallResource>(i))), O_RDONLY);
        if (file && sys::read_text(file->get(), text_)) {
            files_.at(i).emplace().fd = std::move(*file);
        }
    }
}

std::optional<NodeStall> PressureFiles::read(StallResource resource, MonotonicTime now) {
    auto& file = files_.at(static_cast<std::size_t>(resource));
    if (!file || !sys::read_text(file->fd.get(), text_)) {
        return std::nullopt;
    }
    const auto totals = parse_pressure(text_);
    NodeStall stall{.resource = resource, .some = {}, .full = {}};
    if (totals.some) {
        file->some.add(now, *totals.some);
        stall.some = file->some.lost();
    }
    if (totals.full) {
        file->full.add(now, *totals.full);
        stall.full = file->full.lost();
    }
    return stall;
}

}  // namespace evictd::kernel
