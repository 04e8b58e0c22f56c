// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The configuration that this node's kubelet runs with (GET /configz), as text. Waits for the network: not for a thread
// that watches or kills. What it means is known in config/.
#pragma once

#include <string>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "kube/api_access.hpp"
#include "kube/kubelet_pods.hpp"

namespace evictd::kube {

// {"kubeletconfig":{...}}. One request on a connection of its own, with the credentials of the requests for pods; needs
// `get` of nodes/configz (kubelet 1.33) or nodes/proxy. Error: no answer within `timeout`, a refusal, or more than 1
// MiB.
[[nodiscard]] Result<std::string> fetch_kubelet_config(const KubeletAddress& address, AccessSource& access,
                                                       Duration timeout);

}  // namespace evictd::kube
