// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/proof_of_life.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "sys/file.hpp"
#include "sys/log.hpp"

namespace evictd::sys {
namespace {

// Each question wakes a thread up, and all the threads of an idle agent rest. A thread that hangs does not rest: its
// callback has not returned. A thread that gets no CPU seems to rest, and is found up to a minute later. The main loop
// is always asked: its bound is shorter than a minute.
constexpr Duration pause_for_those_that_rest = std::chrono::minutes(1);

// The field behind the name, which is in parentheses and may hold anything.
bool waits_in_kernel(pid_t thread) {
    const auto stat = read_file("/proc/self/task/" + std::to_string(thread) + "/stat", std::size_t{4096});
    if (!stat) return false;
    const auto end = stat->rfind(')');
    return end != std::string::npos && end + 2 < stat->size() && (*stat)[end + 2] == 'D';
}

}  // namespace

ProofOfLife& ProofOfLife::of_this_program() {
    static const SystemClock clock;
    static auto& all = *new ProofOfLife(clock);  // for ever: a thread that was left behind uses it as main() returns
    return all;
}

ProofOfLife::Watched::~Watched() {
    if (owner_ == nullptr) return;
    const std::scoped_lock lock(owner_->mutex_);
    owner_->entries_.remove_if([this](const Entry& entry) { return entry.id == id_; });
}

ProofOfLife::Watched ProofOfLife::watch(std::string name, Loop& loop, Duty duty) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back({next_id_++, std::move(name), loop, duty, ::gettid(), std::nullopt});
    return {this, entries_.back().id};
}

std::vector<LifeSign> ProofOfLife::check() {
    const std::scoped_lock lock(mutex_);
    const auto now = clock_.monotonic();
    std::vector<LifeSign> signs;
    for (auto& entry : entries_) signs.push_back(ask(entry, now));
    if (failure_) signs.push_back({.name = failure_->what, .dead = true});
    return signs;
}

LifeSign ProofOfLife::ask(Entry& entry, MonotonicTime now) const {
    LifeSign sign{.name = entry.name};
    if (entry.asked && entry.loop.alive_at() < *entry.asked) {
        sign.silent = now - *entry.asked;
        const bool late = sign.silent > longest_silence(entry.duty);
        sign.in_kernel = sign.silent > Duration::zero() && waits_in_kernel(entry.thread);
        sign.dead = late && !(may_block(entry.duty) && sign.in_kernel);
        return sign;
    }
    const bool rests = entry.duty != Duty::main && entry.loop.rests();
    if (rests && entry.asked && now - *entry.asked < pause_for_those_that_rest) return sign;
    entry.asked = now;
    entry.loop.ask_alive();
    return sign;
}

void ProofOfLife::fail(const std::string& name, const Error& error) {
    log::error(name + ": " + error.text() + "; the agent ends, so that it is started again");
    const std::scoped_lock lock(mutex_);
    if (failure_) return;
    failure_ = Error{ErrorKind::failed, name, error.why, error.remedy};
    if (on_failure_) on_failure_();
}

std::optional<Error> ProofOfLife::failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
}

void ProofOfLife::on_failure(std::function<void()> call) {
    const std::scoped_lock lock(mutex_);
    on_failure_ = std::move(call);
}

std::string dead_ones(const std::vector<LifeSign>& signs) {
    std::string text;
    for (const auto& sign : signs) {
        if (!sign.dead) continue;
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(sign.silent).count();
        text += (text.empty() ? "" : "; ") + sign.name +
                (seconds > 0 ? " has not answered for " + std::to_string(seconds) + " s" : " failed");
    }
    return text;
}

}  // namespace evictd::sys
