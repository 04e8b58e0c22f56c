// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as the reply of an API server: in whatever pieces they come, the same objects are cut out of them, and each
// is a pod or one printable line that says why not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_splitter.hpp"
#include "kube/pod_text.hpp"

namespace {

using evictd::Status;
using evictd::kube::ObjectSplitter;

void expect(bool holds) {
    if (!holds) std::abort();
}

bool printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

std::vector<std::string> cut(ObjectSplitter::Of of, std::string_view text, std::size_t size) {
    ObjectSplitter splitter(of, 4096);
    std::vector<std::string> objects;
    while (!text.empty()) {
        const auto fed = splitter.feed(text.substr(0, size), [&](std::string_view object, bool) -> Status {
            objects.emplace_back(object);
            return {};
        });
        if (!fed) break;
        text.remove_prefix(std::min(size, text.size()));
    }
    return objects;
}

void read(std::string_view text) {
    evictd::kube::ClusterPodList into;
    if (const auto taken = evictd::kube::take_item(text, true, evictd::kube::PodSender::api_server, {}, into); taken) {
        expect(into.pods.size() + into.rejected.size() == 1);
        for (const auto& [uid, error] : into.rejected) expect(printable(error.text()));
    }
    const auto done = evictd::kube::read_json(text, "server", [](const evictd::document::Value& object) -> Status {
        for (const auto sender : {evictd::kube::PodSender::api_server, evictd::kube::PodSender::kubelet}) {
            const auto pod = evictd::kube::read_cluster_pod(object, sender);
            expect(pod ? !(*pod)->uid.value.empty() : printable(pod.error().text()));
        }
        return {};
    });
    if (!done) expect(printable(done.error().text()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view all(reinterpret_cast<const char*>(bytes), size);
    const auto text = all.substr(1);
    for (const auto of : {ObjectSplitter::Of::stream, ObjectSplitter::Of::items}) {
        const auto objects = cut(of, text, text.size() + 1);
        expect(objects == cut(of, text, bytes[0] % 16U + 1));
        for (const auto& object : objects) read(object);
    }
    read(text);
    (void)evictd::kube::refusal("server", {.status = 403, .body = std::string(text), .retry_after = {}}, "");
    return 0;
}
