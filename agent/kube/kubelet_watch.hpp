// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This node's pods as its kubelet's Pods API has them (KEP-4188, `v1alpha1.Pods/WatchPods` on a Unix socket): listed,
// then watched. It needs no credentials, and no API server. It runs in one lane.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/client.hpp"
#include "http/grpc_messages.hpp"
#include "kube/pod_text.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

// Others are for tests.
struct KubeletWatchTimes {
    // Of a socket that is not there: what looks for it is one stat(). Of one that fails: doubled with each failure, 64
    // times as long at most.
    Duration first_back_off = std::chrono::seconds(1);
    Duration absent = std::chrono::seconds(10);
    // What ends sooner after its list is one failure more: a kubelet that lists and cuts would be asked all the time.
    Duration steady = std::chrono::seconds(10);
    // Until the list is complete: 110 pods take some milliseconds.
    Duration list_timeout = std::chrono::seconds(10);
    // The kubelet sends no sign of life, and drops events where its queue is full (broadcaster.Broadcast): all of it is
    // read again this often, which costs it less than one answer with JSON.
    Duration resync = std::chrono::minutes(5);
};

class KubeletWatch {
public:
    using OnChange = std::function<void()>;

    // `lane` must outlive it. All in the lane's thread. `socket`: its path. on_change: the pods or its state changed,
    // and once at the end of the first attempt; it may be called within start().
    KubeletWatch(sys::Lane& lane, std::string socket, KubeletWatchTimes times, OnChange on_change);
    ~KubeletWatch() = default;
    KubeletWatch(const KubeletWatch&) = delete;
    KubeletWatch& operator=(const KubeletWatch&) = delete;

    Status start();  // error: there is no timer to be had
    // As KubeletPods::set_period().
    void set_alone(bool is_alone);
    // Pods that another source had, kept where they cannot be read here.
    void adopt(const ClusterPodList& list) { known_ = list; }

    // Its list is complete, and the kubelet tells of each change.
    [[nodiscard]] bool is_live() const { return is_live_; }
    [[nodiscard]] const ClusterPodList& pods() const { return known_; }
    // Why it is not live. None: it is, or its socket is not there, which is the kubelet's default.
    [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
    [[nodiscard]] std::optional<MonotonicTime> heard_at() const { return heard_at_; }
    [[nodiscard]] const std::string& socket() const { return socket_; }

private:
    void on_time();
    void begin();
    Status open();
    Status on_piece(std::string_view piece);
    Status on_message(std::string_view message, bool is_whole);
    Status on_pod(std::string_view bytes, bool is_whole);
    Status forget(std::string_view bytes);
    void end_list();
    void on_done(const Result<http::Reply>& reply);
    void fail_with(Error why);
    void end(std::optional<Error> why, Duration pause);
    // What events change: while the list is read, that list.
    [[nodiscard]] ClusterPodList& current() { return in_list_ ? listing_ : known_; }

    sys::Lane& lane_;
    std::string socket_;
    KubeletWatchTimes times_;
    OnChange on_change_;
    bool is_alone_ = false;
    bool keeps_missing_ = false;  // pods that the list lacked are known, because the kubelet was alone
    ClusterPodList known_;
    ClusterPodList listing_;
    bool is_live_ = false;
    MonotonicTime live_since_;
    bool in_list_ = false;
    bool is_first_ = true;  // no attempt has ended
    int failures_ = 0;      // one after the other
    std::optional<Error> fault_;
    std::optional<MonotonicTime> heard_at_;
    http::GrpcMessages messages_;
    sys::Timer timer_;  // the next attempt, the end of the list, or the next resync
    std::unique_ptr<http::Client> client_;
    http::Client::CallPtr call_;  // the last member: its functions use the others
};

}  // namespace evictd::kube
