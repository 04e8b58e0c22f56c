// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of how fast memory and disks run out: a part of tape_fields.hpp, which says how.
#pragma once

#include <tuple>

#include "evictd/model/state.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<Trend> {
    static constexpr auto fields =
        std::tuple(field("value", &Trend::value), field("rates", &Trend::rates), field("intervals", &Trend::intervals));
};
template <>
struct Described<PodTrend> {
    static constexpr auto fields =
        std::tuple(field("cgroup", &PodTrend::cgroup), field("working_set", &PodTrend::working_set));
};
template <>
struct Described<Trends> {
    static constexpr auto fields = std::tuple(field("since", &Trends::since), field("available", &Trends::available),
                                              field("pods", &Trends::pods));
};
template <>
struct Described<DiskTrend> {
    static constexpr auto fields =
        std::tuple(field("signal", &DiskTrend::signal), field("since", &DiskTrend::since),
                   field("capacity", &DiskTrend::capacity), field("available", &DiskTrend::available));
};
template <>
struct Described<PodDiskReading> {
    static constexpr auto fields = std::tuple(field("at", &PodDiskReading::at), field("used", &PodDiskReading::used));
};
template <>
struct Described<PodDiskTrend> {
    static constexpr auto fields =
        std::tuple(field("cgroup", &PodDiskTrend::cgroup), field("before", &PodDiskTrend::before),
                   field("newest", &PodDiskTrend::newest));
};

}  // namespace evictd::codec
