// SPDX-License-Identifier: Apache-2.0
// What the sources of pods refuse or cannot read, so that each fault is reported once while it lasts: a source repeats
// all of them with each set. It reports nothing itself.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "evictd/port/pod_source.hpp"

namespace evictd::app {

class SourceFaults {
public:
    struct New {
        std::vector<Error> rejected;
        std::vector<Error> unread;
    };
    // Of the set that source number `source` delivers now.
    [[nodiscard]] New note(std::size_t source, const port::PodSet& set);

private:
    struct Known {
        std::set<std::string> rejected;  // in the last set
        // Since something of the source could not be read for the first time, until all of it could: on a machine
        // without descriptors another file fails at each try.
        std::set<std::string> unread;
    };
    std::vector<Known> sources_;
};

// The first few of them in one line; empty for none. Thousands of files may fail for one reason.
[[nodiscard]] std::string say_unread(const std::vector<Error>& unread);

}  // namespace evictd::app
