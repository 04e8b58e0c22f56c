// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/object_splitter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evictd::kube {
namespace {

struct Split {
    std::vector<std::string> objects;
    std::string error;
    std::string rest;
    bool complete = false;
};

// In pieces of `size`.
Split split(ObjectSplitter::Of of, std::string_view text, std::size_t size, std::size_t most = 1000) {
    ObjectSplitter splitter(of, most);
    Split result;
    while (!text.empty() && result.error.empty()) {
        auto fed = splitter.feed(text.substr(0, size), [&](std::string_view object, bool is_whole) -> Status {
            result.objects.emplace_back(is_whole ? object : "too large");
            return {};
        });
        if (!fed) result.error = fed.error().why;
        text.remove_prefix(std::min(size, text.size()));
    }
    result.rest = splitter.rest();
    result.complete = splitter.is_complete();
    return result;
}

using Objects = std::vector<std::string>;
constexpr auto stream = ObjectSplitter::Of::stream;
constexpr auto items = ObjectSplitter::Of::items;

TEST(ObjectSplitter, CutsAStreamWhereverItsPiecesEnd) {
    const std::string text = "{\"a\":\"}{\"}\n {\"b\":[{},\"\\\"}\"]}{\"c\":\"\\\\\"}";
    for (std::size_t size = 1; size <= text.size(); size++) {
        const auto result = split(stream, text, size);
        EXPECT_EQ(result.objects, (Objects{R"({"a":"}{"})", R"({"b":[{},"\"}"]})", R"({"c":"\\"})"})) << size;
        EXPECT_TRUE(result.complete);
        EXPECT_EQ(result.error, "");
    }
}

TEST(ObjectSplitter, CutsTheItemsOutOfAList) {
    const std::string text =
        R"({"kind":"PodList","metadata":{"items":[{}],"x":"items"},"items": [ {"a":[1]} , {"b":{}} ],"n":"items"})";
    for (std::size_t size = 1; size <= text.size(); size++) {
        const auto result = split(items, text, size);
        EXPECT_EQ(result.objects, (Objects{R"({"a":[1]})", R"({"b":{}})"})) << size;
        EXPECT_EQ(result.rest, R"({"kind":"PodList","metadata":{"items":[{}],"x":"items"},"items": [],"n":"items"})");
        EXPECT_TRUE(result.complete);
    }
}

TEST(ObjectSplitter, AListThatBreaksOffIsNotComplete) {
    const std::string text = R"({"kind":"PodList","items":[{"a":1}]})";
    for (std::size_t size = 1; size < text.size(); size++) {
        EXPECT_FALSE(split(items, std::string_view(text).substr(0, size), 3).complete) << size;
    }
    EXPECT_FALSE(split(stream, R"({"a":)", 3).complete);
}

TEST(ObjectSplitter, RefusesWhatIsNotObjects) {
    EXPECT_EQ(split(stream, "<html>", 9).error, "is not JSON");
    EXPECT_EQ(split(stream, "[{}]", 9).error, "is not an object");
    EXPECT_EQ(split(stream, "}", 9).error, "is not JSON");
    EXPECT_EQ(split(items, R"({"items":[null]})", 9).error, "an item is not an object");
    EXPECT_EQ(split(items, R"({"items":[[]]})", 9).error, "is not an object");
    EXPECT_EQ(split(items, R"({"items":[]}{})", 99).error, "something follows the list");
}

TEST(ObjectSplitter, BoundsWhatItKeeps) {
    const std::string large = R"({"a":")" + std::string(2000, 'x') + "\"}";
    EXPECT_EQ(split(stream, large + R"({"b":1})", 100).objects, (Objects{"too large", R"({"b":1})"}));
    EXPECT_EQ(split(items, R"({"items":[)" + large + R"(,{"b":1}]})", 100).objects,
              (Objects{"too large", R"({"b":1})"}));
    EXPECT_EQ(split(items, R"({"k":")" + std::string(100'000, 'x') + "\"}", 100).error,
              "the list's metadata is too large");
    std::string many = R"({"items":[)";
    for (int i = 0; i < 10'000; i++) many += R"({"a":"12345678901234567890"},)";
    const auto result = split(items, many, 4096);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.objects.size(), 10'000U);
}

TEST(ObjectSplitter, AnErrorOfTheCallerEndsIt) {
    ObjectSplitter splitter(stream);
    int calls = 0;
    const auto fed = splitter.feed("{}{}", [&](std::string_view, bool) -> Status {
        calls++;
        return fail(ErrorKind::invalid, "it", "refused");
    });
    EXPECT_FALSE(fed);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace evictd::kube
