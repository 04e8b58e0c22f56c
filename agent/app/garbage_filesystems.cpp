// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/garbage_filesystems.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "disk/runtime_paths.hpp"
#include "evictd/model/filesystem.hpp"
#include "observe/filesystem_readings.hpp"
#include "policy/garbage_pass.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

constexpr Duration longest_wait = 1s;
constexpr Duration pace = 100ms;  // what comes back is looked at as often

port::FilesystemPaths find_paths(port::ContainerRuntime& runtime, const std::string& kubelet_root,
                                 std::string& trouble) {
    port::FilesystemPaths paths{.nodefs = kubelet_root, .imagefs = {}, .containerfs = {}};
    const auto said = runtime.filesystems();
    if (said) return disk::with_runtime(paths, *said);
    trouble = said.error().text();
    return paths;
}

const FilesystemView& of(const FilesystemsView& view, NodeFilesystem which) {
    return view.of.at(static_cast<std::size_t>(which));
}

}  // namespace

GarbageFilesystems::GarbageFilesystems(port::ContainerRuntime& runtime, const std::string& kubelet_root,
                                       const sys::Clock& clock)
    : paths_(find_paths(runtime, kubelet_root, trouble_)), clock_(clock), filesystems_(paths_, clock, {.pace = pace}) {
    const auto end = clock_.monotonic() + longest_wait;
    while (!have_answered() && clock_.monotonic() < end) std::this_thread::sleep_for(1ms);
}

bool GarbageFilesystems::have_answered() const {
    const auto view = filesystems_.newest();
    const std::array paths{&paths_.nodefs, &paths_.imagefs, &paths_.containerfs};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (!paths.at(i)->empty() && !view.of.at(i).reading) return false;
    }
    return true;
}

std::optional<Bytes> GarbageFilesystems::available() const {
    const auto view = filesystems_.newest();
    if (!of(view, NodeFilesystem::imagefs).reading) return std::nullopt;
    Bytes sum;
    std::vector<FilesystemId> counted;
    for (const auto& one : view.of) {
        if (!one.reading || std::find(counted.begin(), counted.end(), one.reading->id) != counted.end()) continue;
        counted.push_back(one.reading->id);
        sum += one.reading->available;
    }
    return sum;
}

std::optional<Bytes> GarbageFilesystems::missing(const EvictionConfig& config) const {
    Observation observation;
    observe::add_filesystems(filesystems_.newest(), observation);
    return policy::missing_bytes(config, observation);
}

std::vector<std::string> GarbageFilesystems::troubles() const {
    std::vector<std::string> troubles;
    if (!trouble_.empty()) troubles.push_back(trouble_);
    for (const auto& one : filesystems_.newest().of) {
        const bool is_said = std::find(troubles.begin(), troubles.end(), one.trouble) != troubles.end();
        if (!one.trouble.empty() && !is_said) troubles.push_back(one.trouble);
    }
    return troubles;
}

}  // namespace evictd::app
