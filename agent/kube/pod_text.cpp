// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/pod_text.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "evictd/model/text.hpp"
#include "kube/pod_object.hpp"

namespace evictd::kube {

Status read_json(std::string_view text, const std::string& from,
                 const std::function<Status(const document::Value&)>& use) {
    auto documents = document::parse(text, from, document::Syntax::json, api_object_limits);
    if (documents.size() != 1) return fail(ErrorKind::invalid, from, "sent no JSON object");
    if (!documents.front().faults.empty()) {
        return fail(ErrorKind::invalid, from, documents.front().faults.front().what);
    }
    document::Reading reading(std::move(documents.front()), from);
    return use(reading.root());
}

Result<PodPtr> read_cluster_pod(const document::Value& object, PodSender sender) {
    const bool from_kubelet = sender == PodSender::kubelet;
    auto pod = read_pod(object, {.source = from_kubelet ? "kubelet" : std::string(api_server_source),
                                 .origin = {},
                                 .status_from_kubelet = true});
    if (pod) {
        if (!from_kubelet && pod->origin != PodOrigin::mirror) pod->origin = PodOrigin::api;
        pod->annotations.clear();  // up to 256 KiB a pod, of its own making; what counts of them was read
        return make_pod(std::move(*pod));
    }
    const auto faults = object.reading().take_faults();
    const auto name =
        object["metadata"]["namespace"].text().value_or("") + "/" + object["metadata"]["name"].text().value_or("");
    const auto why = faults.empty() ? "" : faults.front().key + ": " + faults.front().what;
    return fail(ErrorKind::invalid, "pod " + excerpt(name), "cannot be read: " + why);
}

namespace {

// The first text of that key: no number, no list.
std::string first_text(std::string_view text, std::string_view key) {
    const auto quoted = '"' + std::string(key) + "\":\"";
    const auto begin = text.substr(0, ObjectSplitter::head_of_an_object).find(quoted);
    if (begin == std::string_view::npos) return {};
    const auto value = text.substr(begin + quoted.size());
    return std::string(value.substr(0, std::min(value.find('"'), std::size_t{253})));
}

}  // namespace

ObjectHead head_of(std::string_view text) {
    return {.name = first_text(text, "namespace") + "/" + first_text(text, "name"),
            .uid = first_text(text, "uid"),
            .version = first_text(text, "resourceVersion")};
}

void reject_pod(const ObjectHead& head, const std::string& why, const ClusterPodList& known, ClusterPodList& into) {
    into.rejected.insert_or_assign(
        head.uid, Error{ErrorKind::invalid, "pod " + excerpt(head.name, 512), "cannot be read: " + why, ""});
    if (const auto before = known.pods.find(head.uid); before != known.pods.end()) into.pods[head.uid] = before->second;
}

Status take_item(std::string_view text, bool is_whole, PodSender sender, const ClusterPodList& known,
                 ClusterPodList& into, const std::function<Status(const Pod&)>& refuse) {
    std::string why = "it is too large";
    if (is_whole) {
        auto read = read_json(text, "the server", [&](const document::Value& object) -> Status {
            take_pod(object, sender, known, into, refuse);
            return {};
        });
        if (read) return read;
        why = read.error().why;
    }
    const auto head = head_of(text);
    if (head.uid.empty()) return fail(ErrorKind::invalid, "the server", why);
    reject_pod(head, why, known, into);
    return {};
}

void take_pod(const document::Value& object, PodSender sender, const ClusterPodList& known, ClusterPodList& into,
              const std::function<Status(const Pod&)>& refuse) {
    const auto uid = object["metadata"]["uid"].text().value_or("");
    auto read = read_cluster_pod(object, sender);
    if (read && refuse) {
        if (auto fits = refuse(**read); !fits) read = tl::unexpected(fits.error());
    }
    if (read) {
        into.rejected.erase(uid);
        into.pods[uid] = std::move(*read);
        return;
    }
    into.rejected.insert_or_assign(uid, read.error());
    if (const auto before = known.pods.find(uid); before != known.pods.end()) into.pods[uid] = before->second;
}

Status check_list(const ObjectSplitter& splitter, const std::string& from,
                  const std::function<void(const document::Value&)>& use) {
    if (!splitter.is_complete()) return fail(ErrorKind::unreachable, from, "the list of pods is incomplete");
    return read_json(splitter.rest(), from, [&](const document::Value& list) -> Status {
        if (list["kind"].text() != "PodList" || !list["items"].elements().empty()) {
            return fail(ErrorKind::invalid, from, "answered with something else than a list of pods");
        }
        if (use) use(list["metadata"]);
        return {};
    });
}

Error refusal(const std::string& from, const http::Reply& reply, const std::string& rights) {
    std::string message;
    std::string reason;
    // A proxy's reply is not a v1.Status: then only the code is reported.
    (void)read_json(reply.body, from, [&](const document::Value& status) -> Status {
        if (status.is_map()) {
            message = status["message"].text().value_or("");
            reason = status["reason"].text().value_or("");
        }
        return {};
    });
    std::string why = "refused: " + std::to_string(reply.status);
    if (!reason.empty()) why += " " + excerpt(reason, 60);
    if (!message.empty()) why += ": " + excerpt(message, 300);
    const bool is_right = reply.status == 401 || reply.status == 403;
    return {is_right ? ErrorKind::not_permitted : ErrorKind::unreachable, from, std::move(why),
            reply.status == 403 ? rights : ""};
}

}  // namespace evictd::kube
