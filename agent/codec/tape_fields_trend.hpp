// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of how fast memory and disks run out: a part of tape_fields.hpp, which says how.
#pragma once

#include "evictd/model/state.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<Trend> {
    static constexpr auto fields =
        described(field<&Trend::value>("value"), field<&Trend::rates>("rates"), field<&Trend::intervals>("intervals"));
};
template <>
struct Described<PodTrend> {
    static constexpr auto fields =
        described(field<&PodTrend::cgroup>("cgroup"), field<&PodTrend::working_set>("working_set"));
};
template <>
struct Described<Trends> {
    static constexpr auto fields =
        described(field<&Trends::since>("since"), field<&Trends::available>("available"), field<&Trends::pods>("pods"));
};
template <>
struct Described<DiskTrend> {
    static constexpr auto fields =
        described(field<&DiskTrend::signal>("signal"), field<&DiskTrend::since>("since"),
                  field<&DiskTrend::capacity>("capacity"), field<&DiskTrend::available>("available"));
};
template <>
struct Described<PodDiskReading> {
    static constexpr auto fields = described(field<&PodDiskReading::at>("at"), field<&PodDiskReading::used>("used"));
};
template <>
struct Described<PodDiskTrend> {
    static constexpr auto fields =
        described(field<&PodDiskTrend::cgroup>("cgroup"), field<&PodDiskTrend::before>("before"),
                  field<&PodDiskTrend::newest>("newest"));
};

}  // namespace evictd::codec
