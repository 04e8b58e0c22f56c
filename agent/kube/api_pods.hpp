// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This node's pods as the API server has them: listed, then watched (client-go's Reflector). It runs in one lane.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "document/value.hpp"
#include "http/client.hpp"
#include "kube/api_connection.hpp"
#include "kube/object_splitter.hpp"
#include "kube/pod_text.hpp"
#include "kube/retry_pace.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

// Others are for tests.
struct ApiPodsTimes {
    Duration first_back_off = std::chrono::milliseconds(800);  // the Reflector's
    // Of a streaming list up to its end, and of each request for a page of another.
    Duration list_timeout = std::chrono::seconds(30);
    // The server sends a bookmark about once a minute: three that do not come are a server that hangs, or an old one.
    Duration longest_silence = std::chrono::seconds(180);
    // Without an event, a bookmark or a list, though watches are accepted: the pods are listed again. Half as long, and
    // servers up to 1.20 would list for each node that is idle twice as often; twice, and a watch that is dead behind
    // its headers hides pods for so long.
    Duration longest_quiet = std::chrono::minutes(10);
};

class ApiPods {
public:
    // True: the pods changed, or whether they are up to date. False: the server was heard.
    using OnNews = std::function<void(bool changed)>;

    // `connection` and `lane` must outlive it. All in the lane's thread.
    ApiPods(sys::Lane& lane, ApiConnection& connection, std::string node, ApiPodsTimes times, OnNews on_news);
    ~ApiPods() = default;
    ApiPods(const ApiPods&) = delete;
    ApiPods& operator=(const ApiPods&) = delete;

    Status start();  // error: there is no timer to be had

    // Null: not listed yet.
    [[nodiscard]] const ClusterPodList* pods() const { return is_listed_ ? &known_ : nullptr; }
    // Why what it has may be out of date. None: it is up to date, by the server's last word.
    [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
    // The server's last word: an event, a bookmark or a whole list.
    [[nodiscard]] std::optional<MonotonicTime> heard_at() const { return heard_at_; }

private:
    void begin_list();
    void end_list();
    void list();
    Status on_items(std::string_view piece);
    void on_listed(const Result<http::Reply>& reply);
    void watch();
    void stream(const std::string& from);
    Status on_piece(std::string_view piece);
    Status on_event(const document::Value& event, bool& changed);
    void on_watch_ended(const Result<http::Reply>& reply);
    void on_list_refused(const http::Reply& reply);
    Status on_event_text(std::string_view text, bool is_whole, bool& changed);
    void note_version(const std::string& version);
    void forget(const std::string& uid);
    // What events change: while a streaming list is read, that list.
    [[nodiscard]] ClusterPodList& current() { return in_list_ ? listing_ : known_; }
    [[nodiscard]] Status check_node(const Pod& pod) const;
    void request(const std::string& query, Duration timeout, http::Client::OnData on_data, http::Client::OnDone on_done,
                 ApiCounters::Kind kind = ApiCounters::Kind::request);
    void on_silence();
    void retry(Error why, std::optional<std::chrono::seconds> wait);
    void note_heard();
    void note_answered();
    [[nodiscard]] bool is_quiet() const;
    // What a server answers that does not know a resource version, or no more. The next list is for the newest then.
    [[nodiscard]] static bool may_be_the_version(long status);

    sys::Lane& lane_;
    ApiConnection& connection_;
    std::string node_;
    ApiPodsTimes times_;
    OnNews on_news_;
    ClusterPodList known_;
    ClusterPodList listing_;          // what was read of a list so far
    std::string list_version_ = "0";  // a list is to be as new as this: 0, any that the server has; empty, the newest
    std::string continue_;            // the next page of the list; empty: there is none
    std::string resource_version_;    // that a watch begins at
    bool is_listed_ = false;
    bool relist_ = false;
    bool is_probing_ = false;         // nothing was heard for long, and another watch was asked for
    bool is_answered_ = false;        // the watch was accepted
    bool in_list_ = false;            // before the end of a streaming list
    bool has_streaming_list_ = true;  // the server, for all that is known
    std::optional<Error> fault_;
    std::optional<MonotonicTime> heard_at_;
    MonotonicTime watch_began_;
    RetryPace pace_;
    std::mt19937_64 random_;
    std::optional<ObjectSplitter> splitter_;
    sys::Timer again_;
    sys::Timer silence_;
    ApiConnection::Call call_;  // the last member: its functions use the others
};

}  // namespace evictd::kube
