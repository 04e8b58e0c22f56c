// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A filesystem whose server does not answer, as a dead NFS server or a dead FUSE daemon: who asks it waits.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "sys/fd.hpp"

namespace evictd::kernel_test {

class SilentMount {
public:
    // Mounted at `directory`; unmounted, and all who wait are released, by the destructor.
    explicit SilentMount(std::string directory);
    SilentMount(const SilentMount&) = delete;
    SilentMount& operator=(const SilentMount&) = delete;
    ~SilentMount();

    // False: there is no FUSE on this machine.
    [[nodiscard]] bool works() const { return works_; }
    // From now on it answers, what was asked before too: 1,000 blocks of 4 KiB of which 100 are free.
    void answer() { answers_ = true; }
    // Questions that have no answer yet.
    [[nodiscard]] int waiting() const { return waiting_; }

private:
    void serve() const;

    std::string directory_;
    sys::Fd device_;
    bool works_ = false;
    std::atomic<bool> answers_ = false;
    mutable std::atomic<int> waiting_ = 0;
    std::thread server_;
};

}  // namespace evictd::kernel_test
