// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// List and watch against a server on loopback that behaves as well or as badly as the test needs it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/http_server.hpp"
#include "kube/cluster_pods.hpp"
#include "source_listener.hpp"

namespace evictd::kube {

using Connection = fakes::HttpServer::Connection;

inline std::string pod_json(const std::string& name, const std::string& version = "1", const std::string& more = "") {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"default","uid":"uid-)" + name +
           R"(","resourceVersion":")" + version + R"("},"spec":{"nodeName":"n1","containers":[{"name":"c")" + more +
           "}]}}";
}
inline std::string list_json(const std::string& items, const std::string& metadata = R"("resourceVersion":"10")") {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{)" + metadata + R"(},"items":[)" + items + "]}";
}
inline std::string event_json(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
inline bool is_streaming_list(const std::string& path) {
    return path.find("sendInitialEvents=true") != std::string::npos;
}
// Of a streaming list (metav1.InitialEventsAnnotationKey).
inline std::string end_of_list_json(const std::string& version) {
    return event_json("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":")" + version +
                                      R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
}
inline bool is_watch(const std::string& path) { return path.find("watch=true") != std::string::npos; }

// Steps that the test sets and the server waits for.
class Gate {
public:
    void open() {
        const std::scoped_lock lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    bool pass() {
        std::unique_lock lock(mutex_);
        return opened_.wait_for(lock, patience, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

class ClusterPodsTest : public ::testing::Test {
protected:
    // Ends both before what the handler refers to.
    struct End {
        explicit End(ClusterPodsTest& of) : test(of) {}
        End(const End&) = delete;
        End& operator=(const End&) = delete;
        ~End() {
            test.source.reset();
            test.server.reset();
        }
        ClusterPodsTest& test;
    };
    // Without streaming lists, as servers up to 1.31 are, unless `streams_lists`.
    [[nodiscard]] End serve(fakes::HttpServer::Handler handler) {
        server.emplace([this, handler = std::move(handler)](const std::string& method, const std::string& path,
                                                            const Connection& to) {
            if (streams_lists || !is_streaming_list(path)) return handler(method, path, to);
            to.reply(422,
                     R"({"kind":"Status","reason":"Invalid","message":"resourceVersionMatch is forbidden for watch"})");
            return true;
        });
        const auto load = [this]() -> Result<ApiAccess> {
            if (loads++ == 0 && first_load_fails) return fail(ErrorKind::failed, "kubeconfig", "is not there yet");
            return ApiAccess{
                .server = {.url = server->url(), .tls = {}}, .token_file = {}, .token = "t", .from = "test"};
        };
        source.emplace("of a test", load, "n1", std::nullopt, times, node_times);
        EXPECT_TRUE(source->start(listener.hear()));
        return End(*this);
    }
    // A list of the pod "a" and a watch without events, as a Handler has it.
    static bool serve_one_pod(const std::string& path, const Connection& to) {
        if (!is_watch(path)) {
            to.reply(200, list_json(pod_json("a")));
            return true;
        }
        to.begin();
        to.hold();
        return false;
    }
    Listener listener;
    std::atomic<int> loads = 0;
    bool first_load_fails = false;
    bool streams_lists = false;
    ApiPodsTimes times{.first_back_off = std::chrono::milliseconds(10)};
    std::optional<ApiNodeTimes> node_times;
    std::optional<fakes::HttpServer> server;
    std::optional<ClusterPods> source;
};

}  // namespace evictd::kube
