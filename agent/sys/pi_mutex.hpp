// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A mutex with priority inheritance: when the real-time tick waits for it, its holder is lifted to the tick's priority.
// For the short queues between threads, not for general use; std::scoped_lock works with it.
#pragma once

#include <pthread.h>

namespace evictd::sys {

class PiMutex {
public:
    PiMutex() {
        pthread_mutexattr_t attributes{};
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    PiMutex(const PiMutex&) = delete;
    PiMutex& operator=(const PiMutex&) = delete;
    ~PiMutex() { pthread_mutex_destroy(&mutex_); }

    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_{};
};

}  // namespace evictd::sys
