// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What pods keep on disk, as slow walks found it: each figure with its own age. Immutable once made, and shared. Not
// the writable layers of containers, which the runtime knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// What a tree of directories uses, as du counts it: allocated blocks, hard links once, directories too.
struct TreeUsage {
    Bytes used;
    std::int64_t inodes = 0;
    MonotonicTime began;    // what was written later may be missing
    MonotonicTime ended;    // what was removed later may be counted
    bool complete = true;   // false: some of it could not be counted, so that it uses at least this much
    std::string trouble{};  // the first reason why it is not complete
};

enum class TreeKind : std::uint8_t {
    empty_dir,
    config_map,
    git_repo,
    container_logs,  // of one container
    pod_logs,        // the files beside its containers' directories
    etc_hosts,
};
template <>
struct Names<TreeKind> {
    static constexpr Words<6> words{"emptyDir", "configMap", "gitRepo", "containerLogs", "podLogs", "etcHosts"};
};

struct SurveyedTree {
    TreeKind kind = TreeKind::empty_dir;
    std::string name;                // of the volume or the container; empty for the others
    std::optional<TreeUsage> usage;  // the last that was measured; none: not measured yet
    // Why there is none, or none newer: it cannot be opened, or its last walk does not end.
    std::string trouble{};
};

struct SurveyedPod {
    PodUid uid;  // as the directories are named: of a static pod the hash of its manifest
    std::vector<SurveyedTree> trees;
};

struct Survey {
    std::vector<SurveyedPod> pods;  // by uid
    MonotonicTime listed;           // when the directories were last listed to their end; zero: never
    // Why not since, so that a pod that is not in `pods` may be there; or why no tree is measured any more.
    std::string trouble{};
    std::size_t hanging = 0;  // threads that a disk or a server does not let go; others took their place, up to a few
};
using SurveyPtr = std::shared_ptr<const Survey>;

}  // namespace evictd
