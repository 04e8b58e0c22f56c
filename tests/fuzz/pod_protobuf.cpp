// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as the stream of a kubelet's Pods API: in whatever pieces they come, the same messages are cut out of them,
// and each is a pod with an identity that is safe to build a path from, or is refused.
#include "kube/pod_protobuf.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/grpc_messages.hpp"
#include "http/wire_reader.hpp"

namespace {

using evictd::Status;

void expect(bool holds) {
    if (!holds) std::abort();
}

std::vector<std::string> cut(std::string_view stream, std::size_t size) {
    evictd::http::GrpcMessages messages(4096);
    std::vector<std::string> all;
    for (; !stream.empty(); stream.remove_prefix(std::min(size, stream.size()))) {
        const auto fed = messages.feed(stream.substr(0, size), [&](std::string_view message, bool is_whole) -> Status {
            all.emplace_back((is_whole ? "+" : "-") + std::string(message));
            return {};
        });
        if (!fed) break;
    }
    return all;
}

void read_fields(std::string_view message, evictd::http::WireReader::Of of) {
    evictd::http::WireReader reader(message, of);
    std::size_t bytes = 0;
    for (auto field = reader.next(); field && *field; field = reader.next()) bytes += (*field)->bytes.size() + 1;
    expect(bytes <= message.size());
}

void read_pod(std::string_view message) {
    (void)evictd::kube::protobuf_head_of(message);
    auto document = evictd::kube::read_protobuf_pod(message);
    if (!document) return expect(!document.error().why.empty());
    evictd::document::Reading reading(std::move(*document), "fuzz");
    evictd::kube::ClusterPodList into;
    evictd::kube::take_pod(reading.root(), evictd::kube::PodSender::kubelet, {}, into);
    expect(into.pods.size() + into.rejected.size() == 1);
    for (const auto& [uid, pod] : into.pods) {
        expect(!pod->uid.value.empty() && pod->uid.value.find_first_of("/._") == std::string::npos);
        expect(!pod->containers.empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(bytes), size);
    read_pod(all);
    read_fields(all, evictd::http::WireReader::Of::whole);
    read_fields(all, evictd::http::WireReader::Of::beginning);
    const auto messages = cut(all, size + 1);
    expect(messages == cut(all, size % 16 + 1));
    for (const auto& message : messages) read_pod(std::string_view(message).substr(1));
    return 0;
}
