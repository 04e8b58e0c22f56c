// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What doctor says of a container runtime, from none to one that is ready.
#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "doctor/doctor.hpp"
#include "fakes/grpc_server.hpp"
#include "fakes/protobuf_bytes.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::doctor {
namespace {

using codec::FindingState;
using proto::bytes;
using proto::framed;
using proto::number;
using testing::HasSubstr;

struct RuntimeRow : testing::Test {
    RuntimeRow() { config.container_runtime_endpoint = "unix://" + socket; }
    codec::Finding examine() const {
        std::vector<codec::Finding> checks;
        examine_runtime(config, checks);
        EXPECT_EQ(checks.size(), 1U);
        return checks.empty() ? codec::Finding{} : checks.front();
    }
    void serve(const std::string& conditions) {
        server.reset();
        server.emplace(socket, [=](const fakes::GrpcServer::Call& call) {
            call.begin();
            call.data(framed(call.request() == framed("") ? conditions : bytes(2, "cri-o") + bytes(3, "1.28.1")));
            call.end(0);
        });
    }
    const fakes::TempDir dir;
    const std::string socket = dir / "runtime.sock";
    Config config;
    std::optional<fakes::GrpcServer> server;
};

std::string ready(bool is_ready) {
    return bytes(1, bytes(1, bytes(1, "RuntimeReady") + (is_ready ? number(2, 1) : bytes(4, "no shim"))));
}

TEST_F(RuntimeRow, OneThatIsReady) {
    serve(ready(true));
    auto finding = examine();
    EXPECT_EQ(finding.state, FindingState::ok);
    EXPECT_EQ(finding.chosen, "cri-o 1.28.1, " + socket);
    EXPECT_EQ(finding.detail, "ready");
}

TEST_F(RuntimeRow, OneThatIsNotReady) {
    serve(ready(false));
    EXPECT_EQ(examine().state, FindingState::fallback);
    EXPECT_EQ(examine().detail, "it says that it is not ready: no shim");
    serve("");
    EXPECT_EQ(examine().detail, "it says that it is not ready");
}

TEST_F(RuntimeRow, OneThatIsNotThere) {
    const auto state = ::geteuid() == 0 ? FindingState::missing : FindingState::unknown;
    EXPECT_EQ(examine().state, state);
    EXPECT_THAT(examine().detail, HasSubstr(socket + " is not there"));
    config.container_runtime_endpoint = "tcp://10.0.0.1:1";
    EXPECT_EQ(examine().state, state);
    EXPECT_THAT(examine().detail, HasSubstr("is no Unix socket"));
}

}  // namespace
}  // namespace evictd::doctor
