// SPDX-License-Identifier: Apache-2.0
// After the kill, in a lane of its own: gives the victim's memory back early and kills whoever escaped, until the
// cgroup is empty. It never touches a pod it was not given.
#pragma once

#include <memory>
#include <vector>

#include "act/executor.hpp"
#include "sys/lane.hpp"

namespace evictd::act {

class Reaper final : public AfterKill {
public:
    static Result<std::unique_ptr<Reaper>> make(const sys::Clock& clock);
    void follow(port::PodCgroupPtr victim) override;

private:
    struct Pursuit;
    explicit Reaper(const sys::Clock& clock) : clock_(clock) {}
    void pursue(const std::shared_ptr<Pursuit>& pursuit);
    static bool strike_again(Pursuit& pursuit);

    const sys::Clock& clock_;
    std::vector<std::shared_ptr<Pursuit>> pursuits_;  // before lane_: its thread must be gone first
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::act
