// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_access.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "fakes/temp_dir.hpp"

namespace evictd::kube {
namespace {

class KubeconfigTest : public ::testing::Test {
protected:
    std::string text = R"(apiVersion: v1
kind: Config
current-context: test
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:6443/", certificate-authority-data: Q0E=}
users:
- name: u
  user: {token: secret-word}
contexts:
- name: test
  context: {cluster: c, user: u}
)";
    void replace(const std::string& what, const std::string& with) {
        ASSERT_NE(text.find(what), std::string::npos);
        text.replace(text.find(what), what.size(), with);
    }
    Result<ApiAccess> read() {
        dir.write("k", text);
        return access_from_kubeconfig(dir / "k");
    }
    // Without the directory's path. Never with a secret.
    std::string fault() {
        const auto access = read();
        if (access) return "none";
        auto said = access.error().text();
        EXPECT_EQ(said.find("secret-word"), std::string::npos) << said;
        while (said.find(dir / "") != std::string::npos) said.erase(said.find(dir / ""), (dir / "").size());
        return said;
    }
    fakes::TempDir dir;
};

TEST_F(KubeconfigTest, IsTheCurrentContextsClusterAndUser) {
    const auto access = read();
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->server.url, "https://127.0.0.1:6443");
    EXPECT_EQ(access->server.tls.trusted, "CA");
    EXPECT_EQ(*current_token(*access), "secret-word");
    EXPECT_EQ(access->from, "kubeconfig " + dir / "k");
}

TEST_F(KubeconfigTest, FilesAreRelativeToItsOwnPlace) {
    dir.write("pki/ca.crt", "authority");
    dir.write("pki/client.crt", "certificate");
    dir.write("pki/client.key", "key");
    dir.write("token", "from-file\n");
    replace("certificate-authority-data: Q0E=", "certificate-authority: pki/ca.crt");
    replace("token: secret-word", "tokenFile: token, client-certificate: pki/client.crt, client-key: pki/client.key");
    const auto access = read();
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->server.tls.trusted, "authority");
    EXPECT_EQ(access->server.tls.certificate, "certificate");
    EXPECT_EQ(access->server.tls.key, "key");
    EXPECT_EQ(*current_token(*access), "from-file");
    dir.write("token", "rotated");
    EXPECT_EQ(*current_token(*access), "rotated");
}

TEST_F(KubeconfigTest, RefusesWhatIsNotVerified) {
    replace("https://", "http://");
    EXPECT_EQ(
        fault(),
        "k:6: clusters[0].cluster.server: not an https address (https://HOST:PORT: connections are always verified)");
    replace("http://", "https://");
    replace("certificate-authority-data: Q0E=", "insecure-skip-tls-verify: true");
    EXPECT_EQ(fault().substr(0, 40), "k:6: clusters[0].cluster.insecure-skip-t");
    replace("insecure-skip-tls-verify: true", "certificate-authority-data: '*'");
    EXPECT_EQ(fault(), "k:6: clusters[0].cluster.certificate-authority-data: not base64 (PEM text in base64)");
    replace(", certificate-authority-data: '*'", "");
    EXPECT_EQ(fault(),
              "k:6: clusters[0].cluster.certificate-authority: missing (the authority that signed the server's "
              "certificate)");
}

TEST_F(KubeconfigTest, RefusesWhatWouldRunAProgramOrShowNoCredentials) {
    replace("token: secret-word", "exec: {command: get-a-token}");
    EXPECT_EQ(fault(), "k:9: users[0].user.exec: not supported (a token, tokenFile or client certificate)");
    replace("exec: {command: get-a-token}", "token: ''");
    EXPECT_EQ(fault(), "k:9: users[0].user: has no credentials (a token, tokenFile or client certificate)");
    replace("token: ''", "token: secret-word, exec: {command: x}");
    EXPECT_EQ(fault(), "k:9: users[0].user.exec: not supported (a token, tokenFile or client certificate)");
    replace("token: secret-word, exec: {command: x}", "client-certificate-data: Q0E=");
    EXPECT_EQ(fault().substr(0, 40), "k:9: users[0].user: has a certificate wi");
}

TEST_F(KubeconfigTest, NamesTheContextThatIsMissing) {
    replace("current-context: test", "current-context: other");
    EXPECT_EQ(fault(), "k:3: current-context: no context named \"other\" (one that the file defines)");
    replace("current-context: other\n", "");
    EXPECT_EQ(fault(), "k:1: current-context: missing (a name)");
    text = "[]";
    EXPECT_NE(fault(), "none");
    text = "";
    EXPECT_NE(fault(), "none");
}

// Else it would end the header that it is sent in. No message repeats it.
TEST_F(KubeconfigTest, ATokenIsOneLine) {
    replace("token: secret-word", R"(token: "secret-word\r\nX-Other: header")");
    const auto access = read();
    ASSERT_TRUE(access);
    const auto token = current_token(*access);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().text().find("secret-word"), std::string::npos);
    replace(R"("secret-word\r\nX-Other: header")", "4711471147114711");
    EXPECT_EQ(*current_token(*read()), "4711471147114711");
    replace("4711471147114711", "[4711471147114711]");
    EXPECT_EQ(fault().find("4711"), std::string::npos) << fault();
}

// Its writer would choose the server.
TEST_F(KubeconfigTest, OneThatOthersMayWriteToIsRefused) {
    ASSERT_TRUE(read());
    std::filesystem::permissions(dir / "k", std::filesystem::perms(0666));
    EXPECT_EQ(access_from_kubeconfig(dir / "k").error().why, "others may write to it");
    std::filesystem::permissions(dir / "k", std::filesystem::perms(0600));
    EXPECT_TRUE(access_from_kubeconfig(dir / "k"));
}

TEST(PodAccess, IsTheServiceAccounts) {
    fakes::TempDir dir;
    PodEnvironment pod{.host = "10.96.0.1", .port = "443", .account = dir.path()};
    EXPECT_FALSE(access_from_pod(pod));
    dir.write("ca.crt", "authority");
    dir.write("token", "word");
    const auto access = access_from_pod(pod);
    ASSERT_TRUE(access);
    EXPECT_EQ(access->server.url, "https://10.96.0.1:443");
    EXPECT_EQ(*current_token(*access), "word");
    pod.host = "fd00::1";
    EXPECT_EQ(access_from_pod(pod)->server.url, "https://[fd00::1]:443");
    dir.write("token", "\n");
    EXPECT_FALSE(current_token(*access));
}

}  // namespace
}  // namespace evictd::kube
