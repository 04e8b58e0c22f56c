// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Protobuf's and gRPC's framing: what is cut off, too long or not allowed.
#include "http/wire_reader.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/protobuf_bytes.hpp"
#include "http/grpc_messages.hpp"

namespace evictd::http {
namespace {

std::string fields_of(std::string_view message, WireReader::Of of = WireReader::Of::whole) {
    WireReader reader(message, of);
    std::string text;
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return text + "!" + field.error().why;
        if (!*field) return text;
        text += std::to_string((*field)->number) + "=";
        text += (*field)->type == WireField::Type::bytes    ? std::string((*field)->bytes)
                : (*field)->type == WireField::Type::varint ? std::to_string((*field)->varint)
                                                            : "fixed";
        text += " ";
    }
}

TEST(WireReader, ReadsEachField) {
    const auto message = proto::number(1, 300) + proto::bytes(2, "ab") + "\x1d" + "1234" + "\x21" + "12345678" +
                         proto::number(536870911, -1);
    EXPECT_EQ(fields_of(message), "1=300 2=ab 3=fixed 4=fixed 536870911=18446744073709551615 ");
    EXPECT_EQ(fields_of(""), "");
}

TEST(WireReader, EachTruncationIsAnError) {
    const auto message = proto::number(1, 300) + proto::bytes(2, "ab") + "\x1d" + "1234";
    const std::vector<std::size_t> ends{0, 3, 7, message.size()};
    for (std::size_t size = 0; size <= message.size(); size++) {
        const bool is_end = std::find(ends.begin(), ends.end(), size) != ends.end();
        EXPECT_EQ(fields_of(message.substr(0, size)).find("!is cut off") == std::string::npos, is_end) << size;
    }
}

TEST(WireReader, WhatIsNoMessageIsAnError) {
    EXPECT_EQ(fields_of(std::string("\x00\x01", 2)), "!has an invalid field number");
    EXPECT_EQ(fields_of(proto::varint(std::uint64_t{1} << 32U) + "x"), "!has an invalid field number");
    EXPECT_EQ(fields_of("\x0b"), "!has an invalid wire type");
    EXPECT_EQ(fields_of("\x08" + std::string(9, '\xff') + "\x02"), "!has a number of more than 64 bits");
    EXPECT_EQ(fields_of("\x08" + std::string(11, '\x80')), "!has a number of more than 64 bits");
    EXPECT_EQ(fields_of("\x12" + std::string(9, '\xff') + "\x01" + "ab"), "!is cut off") << "a length of 2^64-1";
}

TEST(WireReader, OfABeginningWhatIsThereIsHandedOn) {
    const auto message = proto::bytes(2, "abcdef") + proto::number(3, 1);
    EXPECT_EQ(fields_of(message.substr(0, 4), WireReader::Of::beginning), "2=ab ");
}

std::string cut(std::string_view stream, std::size_t size, std::size_t most, bool* is_complete = nullptr) {
    GrpcMessages messages(most);
    std::string text;
    for (; !stream.empty(); stream.remove_prefix(std::min(size, stream.size()))) {
        const auto fed = messages.feed(stream.substr(0, size), [&](std::string_view message, bool is_whole) -> Status {
            text += std::to_string(message.size()) + (is_whole ? " " : "? ");
            return message == "stop" ? Status(fail(ErrorKind::invalid, "it", "stops")) : Status{};
        });
        if (!fed) return text + "!" + fed.error().why;
    }
    if (is_complete != nullptr) *is_complete = messages.is_complete();
    return text;
}

TEST(GrpcMessages, AreTheSameInWhateverPiecesTheyCome) {
    const auto stream = proto::framed("abc") + proto::framed("") + proto::framed(std::string(300, 'x'));
    for (const std::size_t size : {1U, 2U, 5U, 7U, 1000U}) EXPECT_EQ(cut(stream, size, 1000), "3 0 300 ") << size;
    bool is_complete = true;
    EXPECT_EQ(cut(stream.substr(0, stream.size() - 1), 1000, 1000, &is_complete), "3 0 ");
    EXPECT_FALSE(is_complete);
}

TEST(GrpcMessages, OfOneThatIsTooLargeTheHeadIsHandedOn) {
    const auto stream = proto::framed(std::string(100'000, 'x')) + proto::framed("abc");
    for (const std::size_t size : {1U, 999U, 200'000U}) EXPECT_EQ(cut(stream, size, 50'000), "4096? 3 ") << size;
    EXPECT_EQ(cut(std::string("\0\xff\xff\xff\xff", 5) + std::string(10, 'x'), 4, 1000), "") << "4 GiB are to come";
}

TEST(GrpcMessages, AnErrorEndsThem) {
    EXPECT_EQ(cut(std::string("\1\0\0\0\1x", 6), 6, 1000), "!a message is compressed");
    EXPECT_EQ(cut(proto::framed("stop") + proto::framed("abc"), 100, 1000), "4 !stops");
}

}  // namespace
}  // namespace evictd::http
