// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_slot.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace evictd::reconcile {
namespace {

// With an end; false: it does not fit.
template <std::size_t n>
bool put(std::array<char, n>& into, std::string_view text) {
    if (text.size() >= n) {
        return false;
    }
    into.fill('\0');
    std::copy(text.begin(), text.end(), into.begin());
    return true;
}
template <std::size_t n>
std::string text_in(const std::array<char, n>& from) {
    return {from.data(), ::strnlen(from.data(), n)};
}

std::string_view first_part(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) {
        most--;
    }
    return text.substr(0, most);
}

}  // namespace

std::uint64_t sum_of(const Noted& noted) noexcept {
    static_assert(sizeof(Noted) % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, sizeof(Noted) / sizeof(std::uint64_t)> words{};
    std::memcpy(words.data(), &noted, sizeof(noted));
    std::uint64_t sum = checksum({});
    for (const auto word : words) {
        sum = (sum ^ word) * checksum_prime;
    }
    return sum;
}

bool put_intent(Noted& noted, const DesiredPodStatus& status, WallTime now) noexcept {
    noted = Noted{};
    noted.wall = now.time_since_epoch().count();
    noted.decided = status.decided_at.time_since_epoch().count();
    noted.detected = status.detected_at.time_since_epoch().count();
    noted.generation = status.generation;
    noted.attempt = status.attempt;
    noted.disruption_target = status.disruption_target ? 1 : 0;
    noted.given_up = status.given_up ? 1 : 0;
    return put(noted.pod, status.pod.value) && put(noted.name_space, status.name_space) &&
           put(noted.name, status.name) && put(noted.reason, status.reason) &&
           put(noted.message, first_part(status.message, IntentFile::most_of_a_message - 1));
}

Intent intent_in(const Noted& noted) {
    Intent intent;
    intent.noted_at = WallTime(Duration(noted.wall));
    auto& status = intent.status;
    status.pod.value = text_in(noted.pod);
    status.name_space = text_in(noted.name_space);
    status.name = text_in(noted.name);
    status.reason = text_in(noted.reason);
    status.message = text_in(noted.message);
    status.decided_at = MonotonicTime(Duration(noted.decided));
    status.detected_at = MonotonicTime(Duration(noted.detected));
    status.generation = noted.generation;
    status.attempt = noted.attempt;
    status.disruption_target = noted.disruption_target != 0;
    status.given_up = noted.given_up != 0;
    return intent;
}

bool is_of(const Noted& noted, const PodUid& pod) { return text_in(noted.pod) == pod.value; }

}  // namespace evictd::reconcile
