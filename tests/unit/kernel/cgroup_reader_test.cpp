// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Over plain directories, as the tests of CgroupWatch.
#include "kernel/cgroup_reader.hpp"

#include <filesystem>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "fakes/fake_clock.hpp"
#include "fakes/few_descriptors.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "unit/kernel/control_files.hpp"

namespace evictd::kernel {
namespace {

const std::string first_pod = "/kubepods/podaaaaaaaa-0000-4000-8000-000000000001";
const std::string second_pod = "/kubepods/podaaaaaaaa-0000-4000-8000-000000000002";

struct Reader : testing::Test {
    std::unique_ptr<CgroupReader> read(CgroupReader::OpenAhead open_ahead) {
        auto watch = std::make_unique<CgroupWatch>(tree.v2().memory, std::vector<std::string>{"/kubepods"}, clock);
        auto made = CgroupReader::make(std::move(watch), std::move(open_ahead), 0);
        EXPECT_TRUE(made);
        return std::move(*made);
    }
    void make(const std::string& path) const { std::filesystem::create_directories(tree.v2().memory + path); }
    [[nodiscard]] std::optional<port::PodsRoot> root() const {
        return port::PodsRoot{"/kubepods", tree.id("/kubepods"), 1};
    }
    // What is told until the last is about `path`.
    static std::string told_until(CgroupReader& reader, const std::string& path) {
        std::string all;
        while (!all.ends_with(path)) {
            pollfd readable{.fd = reader.fd(), .events = POLLIN, .revents = 0};
            if (::poll(&readable, 1, 10'000) != 1) return all + " and no more";
            all += told(reader);
        }
        return all;
    }
    static std::string told(CgroupReader& reader) {
        std::string all;
        reader.drain([&](const KernelEvent& event) {
            const auto& life = std::get<CgroupLife>(event.kind);
            all += (life.change == CgroupChange::made ? "+" : "-") + life.path;
        });
        return all;
    }

    ControlFiles tree{{"/kubepods", {}}};
    fakes::FakeClock clock;
};

TEST_F(Reader, TellsInOrderOfWhatCameAndWent) {
    const auto reader = read([](const std::string&) { return nullptr; });
    reader->follow(root());
    make(first_pod);
    make(second_pod);
    EXPECT_EQ(told_until(*reader, "+" + second_pod), "+" + first_pod + "+" + second_pod);
    tree.remove(first_pod);
    EXPECT_EQ(told_until(*reader, "-" + first_pod), "-" + first_pod);
    EXPECT_EQ(told(*reader), "");
}

TEST_F(Reader, WithoutAThreadTheCgroupsAreListedInstead) {
    const auto reader = read([](const std::string&) { return nullptr; });
    EXPECT_TRUE(reader->works());
    {
        const fakes::FewDescriptors none(0);
        reader->follow(root());
    }
    EXPECT_FALSE(reader->works());
    for (const auto& row : reader->rows()) {
        EXPECT_EQ(row.chosen, "listing at each look");
        EXPECT_TRUE(row.fallback);
        EXPECT_NE(row.detail.find("Too many open files"), std::string::npos) << row.detail;
    }
    reader->follow(root());
    EXPECT_TRUE(reader->works()) << "there are descriptors again";
    make(first_pod);
    EXPECT_EQ(told_until(*reader, "+" + first_pod), "+" + first_pod);
    EXPECT_FALSE(reader->rows().front().fallback);
}

TEST_F(Reader, WhatItOpenedIsHeldUntilItIsToldOf) {
    CgroupDirs dirs(tree.v2(), "");
    ASSERT_TRUE(dirs.find_pods_root());
    const auto reader = read([&](const std::string& path) { return dirs.open_ahead(path); });
    reader->follow(root());
    make(first_pod);
    pollfd readable{.fd = reader->fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 10'000), 1);
    tree.remove(first_pod);  // a lookup would fail from here on
    bool found = false;
    reader->drain([&](const KernelEvent& event) {
        const auto& life = std::get<CgroupLife>(event.kind);
        found = found || dirs.pod_at(life.path, life.cgroup).has_value();
    });
    EXPECT_TRUE(found);
}

// Whoever makes a cgroup holds the lock that opening it takes.
TEST_F(Reader, DrainDoesNotWaitForALookupThatBlocks) {
    std::latch blocked{1};
    std::latch released{1};
    const auto reader = read([&](const std::string&) {
        blocked.count_down();
        released.wait();
        return nullptr;
    });
    reader->follow(root());
    make(first_pod);
    blocked.wait();
    EXPECT_EQ(told(*reader), "");
    released.count_down();
    EXPECT_EQ(told_until(*reader, first_pod), "+" + first_pod);
}

TEST_F(Reader, NewsOfWhatWasFollowedBeforeIsNotTold) {
    const auto reader = read([](const std::string&) { return nullptr; });
    reader->follow(root());
    make(first_pod);
    pollfd readable{.fd = reader->fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 10'000), 1);
    reader->follow(root());
    EXPECT_EQ(told(*reader), "");
    make(second_pod);
    EXPECT_EQ(told_until(*reader, second_pod), "+" + second_pod);
}

// The agent loses the root while it is told.
TEST_F(Reader, WhoFollowsAnotherWhileItIsToldHearsNoMoreOfThatOne) {
    const auto reader = read([](const std::string&) { return nullptr; });
    reader->follow(root());
    make(first_pod);
    make(second_pod);
    std::string all;
    while (all.empty()) {
        pollfd readable{.fd = reader->fd(), .events = POLLIN, .revents = 0};
        ASSERT_EQ(::poll(&readable, 1, 10'000), 1);
        reader->drain([&](const KernelEvent& event) {
            all += std::get<CgroupLife>(event.kind).path;
            reader->follow(std::nullopt);
        });
    }
    EXPECT_EQ(all, first_pod);
}

}  // namespace
}  // namespace evictd::kernel
