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
        // What changes when the kubelet was started again (listener_on()); null: not known.
        std::function<std::string()> kubelet_listener{};
        std::optional<config::KubeletText> kubelet{};  // as known at the start
        // That is of an earlier answer: the kubelet is asked as if nothing were known of it.
        bool is_kubelet_kept = false;
        bool merges_kubelet = false;  // its configuration is part of what read() returns
        // All in the reader's thread. Each configuration that the kubelet answers with, for a start at which it does
        // not; null: not kept.
        std::function<void(const std::string& text)> keep_kubelet{};
        // When the kubelet's configuration is known and differs, or confirms one that was kept.
        std::function<void(const config::KubeletText& kubelet)> on_kubelet{};
        std::function<void(config::ConfigOutcome outcome)> deliver;
        Duration pause = std::chrono::milliseconds(200);  // between the last change of a file and reading it
        // A file that is written to and not closed is read as it is after this: its writer may never close it. So it is
        // in a directory where others write without a pause. Half as long could read half of a file over a slow network
        // mount; an empty beginning is a valid configuration.
        Duration longest_write = std::chrono::seconds(10);
        // How often it is looked at what no event tells: whether the kubelet was started again or is heard again, and
        // files that another machine changed. The kubelet's own housekeeping has this period.
        Duration look_period = std::chrono::seconds(10);
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
    [[nodiscard]] bool watch(Place& place);
    void on_event(Place& place);
    void read_if_changed();
    [[nodiscard]] config::Faults emptied() const;
    void read();
    void look_at_kubelet();
    void take_kubelet(std::string text);
    void keep_kubelet() const;
    [[nodiscard]] bool was_kubelet_restarted();
    [[nodiscard]] Duration pause_before_asking() const;
    void look();

    Needs needs_;
    std::list<Place> places_;
    std::string read_;                // the stamp of the files as they were read
    std::string seen_;                // at the last look
    std::set<std::string> had_text_;  // files that were not empty when they were read
    bool was_heard_ = false;          // the kubelet, at the last look
    std::string listener_;            // the kubelet's, at the last look
    bool is_unanswered_ = false;      // it was started again, and has not answered since
    std::string refused_;             // of the kubelet's: what was no configuration
    bool settle_is_due_ = false;
    std::optional<MonotonicTime> unsettled_since_;  // the first event since the files were looked at
    bool is_written_ = false;                       // one of them was, since
    std::optional<MonotonicTime> asked_at_;         // the kubelet
    sys::Timer settle_;                             // reads what changed
    sys::Timer again_;                              // what no event tells
    // The last member: its thread uses all of the above, and is gone before they are.
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::app
