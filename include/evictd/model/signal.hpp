// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's eviction signals (eviction/api/types.go), the node condition each trips and the resource it starves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "evictd/model/names.hpp"

namespace evictd {

enum class Signal : std::uint8_t {
    memory_available,
    allocatable_memory_available,
    nodefs_available,
    nodefs_inodes_free,
    imagefs_available,
    imagefs_inodes_free,
    containerfs_available,
    containerfs_inodes_free,
    pid_available,
    allocatable_nodefs_available,  // of older kubelets: allocatable ephemeral storage minus the pods' use
};
inline constexpr std::size_t signal_count = 10;

enum class Condition : std::uint8_t { memory_pressure, disk_pressure, pid_pressure };
inline constexpr std::size_t condition_count = 3;

// signalToNodeCondition and signalToResource of eviction/helpers.go.
struct SignalTraits {
    Signal signal;
    std::string_view name;
    Condition condition;
    std::string_view resource;
};
inline constexpr std::array<SignalTraits, signal_count> signal_table{{
    {Signal::memory_available, "memory.available", Condition::memory_pressure, "memory"},
    {Signal::allocatable_memory_available, "allocatableMemory.available", Condition::memory_pressure, "memory"},
    {Signal::nodefs_available, "nodefs.available", Condition::disk_pressure, "ephemeral-storage"},
    {Signal::nodefs_inodes_free, "nodefs.inodesFree", Condition::disk_pressure, "inodes"},
    {Signal::imagefs_available, "imagefs.available", Condition::disk_pressure, "ephemeral-storage"},
    {Signal::imagefs_inodes_free, "imagefs.inodesFree", Condition::disk_pressure, "inodes"},
    {Signal::containerfs_available, "containerfs.available", Condition::disk_pressure, "ephemeral-storage"},
    {Signal::containerfs_inodes_free, "containerfs.inodesFree", Condition::disk_pressure, "inodes"},
    {Signal::pid_available, "pid.available", Condition::pid_pressure, "pids"},
    {Signal::allocatable_nodefs_available, "allocatableNodeFs.available", Condition::disk_pressure,
     "ephemeral-storage"},
}};

constexpr const SignalTraits& traits(Signal signal) { return signal_table[static_cast<std::size_t>(signal)]; }
template <>
struct Names<Signal> {
    static constexpr Words<signal_count> words = [] {
        Words<signal_count> names{};
        for (std::size_t i = 0; i < signal_count; ++i) {
            names[i] = signal_table[i].name;
        }
        return names;
    }();
};
constexpr bool is_memory(Signal signal) { return traits(signal).condition == Condition::memory_pressure; }
constexpr std::optional<Signal> signal_from(std::string_view text) { return from_name<Signal>(text); }

template <>
struct Names<Condition> {
    static constexpr Words<condition_count> words{"MemoryPressure", "DiskPressure", "PIDPressure"};
};

}  // namespace evictd
