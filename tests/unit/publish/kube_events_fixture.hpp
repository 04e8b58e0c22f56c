// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An EventSender with a scripted API server and a spool on disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/scripted_api_server.hpp"
#include "fakes/temp_dir.hpp"
#include "publish/event_sender.hpp"
#include "sys/file.hpp"

namespace evictd::publish {

inline codec::KubeEvent oom_event(const std::string& message = "killed", const std::string& pod = "web") {
    return {.name = {},
            .object = {.name_space = "shop", .name = pod, .uid = "u1", .field_path = "spec.containers{main}"},
            .reason = "OOMKilling",
            .message = message,
            .annotations = {},
            .first = WallTime(std::chrono::seconds(1767225600)),
            .last = WallTime(std::chrono::seconds(1767225600))};
}
inline codec::KubeEvent eviction_event() {
    auto event = oom_event("The node was low on resource: memory. ");
    event.reason = "Evicted";
    event.annotations = {{"starved_resource", "memory"}};
    return event;
}

inline constexpr const char* post_event = "POST /api/v1/namespaces/shop/events";

struct KubeEventsTest : ::testing::Test {
    KubeEventsTest() { restart(); }
    void restart() {
        sender.emplace(api, clock, EventSenderOptions{.node = "n1", .spool_path = path, .dry_run = dry_run},
                       std::make_shared<EventAnswers>());
        sender->load();
        sender->work();
    }
    void add(codec::KubeEvent event) {
        sender->add(std::move(event));
        sender->work();
    }
    void answer(long status, const std::string& body = {}) {
        api->answer(status, body);
        sender->work();
    }
    void after(Duration time) {
        clock.advance(time);
        sender->work();
    }
    std::vector<std::string> asked() {
        std::vector<std::string> all;
        for (; seen < api->requests.size(); ++seen)
            all.push_back(api->requests[seen].method + " " + api->requests[seen].path);
        return all;
    }
    [[nodiscard]] const std::string& body() const { return api->requests.back().body; }
    [[nodiscard]] std::string spooled() const { return sys::read_file(path, 1 << 20).value_or("none"); }

    std::shared_ptr<fakes::ScriptedApiServer> api = std::make_shared<fakes::ScriptedApiServer>();
    fakes::FakeClock clock;
    fakes::TempDir dir;
    std::string path = dir / "kube_events";
    bool dry_run = false;
    std::size_t seen = 0;
    std::optional<EventSender> sender;
};

}  // namespace evictd::publish
