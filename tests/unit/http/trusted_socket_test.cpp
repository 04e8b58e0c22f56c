// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which socket is believed to be a privileged server's.
#include "http/trusted_socket.hpp"

#include <optional>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/grpc_server.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::http {
namespace {

// The number of a socket that is gone may be used again, its time not: that is one tick of the file system's clock.
TEST(TrustedSocket, AServerThatIsStartedAgainHasAnother) {
    const fakes::TempDir directory;
    const auto path = directory / "runtime.sock";
    std::optional<fakes::GrpcServer> server;
    const auto start = [&] { server.emplace(path, [](const fakes::GrpcServer::Call&) {}); };
    start();
    const auto first = *find_trusted_socket(path);
    ASSERT_TRUE(first);
    EXPECT_EQ(*find_trusted_socket(path), first);
    ASSERT_EQ(::link(path.c_str(), (directory / "older.sock").c_str()), 0);
    server.reset();
    EXPECT_EQ(*find_trusted_socket(path), std::nullopt);
    start();
    const auto second = *find_trusted_socket(path);
    ASSERT_TRUE(second);
    EXPECT_NE(second->inode, first->inode);
    auto third = second;
    for (int i = 0; i < 1'000'000 && third == second; i++) {
        ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
        third = *find_trusted_socket(path);
    }
    EXPECT_EQ(third->inode, second->inode);
    EXPECT_GT(third->changed_ns, second->changed_ns);
}

TEST(TrustedSocket, IsASocketThatNoOtherUserMayReplace) {
    const fakes::TempDir directory;
    const auto path = directory / "pods-api.sock";
    EXPECT_EQ(has_trusted_socket(path), false);
    EXPECT_EQ(has_trusted_socket("/nowhere/pods-api.sock"), false);
    const fakes::GrpcServer server(path, [](const fakes::GrpcServer::Call&) {});
    EXPECT_EQ(has_trusted_socket(path), true);
    ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    EXPECT_EQ(has_trusted_socket(path).error().why, "others may write to it");
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    directory.write("file", "");
    EXPECT_EQ(has_trusted_socket(directory / "file").error().why, "is no socket");
    ASSERT_EQ(::symlink(path.c_str(), (directory / "link").c_str()), 0);
    EXPECT_EQ(has_trusted_socket(directory / "link").error().why, "is no socket");
    if (::geteuid() != 0) return;  // only root can give it away
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    EXPECT_EQ(has_trusted_socket(path).error().why, "belongs to user 12345");
}

// The path may be a mistake: whoever follows the advice must not remove /etc/passwd or change /tmp.
TEST(TrustedSocket, NoAdviceRemovesOrChangesWhatWasNamed) {
    const fakes::TempDir directory;
    directory.write("file", "");
    EXPECT_EQ(has_trusted_socket(directory / "file").error().remedy, "name the server's own socket");
    const std::string in_a_directory = "the socket must be in a directory that only root can write to";
    ASSERT_EQ(::mkdir((directory / "shared").c_str(), 0700), 0);
    ASSERT_EQ(::chmod((directory / "shared").c_str(), 01777), 0);
    EXPECT_EQ(has_trusted_socket(directory / "shared/runtime.sock").error().remedy, in_a_directory);
    EXPECT_EQ(has_trusted_socket(directory / "file/runtime.sock").error().remedy, in_a_directory);
    ASSERT_EQ(::symlink("/run", (directory / "link").c_str()), 0);
    EXPECT_EQ(has_trusted_socket(directory / "link/runtime.sock").error().remedy, in_a_directory);
}

TEST(TrustedSocket, NeedsADirectory) {
    EXPECT_FALSE(has_trusted_socket("pods-api.sock"));
    EXPECT_FALSE(has_trusted_socket("/pods-api.sock"));
}

}  // namespace
}  // namespace evictd::http
