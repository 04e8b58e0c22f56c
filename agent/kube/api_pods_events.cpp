// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// ApiPods, what a watch sends: each event applied to the pods. The requests are in api_pods.cpp.
#include "evictd/model/text.hpp"
#include "kube/api_pods.hpp"
#include "kube/pod_text.hpp"
#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using document::Value;

constexpr auto event_sender = "API server";
// metav1.InitialEventsAnnotationKey, of the bookmark after the last pod of a streaming list.
constexpr auto end_of_list = "k8s.io/initial-events-end";

std::string version_of(const Value& object) { return object["metadata"]["resourceVersion"].text().value_or(""); }

}  // namespace

// An event that cannot be read affects its own pod only: the watch continues after it, or it would never advance.
Status ApiPods::on_event_text(std::string_view text, bool is_whole, bool& changed) {
    std::string why = "it is too large";
    if (is_whole) {
        Status event;
        auto read = read_json(text, event_sender, [&](const Value& object) -> Status {
            event = on_event(object, changed);
            return {};
        });
        if (read) return event;
        why = read.error().why;
    }
    const auto head = head_of(text);
    if (head.uid.empty()) return fail(ErrorKind::invalid, event_sender, why);
    if (!in_list_) note_heard();
    if (text.starts_with(R"({"type":"DELETED")")) {
        forget(head.uid);
    } else {
        reject_pod(head, why, known_, current());
    }
    changed = true;
    note_version(head.version);
    return {};
}

// The pods of a streaming list come in any order: only its end says which version it has.
void ApiPods::note_version(const std::string& version) {
    if (!version.empty() && !in_list_) resource_version_ = list_version_ = version;
}

void ApiPods::forget(const std::string& uid) {
    current().pods.erase(uid);
    current().rejected.erase(uid);
}

Status ApiPods::on_event(const Value& event, bool& changed) {
    const auto type = event["type"].text().value_or("");
    const Value object = event["object"];
    if (type == "ERROR") {
        relist_ = true;  // 410, as a rule: what was watched is too old for the server
        // Within a list it is the list's version, such as one that is too large for a server that was restored: asked
        // for again it would fail for ever. Without a code it may be that, too.
        const auto code = object["code"].integer(0, 999).value_or(0);
        if (in_list_ && (code == 0 || may_be_the_version(code))) list_version_ = "";
        return fail(ErrorKind::unreachable, event_sender,
                    "ended the watch: " + excerpt(object["message"].text().value_or(""), 200));
    }
    if (!in_list_) note_heard();
    if (type == "ADDED" || type == "MODIFIED") {
        take_pod(object, PodSender::api_server, known_, current(), [this](const Pod& pod) { return check_node(pod); });
        changed = true;
    } else if (type == "DELETED") {
        forget(object["metadata"]["uid"].text().value_or(""));
        changed = true;
    } else if (in_list_ && type == "BOOKMARK" && object["metadata"]["annotations"][end_of_list].text() == "true") {
        resource_version_ = version_of(object);
        end_list();
        changed = true;
    }
    note_version(version_of(object));
    return {};
}

Status ApiPods::check_node(const Pod& pod) const {
    if (pod.node_name == node_) return {};
    return fail(ErrorKind::invalid, "pod " + pod.full_name(), "is on another node, and was not requested");
}

}  // namespace evictd::kube
