// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a server sends, as values: pods, and why it refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "document/node.hpp"
#include "document/value.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/result.hpp"
#include "http/client.hpp"
#include "kube/object_splitter.hpp"

namespace evictd::kube {

// A Pod's JSON has some 600 values, most of them in managedFields.
inline constexpr document::Limits api_object_limits{
    "an object of the API server", ObjectSplitter::most_of_an_object + 1, std::size_t{1} << 15U, false};

// Calls `use` with the root of `text`. An error: it is not JSON, or it has a key twice. `from`: who sent it.
Status read_json(std::string_view text, const std::string& from,
                 const std::function<Status(const document::Value&)>& use);

// By metadata.uid, which for a mirror pod is not Pod::uid.
struct ClusterPodList {
    std::map<std::string, PodPtr> pods;
    // What cannot be read. A pod that could be read before is still in `pods`, as it was: unknown is not gone.
    std::map<std::string, Error> rejected;
};

enum class PodSender : std::uint8_t {
    api_server,  // of a pod's annotations only the one of a mirror pod is the server's word: it admits no other
    kubelet,     // says in an annotation where it has the pod from (kubetypes.ConfigSourceAnnotationKey)
};

// A pod in the words of `sender`. Error: which pod, and what is wrong with it.
[[nodiscard]] Result<PodPtr> read_cluster_pod(const document::Value& object, PodSender sender);

// How an object begins, read without its rest: what is foreign text comes after it.
struct ObjectHead {
    std::string name;  // with its namespace
    std::string uid;   // empty: it does not begin like an object of the API server
    std::string version;
};
[[nodiscard]] ObjectHead head_of(std::string_view text);

// The pod cannot be read. In `into` it is as in `known`, the list before.
void reject_pod(const ObjectHead& head, const std::string& why, const ClusterPodList& known, ClusterPodList& into);

// An item of a list, as the splitter hands it on: take_pod(), or reject_pod() where it is too large or not JSON.
// Error: nor has it a head.
Status take_item(std::string_view text, bool is_whole, PodSender sender, const ClusterPodList& known,
                 ClusterPodList& into, const std::function<Status(const Pod&)>& refuse = {});

// Puts the pod into `into`. One that cannot be read is as in `known`, the list before. Error: as read_cluster_pod(), or
// `refuse` says why not; it is in `into` too.
void take_pod(const document::Value& object, PodSender sender, const ClusterPodList& known, ClusterPodList& into,
              const std::function<Status(const Pod&)>& refuse = {});

// Whether a list was read to its end: `rest` is the reply without its items. Items that the splitter did not see would
// be pods that seem to be gone. `use` gets its metadata.
Status check_list(const ObjectSplitter& splitter, const std::string& from,
                  const std::function<void(const document::Value&)>& use = {});

// What a refusal says: "403 Forbidden: pods is forbidden: User ...". `rights`: what to grant.
[[nodiscard]] Error refusal(const std::string& from, const http::Reply& reply, const std::string& rights);

}  // namespace evictd::kube
