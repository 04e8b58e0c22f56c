// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests, and what the reader makes of them; the status of an answer as text.
#include "http/wire_writer.hpp"

#include <gtest/gtest.h>

#include "fakes/protobuf_bytes.hpp"
#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"

namespace evictd::http {
namespace {

TEST(WireWriter, WritesEachField) {
    WireWriter writer;
    writer.number(1, 300);
    writer.bytes(16, "ab");
    writer.number(2, UINT64_MAX);
    EXPECT_EQ(writer.take(), proto::number(1, 300) + proto::bytes(16, "ab") + proto::number(2, -1));
    EXPECT_EQ(writer.take(), "");
}

TEST(WireWriter, LeavesOutWhatIsZero) {
    WireWriter writer;
    writer.number(1, 0);
    writer.bytes(2, "");
    EXPECT_EQ(writer.take(), "");
}

TEST(GrpcFrame, IsItsLengthAndTheMessage) {
    EXPECT_EQ(grpc_frame(""), std::string(5, '\0'));
    EXPECT_EQ(grpc_frame(std::string(0x10203, 'x')), proto::framed(std::string(0x10203, 'x')));
}

TEST(GrpcStatus, ItsTextIsDecoded) {
    EXPECT_EQ(grpc_message_text("a%20b%25%C3%a9"), "a b%\xc3\xa9");
    EXPECT_EQ(grpc_message_text("100% %2 %zz %"), "100% %2 %zz %");
    EXPECT_EQ(grpc_code_text(5), "NOT_FOUND");
    EXPECT_EQ(grpc_code_text(-1), "code -1");
    EXPECT_EQ(grpc_code_text(17), "code 17");
}

}  // namespace
}  // namespace evictd::http
