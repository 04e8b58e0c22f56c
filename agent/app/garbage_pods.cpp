// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/garbage_pods.hpp"

#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "codec/agent_pods.hpp"
#include "kube/manifest_directory.hpp"
#include "policy/pod_word.hpp"
#include "publish/status_client.hpp"

namespace evictd::app {
namespace {

using Words = std::unordered_map<std::string, policy::PodWord>;

std::string pods_text(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "pod" : "pods"); }

// A manifest says what is to run, and never that a pod has ended.
void add_manifests(const std::string& directory, std::optional<PodOrigin> origin, Words& words, GarbagePods& found) {
    if (directory.empty()) return;
    const auto set = kube::ManifestDirectory(directory, origin).look({});
    for (const auto& pod : set.pods) words.insert_or_assign(pod->uid.value, policy::word_of(*pod, true));
    found.pods.insert(found.pods.end(), set.pods.begin(), set.pods.end());
    bool is_there = true;
    for (const auto* errors : {&set.rejected, &set.unread}) {
        for (const auto& error : *errors) {
            is_there = is_there && error.kind != ErrorKind::vanished;
            if (is_there) found.troubles.push_back(error.what + ": " + error.why);
        }
    }
    found.sources.push_back(is_there ? fmt::format("{} in {}", pods_text(set.pods.size()), directory)
                                     : "no directory " + directory);
}

void add_agents(const std::string& socket, Words& words, GarbagePods& found) {
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        if (client.error().kind != ErrorKind::unreachable) found.troubles.push_back(client.error().text());
        found.sources.push_back("no agent at " + socket);
        return;
    }
    const auto answer = client->ask({});
    const auto pods = answer ? codec::agent_pods(*answer) : std::nullopt;
    if (!pods) {
        found.troubles.push_back(answer ? "agent at " + socket + ": it has not looked at the node yet"
                                        : answer.error().text());
        return;
    }
    for (const auto& one : *pods) {
        words.insert_or_assign(one.pod.uid.value, policy::word_of(one.pod, one.populated));
        found.pods.push_back(make_pod(one.pod));
    }
    found.sources.push_back(fmt::format("{} of the agent at {}", pods_text(pods->size()), socket));
}

}  // namespace

// The manifests last: what is to run is there, whatever the agent has seen of it.
GarbagePods find_garbage_pods(const Config& config) {
    GarbagePods found;
    Words words;
    add_agents(config.agent.socket_path, words, found);
    add_manifests(config.static_pod_path, PodOrigin::static_file, words, found);
    add_manifests(config.agent.pod_manifest_path, PodOrigin::api, words, found);
    found.word_of = [words = std::move(words)](const std::string& uid) {
        const auto known = words.find(uid);
        return known == words.end() ? policy::word_of_unlisted() : known->second;
    };
    return found;
}

}  // namespace evictd::app
