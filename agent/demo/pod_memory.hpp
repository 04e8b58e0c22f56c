// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What every process in a demo pod needs: memory to take, its parent's orders, and to know when to end.
#pragma once

#include <cstddef>

namespace evictd::demo {

inline constexpr std::size_t mib = std::size_t{1} << 20U;

// SIGTERM sets what asked_to_end() says.
void catch_terminate();
[[nodiscard]] bool asked_to_end();

// One byte to the parent.
void say(char word);
// Sleeps; true as soon as stdin ends or SIGTERM comes.
[[nodiscard]] bool ended_within(int milliseconds);
// The next byte of the parent is this one. False: it is another, or stdin ends.
[[nodiscard]] bool wait_for(char order);

// Memory that is there but not yet taken: touching it takes it.
class Hoard {
public:
    explicit Hoard(std::size_t most);  // bytes; it can never take more
    void grow_to(std::size_t size);    // stops where SIGTERM comes
    void shrink_to(std::size_t size);
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    std::size_t most_;
    volatile char* start_ = nullptr;
    std::size_t taken_ = 0;
};

}  // namespace evictd::demo
