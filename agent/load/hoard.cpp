// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "hoard.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>

#include "say.hpp"

namespace evictd::load {
namespace {

constexpr std::size_t page = 4096;
// How finely a rate is kept: at 500 MiB/s half a MiB at a time. Finer and an emulated CPU does nothing but sleep.
constexpr std::int64_t growth_step_ns = 1'000'000;
// A sleep takes longer than asked for where the CPU is emulated; this is longer than that.
constexpr std::int64_t stall_ns = 100'000'000;
constexpr std::size_t most_steps = 5;

}  // namespace

Hoard::Hoard(std::size_t most, bool shared) : most_(std::max(page, most)) {
    const int kind = MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE);
    void* at = ::mmap(nullptr, most_, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (at == MAP_FAILED) {
        die_errno("mmap");
    }
    start_ = static_cast<volatile char*>(at);
}

Hoard::~Hoard() { (void)::munmap(const_cast<char*>(start_), most_); }

void Hoard::grow_to(std::size_t size) {
    for (; taken_ < size && taken_ < most_; taken_ += page) {
        start_[taken_] = 1;
    }
}

void Hoard::grow(std::size_t bytes_per_second, bool steady) {
    std::int64_t began = now_ns();
    std::int64_t last = began;
    const std::size_t from = taken_;
    const std::size_t most_at_once = std::max(page, bytes_per_second / 1000 * most_steps);
    while (taken_ < most_) {
        sleep_ns(growth_step_ns);
        const std::int64_t now = now_ns();
        if (steady && now - last > stall_ns) {
            began += now - last;
        }
        last = now;
        const auto ms = static_cast<std::size_t>((now - began) / 1'000'000);
        grow_to(std::min(from + bytes_per_second / 1000 * ms, taken_ + most_at_once));
    }
}

void Hoard::shrink_to(std::size_t size) {
    if (size < taken_) {
        (void)::madvise(const_cast<char*>(start_) + size, taken_ - size, MADV_DONTNEED);
        taken_ = size;
    }
}

}  // namespace evictd::load
