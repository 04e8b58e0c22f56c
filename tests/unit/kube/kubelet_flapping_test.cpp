// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A kubelet whose Pods API lists and cuts: it is asked ever less often, and so is its /pods.
#include <atomic>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cluster_pods_fixture.hpp"
#include "fakes/grpc_server.hpp"
#include "fakes/http_server.hpp"
#include "fakes/temp_dir.hpp"
#include "kube/kubelet_source.hpp"
#include "protobuf_bytes.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

TEST(KubeletFlapping, AStreamThatEndsAfterItsListIsAFailure) {
    const fakes::TempDir directory;
    const auto socket = directory / "pods-api.sock";
    directory.write("ca.crt", "any");
    std::atomic<int> polls = 0;
    const fakes::HttpServer web([&](const std::string&, const std::string&, const Connection& to) {
        polls++;
        to.reply(200, list_json(pod_json("p")));
        return true;
    });
    std::atomic<int> lists = 0;
    Gate seven;
    const fakes::GrpcServer server(socket, [&](const fakes::GrpcServer::Call& to) {
        to.begin();
        to.data(proto::event(proto::Event::added, proto::pod("a")) + proto::event(proto::Event::initial_sync_complete));
        to.end(0);
        if (++lists == 7) seven.open();
        to.hold();
    });
    AccessSource access{[]() -> Result<ApiAccess> {
        return ApiAccess{.server = {.url = "http://unused", .tls = {}}, .token_file = {}, .token = "t", .from = "test"};
    }};
    std::optional<KubeletSource> source;
    const auto lane = std::move(*sys::Lane::make("test", sys::Loop::default_queue, sys::Lane::default_drain));
    const auto began = sys::SystemClock().monotonic();
    lane->post([&] {
        const KubeletAddress address{
            .url = web.url(), .ca_file = directory / "ca.crt", .name = "n1", .pods_socket = socket};
        source.emplace(
            *lane, address, access, [] {}, KubeletWatchTimes{.first_back_off = 5ms});
        source->set_period(1min, false);
        ASSERT_TRUE(source->start());
    });
    EXPECT_TRUE(seven.pass());
    EXPECT_GE(sys::SystemClock().monotonic() - began, 315ms) << "5, 10, 20, 40, 80 and 160 ms";
    lane->close();
    EXPECT_LE(polls, 1) << "/pods is not asked at each of them";
    source.reset();
}

}  // namespace
}  // namespace evictd::kube
