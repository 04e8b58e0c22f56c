// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reads the configuration again, in a thread of its own because disks and the kubelet may hold it up: on SIGHUP, when
// its files change, and when the kubelet was restarted. What came of it is handed over; applying it is the wiring's.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "kube/directory_watch.hpp"
#include "sys/lane.hpp"

namespace evictd::app {

// What differs when one of the files was written, replaced, or is reached through another link.
[[nodiscard]] std::string config_stamp(const std::vector<std::string>& files);

class ConfigReader {
public:
    struct Needs {
        // The files again, over the kubelet's own configuration where that is known.
        std::function<config::ConfigOutcome(const std::optional<config::KubeletText>& kubelet)> read;
        std::vector<std::string> files;  // absolute, watched; none: they are read only when read_now() says so
        std::string stamp;               // config_stamp() of them from before they were read at the start
        // GET /configz; waits for the network. Null: the kubelet is not asked.
        std::function<Result<std::string>()> ask_kubelet{};
        // Whether the kubelet answers; null as above.
        std::function<bool()> is_kubelet_heard{};
        std::optional<config::KubeletText> kubelet{};  // as known at the start
        bool merges_kubelet = false;                   // its configuration is part of what read() returns
        // Both in the reader's thread; the first when the kubelet's configuration is known and differs.
        std::function<void(const config::KubeletText& kubelet)> on_kubelet{};
        std::function<void(config::ConfigOutcome outcome)> deliver;
        Duration pause = std::chrono::milliseconds(200);  // between the last change of a file and reading it
    };

    static Result<std::unique_ptr<ConfigReader>> make(Needs needs);
    ConfigReader(const ConfigReader&) = delete;
    ConfigReader& operator=(const ConfigReader&) = delete;
    ~ConfigReader() = default;

    // Thread-safe, never waits.
    void read_now();

private:
    // One directory with files that are watched in it.
    struct Place {
        std::string directory;
        std::set<std::string> names;
        std::optional<kube::DirectoryWatch> watch{};
        sys::Source readable{};
        std::set<std::string> begun{};  // written to and not closed yet
    };

    explicit ConfigReader(Needs needs) : needs_(std::move(needs)) {}
    void begin();
    void watch(Place& place);
    void on_event(Place& place);
    void read_if_changed();
    [[nodiscard]] config::Faults emptied() const;
    void read();
    void look_at_kubelet();
    void look();

    Needs needs_;
    std::list<Place> places_;
    std::string read_;                // the stamp of the files as they were read
    std::string seen_;                // at the last look
    std::set<std::string> had_text_;  // files that were not empty when they were read
    bool was_heard_ = false;          // the kubelet, at the last look
    bool settle_is_due_ = false;
    MonotonicTime asked_at_{};  // the kubelet
    sys::Timer settle_;         // reads what changed
    sys::Timer again_;          // where a directory cannot be watched, and for the kubelet
    // The last member: its thread uses all of the above, and is gone before they are.
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::app
