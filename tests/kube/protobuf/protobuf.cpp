// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Compares what evictd reads of the same pods in both encodings of a real API server: a PodList in protobuf (`k8s\0`
// and a runtime.Unknown) and one in JSON. For tests/kube/cases/pod_sources.sh.
//
// usage: kube_protobuf PROTOBUF-FILE JSON-FILE
// A line on stdout: how many pods. Exit status 1, and both on stderr, where they differ.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fakes/pod_lines.hpp"
#include "http/wire_reader.hpp"
#include "kube/object_splitter.hpp"
#include "kube/pod_protobuf.hpp"
#include "kube/pod_text.hpp"

namespace evictd {
namespace {

using kube::ClusterPodList;
using kube::PodSender;

std::string contents(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Calls `use` with each field of that number. False: it is no message.
template <class Use>
bool each_field(std::string_view message, std::uint32_t number, Use use) {
    http::WireReader reader(message);
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return false;
        if (!*field) return true;
        if ((*field)->number == number) use((*field)->bytes);
    }
}

bool read_protobuf(std::string_view reply, ClusterPodList& into) {
    constexpr std::string_view magic("k8s\0", 4);
    if (!reply.starts_with(magic)) return false;
    std::string_view list;
    bool is_good = each_field(reply.substr(magic.size()), 2, [&](std::string_view raw) { list = raw; });
    return is_good &&
           each_field(list, 2,
                      [&](std::string_view pod) {
                          auto document = kube::read_protobuf_pod(pod);
                          if (!document) {
                              (void)std::fprintf(stderr, "%s\n", document.error().text().c_str());
                              is_good = false;
                              return;
                          }
                          document::Reading reading(std::move(*document), "protobuf");
                          kube::take_pod(reading.root(), PodSender::kubelet, {}, into);
                      }) &&
           is_good;
}

bool read_json(std::string_view reply, ClusterPodList& into) {
    kube::ObjectSplitter splitter(kube::ObjectSplitter::Of::items);
    const auto fed = splitter.feed(reply, [&](std::string_view text, bool is_whole) {
        return kube::take_item(text, is_whole, PodSender::kubelet, {}, into);
    });
    return fed && splitter.is_complete();
}

std::map<std::string, std::string> lines_of(const ClusterPodList& list) {
    std::map<std::string, std::string> lines;
    for (const auto& [uid, pod] : list.pods) lines[uid] = fakes::lines_of(*pod);
    for (const auto& [uid, error] : list.rejected) lines[uid] = error.text();
    return lines;
}

int compare(const char* protobuf, const char* json) {
    ClusterPodList one;
    ClusterPodList other;
    if (!read_protobuf(contents(protobuf), one) || !read_json(contents(json), other)) {
        (void)std::fprintf(stderr, "a reply cannot be read\n");
        return 1;
    }
    const auto lines = lines_of(one);
    const auto others = lines_of(other);
    (void)std::printf("%zu pods\n", lines.size());
    if (lines == others) return 0;
    for (const auto* list : {&lines, &others}) {
        for (const auto& [uid, text] : *list) (void)std::fprintf(stderr, "%s\n", text.c_str());
        (void)std::fprintf(stderr, "----\n");
    }
    return 1;
}

}  // namespace
}  // namespace evictd

int main(int count, char** arguments) {
    if (count != 3) return 2;
    return evictd::compare(arguments[1], arguments[2]);
}
