// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which texts are endpoints. What is found where none is configured depends on the machine.
#include "cri/endpoint.hpp"

#include <gtest/gtest.h>

namespace evictd::cri {
namespace {

TEST(Endpoint, IsAUnixSocketsPath) {
    EXPECT_EQ(find_endpoint("unix:///run/containerd/containerd.sock"), "/run/containerd/containerd.sock");
    EXPECT_EQ(find_endpoint("/run/crio/crio.sock"), "/run/crio/crio.sock");
    for (const auto* none : {"tcp://127.0.0.1:1", "npipe:////./pipe/x", "unix://relative", "run/x.sock", "unix://"}) {
        const auto found = find_endpoint(none);
        ASSERT_FALSE(found) << none;
        EXPECT_EQ(found.error().kind, ErrorKind::invalid);
    }
    EXPECT_TRUE(find_endpoint("/" + std::string(106, 'a')));
    EXPECT_FALSE(find_endpoint("/" + std::string(107, 'a')));
}

}  // namespace
}  // namespace evictd::cri
