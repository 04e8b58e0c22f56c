// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// GET /configz, from a kubelet that answers, refuses, is slow or breaks off: text or an error, never half of it.
#include "kube/kubelet_config.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "fakes/http_server.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

class KubeletConfigTest : public ::testing::Test {
protected:
    Result<std::string> fetch(fakes::HttpServer::Handler handler, Duration timeout = 20s) {
        server.emplace(std::move(handler));
        dir.write("kubelet.crt", "certificate");
        AccessSource access(
            [] { return ApiAccess{.server = {}, .token_file = {}, .token = "secret-word", .from = "test"}; });
        return fetch_kubelet_config({.url = server->url(), .ca_file = dir / "kubelet.crt", .name = "n1"}, access,
                                    timeout);
    }
    fakes::TempDir dir;
    std::optional<fakes::HttpServer> server;
};
using Connection = fakes::HttpServer::Connection;

TEST_F(KubeletConfigTest, IsWhatTheKubeletAnswers) {
    const auto text = fetch([](const std::string&, const std::string& path, const Connection& to) {
        EXPECT_EQ(path, "/configz");
        to.reply(200, R"({"kubeletconfig":{}})");
        return true;
    });
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_EQ(*text, R"({"kubeletconfig":{}})");
}

TEST_F(KubeletConfigTest, ARefusalSaysWhatToGrantAndNoSecret) {
    const auto text = fetch([](const std::string&, const std::string&, const Connection& to) {
        to.reply(403, "Forbidden (user=evictd, verb=get, resource=nodes, subresource=configz)");
        return true;
    });
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().text(), "kubelet: refused: 403 (grant get of nodes/configz)");
    EXPECT_EQ(text.error().text().find("secret-word"), std::string::npos);
}

TEST_F(KubeletConfigTest, OneThatIsCutLateOrEndlessIsAnError) {
    EXPECT_FALSE(fetch([](const std::string&, const std::string&, const Connection& to) {
        to.send("HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{\"kubeletconfig\":{");
        return false;
    }));
    EXPECT_FALSE(fetch(
        [](const std::string&, const std::string&, const Connection& to) {
            to.hold();
            return false;
        },
        50ms));
    const auto endless = fetch([](const std::string&, const std::string&, const Connection& to) {
        to.reply(200, std::string(std::size_t{2} << 20U, ' '));
        return false;
    });
    ASSERT_FALSE(endless);
    EXPECT_NE(endless.error().text().find("1 MiB"), std::string::npos) << endless.error().text();
}

TEST_F(KubeletConfigTest, WithoutItsCertificateItIsNotAsked) {
    AccessSource access([] { return ApiAccess{}; });
    const auto text =
        fetch_kubelet_config({.url = "https://127.0.0.1:1", .ca_file = dir / "missing", .name = "n1"}, access, 1s);
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().text().find("missing"), std::string::npos) << text.error().text();
}

}  // namespace
}  // namespace evictd::kube
