// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What evictd.disks needs: filesystems that answer, and directories of pods that can be read, of logs also written to.
#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cri/endpoint.hpp"
#include "cri/runtime.hpp"
#include "disk/filesystems.hpp"
#include "disk/pod_trees.hpp"
#include "disk/runtime_paths.hpp"
#include "doctor/doctor.hpp"
#include "evictd/model/text.hpp"
#include "sys/clock.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;

const sys::SystemClock system_clock;  // a thread that hangs in statfs uses it until the program ends
constexpr auto in_a_container = "in a container, mount it at its own path (deploy/kustomize/overlays/disks)";
constexpr auto links = "/var/log/containers";

bool is_root() { return ::geteuid() == 0; }

// Where the runtime says that they are; what it does not say is not known.
port::FilesystemPaths find_paths(const Config& config) {
    port::FilesystemPaths paths{.nodefs = config.agent.cluster.kubelet_root, .imagefs = {}, .containerfs = {}};
    const auto endpoint = cri::find_endpoint(config.container_runtime_endpoint);
    if (!endpoint || !*endpoint) return paths;
    const auto runtime = cri::Runtime::make(**endpoint);
    if (!runtime) return paths;
    const auto said = (*runtime)->filesystems();
    return said ? disk::with_runtime(std::move(paths), *said) : paths;
}

// As the agent asks: one that hangs is not waited for.
FilesystemsView ask(const port::FilesystemPaths& paths) {
    const disk::Filesystems filesystems(paths, system_clock);
    const auto end = system_clock.monotonic() + disk::Filesystems::default_deadline + std::chrono::milliseconds(100);
    const std::array<const std::string*, node_filesystem_count> asked{&paths.nodefs, &paths.imagefs,
                                                                      &paths.containerfs};
    const auto have_answered = [&](const FilesystemsView& view) {
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (!asked.at(i)->empty() && !view.of.at(i).reading) return false;
        }
        return true;
    };
    auto view = filesystems.newest();
    while (!have_answered(view) && system_clock.monotonic() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        view = filesystems.newest();
    }
    return view;
}

void add(std::string& texts, const std::string& text) {
    if (!text.empty() && texts.find(text) == std::string::npos) texts += (texts.empty() ? "" : "; ") + text;
}

Finding filesystems_finding(const Config& config, const FilesystemsView& view) {
    Finding finding{.check = "filesystems", .chosen = {}, .detail = {}, .remedy = {}};
    for (std::size_t i = 0; i < view.of.size(); ++i) {
        const auto& [reading, trouble] = view.of.at(i);
        if (reading) {
            finding.chosen += fmt::format("{}{} {} of {} available", finding.chosen.empty() ? "" : ", ",
                                          name(static_cast<NodeFilesystem>(i)), bytes_text(reading->available.value),
                                          bytes_text(reading->capacity.value));
        }
        add(finding.detail, trouble);
    }
    const auto& root = config.agent.cluster.kubelet_root;
    const bool has_root = ::access(root.c_str(), F_OK) == 0 || errno != ENOENT;
    if (!has_root) add(finding.detail, printable(root) + " is not there: / is measured as nodefs");
    add(finding.detail, view.layout_trouble);
    if (finding.detail.empty()) return finding;
    finding.state = view.of.front().reading ? FindingState::fallback : FindingState::missing;
    if (!is_root() && has_root) {  // nor could the runtime be asked where its filesystems are
        finding.state = FindingState::unknown;
        finding.remedy = "run doctor as root";
        return finding;
    }
    finding.remedy = has_root ? "thresholds on what is not known are never met; " + std::string(in_a_container)
                              : "set evictd.kubelet.rootDirectory; " + std::string(in_a_container);
    return finding;
}

Finding closed(Finding finding, const std::string& why) {
    finding.state = is_root() ? FindingState::missing : FindingState::unknown;
    finding.detail = why + "; what pods keep there is not known";
    finding.remedy = is_root() ? in_a_container : "run doctor as root";
    return finding;
}

// Each is opened as a walk begins; one that vanishes meanwhile is none.
Finding volumes_finding(const disk::PodDirectories& directories) {
    Finding finding{.check = "pods on disk", .chosen = {}, .detail = {}, .remedy = {}};
    const auto listing = disk::list_trees(directories, [] {});
    std::set<std::string> pods;
    std::string refused;
    for (const auto& tree : listing.trees) {
        pods.insert(tree.pod.value);
        const auto opened = disk::open_tree(directories, tree);
        if (!opened && opened.error().kind != ErrorKind::vanished && refused.empty()) refused = opened.error().text();
    }
    finding.chosen = fmt::format("{} in {} and {}", pods_text(pods.size()), printable(directories.pods),
                                 printable(directories.logs));
    const auto& trouble = listing.trouble.empty() ? refused : listing.trouble;
    return trouble.empty() ? finding : closed(std::move(finding), trouble);
}

// Also where they are mounted to be read alone.
Finding logs_finding(const std::string& pods) {
    Finding finding{.check = "logs", .chosen = {}, .detail = {}, .remedy = {}};
    for (const auto& path : {pods, std::string(links)}) {
        const auto why = why_unwritable(path);
        if (why.empty()) finding.chosen += (finding.chosen.empty() ? "" : ", ") + printable(path);
        add(finding.detail, why);
    }
    if (finding.detail.empty()) return finding;
    finding.state = is_root() ? FindingState::fallback : FindingState::unknown;
    finding.detail += ": logs that are garbage stay there";
    finding.remedy = is_root() ? in_a_container : "run doctor as root";
    return finding;
}

}  // namespace

void examine_disks(const Config& config, std::vector<Finding>& checks) {
    if (!config.agent.disks) return;
    const auto view = ask(find_paths(config));
    checks.push_back(filesystems_finding(config, view));
    // The directories are on it: one that hangs would hold up doctor, too.
    if (!view.of.front().reading) return;
    checks.push_back(volumes_finding({.pods = config.agent.cluster.pods_directory(), .logs = config.pod_logs_dir}));
    checks.push_back(logs_finding(config.pod_logs_dir));
    examine_orphans(config, checks);
}

}  // namespace evictd::doctor
