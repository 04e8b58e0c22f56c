// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the sources of pods refuse or cannot read, so that each fault is reported once while it lasts: a source repeats
// all of them with each set. It reports nothing itself.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evictd/model/units.hpp"
#include "evictd/port/pod_source.hpp"

namespace evictd::app {

class SourceFaults {
public:
    struct New {
        std::vector<Error> rejected;
        std::vector<Error> unread;
    };
    // Of the set that source number `source` delivers at `now`.
    [[nodiscard]] New note(std::size_t source, const port::PodSet& set, MonotonicTime now);
    [[nodiscard]] std::size_t remembered_unread(std::size_t source) const { return sources_.at(source).unread.size(); }

private:
    struct Known {
        std::set<std::string> rejected;  // in the last set
        // And since when it is absent from the sets, if it is: on a machine without descriptors another file fails at
        // each try. Until all of the source can be read.
        std::map<std::string, std::optional<MonotonicTime>> unread;
    };
    static std::vector<Error> note_unread(Known& known, const std::vector<Error>& unread, MonotonicTime now);
    std::vector<Known> sources_;
};

// The first few of them in one line; empty for none. Thousands of files may fail for one reason.
[[nodiscard]] std::string say_unread(const std::vector<Error>& unread);

}  // namespace evictd::app
