// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This node's object as the API server has it: its taints, and whether the kubelet says that the node shuts down. A
// watch alone, without a list: of one object, it begins with the object. It runs in one lane, and changes nothing.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "document/value.hpp"
#include "evictd/model/node_view.hpp"
#include "kube/api_connection.hpp"
#include "kube/object_splitter.hpp"
#include "kube/retry_pace.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

// Of a v1.Node. Shutting down is the kubelet's word: Ready is False, with the error of nodestatus.ReadyCondition.
[[nodiscard]] NodeView read_node_view(const document::Value& node);

// Others are for tests.
struct ApiNodeTimes {
    Duration first_back_off = std::chrono::milliseconds(800);  // as ApiPodsTimes has it
    // The server sends a bookmark about once a minute; servers up to 1.20 do not, and each silence costs them a request
    // of every node. Nothing is lost by it: what depends on the node's object looks at when it was last heard. Shorter
    // than the kubelet's word on a shutdown lasts (policy/shutdown), which is to be renewed in time.
    Duration silence = std::chrono::minutes(7);
    Duration probe = std::chrono::seconds(10);  // and for the answer to another watch then
};

class ApiNode {
public:
    // The node changed, or was heard, or is not up to date any more.
    using OnNews = std::function<void()>;

    // `connection` and `lane` must outlive it. All in the lane's thread.
    ApiNode(sys::Lane& lane, ApiConnection& connection, std::string node, ApiNodeTimes times, OnNews on_news);
    ~ApiNode() = default;
    ApiNode(const ApiNode&) = delete;
    ApiNode& operator=(const ApiNode&) = delete;

    Status start();  // error: there is no timer to be had

    // None: not heard yet, or it was deleted.
    [[nodiscard]] const std::optional<NodeView>& view() const { return view_; }
    // Why what it has may be out of date. None: it is up to date, by the server's last word.
    [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

private:
    void watch();
    void on_silence();
    Status on_piece(std::string_view piece);
    Status on_event(const document::Value& event);
    void on_ended(const Result<http::Reply>& reply);
    [[nodiscard]] bool is_refused(long status);
    // Error: it is older than what was seen of it.
    Status note_version(const std::string& version);
    void retry(Error why, Duration at_least);
    void note_heard();

    sys::Lane& lane_;
    ApiConnection& connection_;
    std::string node_;
    ApiNodeTimes times_;
    OnNews on_news_;
    std::optional<NodeView> view_;
    std::optional<Error> fault_;
    MonotonicTime watch_began_;
    bool has_object_ = false;  // from the watch under way
    std::string version_;      // the newest resourceVersion of the object
    std::optional<MonotonicTime> older_since_;
    bool is_probing_ = false;
    RetryPace pace_;
    std::optional<MonotonicTime> refused_since_;
    std::mt19937_64 random_;
    std::optional<ObjectSplitter> splitter_;
    sys::Timer again_;
    sys::Timer silence_;
    ApiConnection::Call call_;  // the last member: its functions use the others
};

}  // namespace evictd::kube
