// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks the runtime, in a thread of its own, what the writable layers of containers keep, where its filesystems are, and
// what it calls pods and containers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "evictd/model/result.hpp"
#include "evictd/port/container_runtime.hpp"
#include "evictd/port/filesystems.hpp"
#include "observe/container_layers.hpp"
#include "observe/runtime_names.hpp"
#include "sys/clock.hpp"
#include "sys/lane.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::app {

class LayerReader {
public:
    struct Options {
        // All are called in the thread.
        std::function<void()> changed;  // after each answer
        // When the runtime answers again: where its filesystems are. False: they could not be taken, and are told
        // again.
        std::function<bool(const RuntimeFilesystems&)> filesystems;
        // It was found missing: why. Empty: it answers, and was. Silent for less than a minute it is not missing: that
        // is how long its last figures count. False: not taken, and told again.
        std::function<bool(const std::string& trouble)> missing;
        Duration longest_pause_after_failure = std::chrono::seconds(10);
    };

    // `clock` outlives it; the runtime is its own.
    static Result<std::unique_ptr<LayerReader>> make(std::unique_ptr<port::ContainerRuntime> runtime,
                                                     const sys::Clock& clock, Options options);
    LayerReader(const LayerReader&) = delete;
    LayerReader& operator=(const LayerReader&) = delete;
    // The call under way is given up.
    ~LayerReader();

    // All are thread-safe. Null: none is known that is newer than a minute.
    [[nodiscard]] observe::ContainerLayersPtr newest() const;
    [[nodiscard]] std::string trouble() const;  // of the last answer; empty: there is none
    void ask();                                 // now, and then at its pace again
    // As of the last list, however old that is: a pod's uid has one name. Null: none was read yet.
    [[nodiscard]] RuntimeNamesPtr names() const;
    // In 1 to 2 s, one list for all who ask until then, and once more 10 s later. Without it once a minute.
    void ask_names();
    // From one request to the next; 10 s until it is set. A shorter pace holds at once, a longer one after the next
    // request. After a failure it is longest_pause_after_failure at most. Set by one thread. False: not taken.
    [[nodiscard]] bool set_pace(Duration pace);

private:
    LayerReader(std::unique_ptr<port::ContainerRuntime> runtime, const sys::Clock& clock, Options options);
    void read();
    void read_later();
    void read_names();
    void ask_filesystems();
    void note(Result<observe::ContainerLayersPtr> answer);
    void tell_whether_missing();

    const sys::Clock& clock_;
    Options options_;
    std::unique_ptr<port::ContainerRuntime> runtime_;
    std::atomic<Duration> pace_{std::chrono::seconds(10)};
    std::atomic<bool> is_asked_ = false;  // a request waits in the lane
    std::atomic<bool> are_names_asked_ = false;
    MonotonicTime began_at_;       // the thread's: when the last request for layers began
    MonotonicTime ended_at_;       // the thread's: when it ended, also without an answer
    MonotonicTime names_read_at_;  // the thread's: when names were last asked for
    bool is_heard_ = false;        // the thread's: filesystems are known of this runtime
    bool is_missing_ = false;      // the thread's: as told
    mutable sys::PiMutex mutex_;
    observe::ContainerLayersPtr newest_;     // under the mutex
    std::string trouble_ = "not asked yet";  // likewise
    RuntimeNamesPtr names_;                  // likewise
    std::string names_trouble_;              // likewise
    sys::Timer timer_;                       // the lane's
    sys::Timer names_timer_;                 // likewise
    std::unique_ptr<sys::Lane> lane_;        // the last member: its thread uses the above
};

}  // namespace evictd::app
