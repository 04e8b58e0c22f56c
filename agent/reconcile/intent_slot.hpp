// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How an intent is laid out in the file, and how one that was written to its end is told from one that was not. For
// intent_file.cpp alone, which knows the file.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "reconcile/intent_file.hpp"

namespace evictd::reconcile {

enum class SlotState : std::uint32_t { free, writing, noted };

// As in memory: one build reads what another wrote only if the magic is the same.
struct Noted {
    std::int64_t wall = 0;
    std::int64_t decided = 0;
    std::int64_t detected = 0;
    std::int64_t generation = 0;
    std::int32_t attempt = 0;
    std::uint8_t disruption_target = 0;
    std::uint8_t given_up = 0;
    std::array<char, 2> unused{};
    std::array<char, 64> pod{};
    std::array<char, 64> name_space{};
    std::array<char, 256> name{};
    std::array<char, 64> reason{};
    std::array<char, IntentFile::most_of_a_message> message{};
};
static_assert(std::is_trivially_copyable_v<Noted>);

struct Slot {
    SlotState state = SlotState::free;
    std::uint32_t unused = 0;
    std::uint64_t sum = 0;  // of `noted`
    Noted noted;
};

inline SlotState state_of(Slot& slot) { return std::atomic_ref(slot.state).load(std::memory_order_acquire); }
inline void set_state(Slot& slot, SlotState state) {
    std::atomic_ref(slot.state).store(state, std::memory_order_release);
}

// As checksum(), of eight bytes at a time: a quarter of a microsecond.
[[nodiscard]] std::uint64_t sum_of(const Noted& noted) noexcept;
// All of `noted` is written. False: a name does not fit. Messages are cut.
[[nodiscard]] bool put_intent(Noted& noted, const DesiredPodStatus& status, WallTime now) noexcept;
[[nodiscard]] Intent intent_in(const Noted& noted);
[[nodiscard]] bool is_of(const Noted& noted, const PodUid& pod);

}  // namespace evictd::reconcile
