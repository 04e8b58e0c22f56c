// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Records reach every publisher in order; a slow one costs records, never the caller's time.
#include "publish/fanout.hpp"

#include <future>
#include <map>
#include <semaphore>
#include <stdexcept>

#include <gmock/gmock.h>

#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using testing::ElementsAre;

class Hearing final : public port::Publisher {
public:
    explicit Hearing(std::vector<std::string>& heard) : heard_(heard) {}
    void publish(const RecordPtr& record) override { heard_.push_back(std::get<AgentNotice>(*record).message); }

private:
    std::vector<std::string>& heard_;
};

class Throwing final : public port::Publisher {
public:
    void publish(const RecordPtr& /*record*/) override { throw std::runtime_error("a library's exception"); }
};

// Holds up the lane in its first record.
class Holding final : public port::Publisher {
public:
    Holding(std::promise<void>& reached, std::shared_future<void> go) : reached_(reached), go_(std::move(go)) {}
    void publish(const RecordPtr& /*record*/) override {
        if (!held_) reached_.set_value();
        held_ = true;
        go_.wait();
    }

private:
    std::promise<void>& reached_;
    std::shared_future<void> go_;
    bool held_ = false;
};

template <class P, class... Args>
void add(Fanout& fanout, Args&&... args) {
    const auto added = fanout.add([&](sys::Loop& /*loop*/) -> Result<std::unique_ptr<port::Publisher>> {
        return std::make_unique<P>(std::forward<Args>(args)...);
    });
    ASSERT_TRUE(added);
}

TEST(Fanout, AMakerThatMakesNoneIsNoError) {
    std::vector<std::string> heard;
    {
        auto fanout = Fanout::make();
        ASSERT_TRUE(fanout);
        EXPECT_TRUE((*fanout)->add([](sys::Loop&) { return std::unique_ptr<port::Publisher>(); }));
        add<Hearing>(**fanout, heard);
        (*fanout)->publish(notice("one"));
    }
    EXPECT_THAT(heard, ElementsAre("one"));
}

TEST(Fanout, WhatWasAcceptedIsPublishedInOrderEvenAtTheEnd) {
    std::vector<std::string> heard;
    {
        auto fanout = Fanout::make();
        ASSERT_TRUE(fanout);
        add<Hearing>(**fanout, heard);
        for (const char* text : {"a", "b", "c"}) EXPECT_TRUE((*fanout)->publish(notice(text)));
    }
    EXPECT_THAT(heard, ElementsAre("a", "b", "c"));
}

TEST(Fanout, APublisherThatThrowsDoesNotSilenceTheOthers) {
    std::vector<std::string> heard;
    {
        auto fanout = Fanout::make();
        ASSERT_TRUE(fanout);
        add<Throwing>(**fanout);
        add<Hearing>(**fanout, heard);
        (*fanout)->publish(notice("a"));
    }
    EXPECT_THAT(heard, ElementsAre("a"));
}

TEST(Fanout, APublisherThatCannotBeMadeIsAnErrorForTheCaller) {
    auto fanout = Fanout::make();
    ASSERT_TRUE(fanout);
    EXPECT_FALSE((*fanout)->add([](sys::Loop& /*loop*/) -> Result<std::unique_ptr<port::Publisher>> {
        return fail(ErrorKind::failed, "publisher", "no");
    }));
    EXPECT_FALSE((*fanout)->add(
        [](sys::Loop& /*loop*/) -> Result<std::unique_ptr<port::Publisher>> { throw std::runtime_error("no"); }));
}

TEST(Fanout, AStuckPublisherCostsRecordsWhichAreCountedAndReported) {
    std::vector<std::string> heard;
    std::promise<void> reached;
    std::promise<void> go;
    {
        auto fanout = Fanout::make(2);
        ASSERT_TRUE(fanout);
        add<Holding>(**fanout, reached, go.get_future().share());
        add<Hearing>(**fanout, heard);
        EXPECT_TRUE((*fanout)->publish(notice("held")));
        reached.get_future().wait();
        EXPECT_TRUE((*fanout)->publish(notice("queued 1")));
        EXPECT_TRUE((*fanout)->publish(notice("queued 2")));
        EXPECT_FALSE((*fanout)->publish(notice("dropped")));
        EXPECT_FALSE((*fanout)->publish(notice("dropped")));
        EXPECT_EQ((*fanout)->dropped(), 2U);
        go.set_value();
    }
    EXPECT_THAT(heard, ElementsAre("held", "2 records were lost: publishing was slower than the agent", "queued 1",
                                   "queued 2"));
}

// Waits in each record until it is let through.
struct Gate {
    std::vector<std::string> heard;
    std::counting_semaphore<> entered{0}, open{0}, left{0};

    void let_through(int records) {
        open.release(records);
        for (int i = 0; i < records; ++i) left.acquire();
    }
};
class Gated final : public port::Publisher {
public:
    explicit Gated(Gate& gate) : gate_(gate) {}
    void publish(const RecordPtr& record) override {
        gate_.entered.release();
        gate_.open.acquire();
        gate_.heard.push_back(std::get<AgentNotice>(*record).message);
        gate_.left.release();
    }

private:
    Gate& gate_;
};

template <class P>
void add_own(Fanout& fanout, const std::string& name, std::size_t queue, auto& heard) {
    const auto make = [&](sys::Loop& /*loop*/) -> Result<std::unique_ptr<port::Publisher>> {
        return std::make_unique<P>(heard);
    };
    ASSERT_TRUE(fanout.add_in_own_lane(name, make, queue));
}

// Returns when the shared lane has handed out all that was published: what was lost until then.
std::map<std::string, std::uint64_t> settled(Fanout& fanout) {
    std::map<std::string, std::uint64_t> lost;
    EXPECT_TRUE(fanout.add([&](sys::Loop&) {
        lost = fanout.losses();
        return std::unique_ptr<port::Publisher>();
    }));
    return lost;
}

TEST(Fanout, APublisherThatHangsInALaneOfItsOwnHoldsUpNoOther) {
    Gate slow;
    std::vector<std::string> own;
    std::vector<std::string> heard;
    std::vector<std::string> all{"held"};
    {
        auto fanout = Fanout::make();
        ASSERT_TRUE(fanout);
        add_own<Gated>(**fanout, "slow", 2, slow);
        add_own<Hearing>(**fanout, "own", 64, own);
        add<Hearing>(**fanout, heard);
        EXPECT_TRUE((*fanout)->publish(notice("held")));
        slow.entered.acquire();
        for (int i = 0; i < 20; ++i) {
            all.push_back(std::to_string(i));
            EXPECT_TRUE((*fanout)->publish(notice(all.back())));
        }
        const auto lost = settled(**fanout);
        EXPECT_EQ(heard, all) << "while the other one hangs";
        EXPECT_EQ(lost.at("records dropped by slow"), 18U);
        EXPECT_EQ(lost.at("records dropped by own"), 0U);
        EXPECT_EQ(lost.at("records dropped before publishing"), 0U);
        slow.open.release(3);
    }
    EXPECT_EQ(own, all);
    EXPECT_THAT(slow.heard, ElementsAre("held", "0", "1"));
}

TEST(Fanout, WhatOnePublisherLostIsReportedToAllOnceItTakesRecordsAgain) {
    Gate slow;
    std::vector<std::string> own;
    std::vector<std::string> heard;
    {
        auto fanout = Fanout::make();
        ASSERT_TRUE(fanout);
        add_own<Gated>(**fanout, "slow", 2, slow);
        add_own<Hearing>(**fanout, "own", 64, own);
        add<Hearing>(**fanout, heard);
        (*fanout)->publish(notice("held"));
        slow.entered.acquire();
        for (const char* text : {"1", "2", "dropped", "dropped"}) (*fanout)->publish(notice(text));
        settled(**fanout);
        slow.let_through(3);
        (*fanout)->publish(notice("after"));
        slow.let_through(2);
        EXPECT_EQ(settled(**fanout).at("records dropped by slow"), 2U);
    }
    const char* loss = "2 records were lost: slow was slower than the agent";
    EXPECT_THAT(heard, ElementsAre("held", "1", "2", "dropped", "dropped", loss, "after"));
    EXPECT_EQ(own, heard);
    EXPECT_THAT(slow.heard, ElementsAre("held", "1", "2", loss, "after"));
}

TEST(Fanout, APublisherThatCannotBeMadeInALaneOfItsOwnIsAnErrorAndNoneIsNoError) {
    auto fanout = Fanout::make();
    ASSERT_TRUE(fanout);
    EXPECT_FALSE((*fanout)->add_in_own_lane("own", [](sys::Loop&) -> Result<std::unique_ptr<port::Publisher>> {
        return fail(ErrorKind::failed, "publisher", "no");
    }));
    EXPECT_TRUE((*fanout)->add_in_own_lane("own", [](sys::Loop&) { return std::unique_ptr<port::Publisher>(); }));
    (*fanout)->publish(notice("goes to nobody"));
    EXPECT_EQ(settled(**fanout).size(), 1U);
}

TEST(Fanout, ARecordIsCompletedOnceBeforeItIsPublished) {
    std::vector<std::string> heard;
    std::vector<std::string> also;
    int completed = 0;
    {
        auto fanout = Fanout::make(8, [&](const RecordPtr& record) -> RecordPtr {
            ++completed;
            const auto& message = std::get<AgentNotice>(*record).message;
            if (message == "bad") throw std::runtime_error("cannot");
            return notice(message + ", completed");
        });
        ASSERT_TRUE(fanout);
        add<Hearing>(**fanout, heard);
        add<Hearing>(**fanout, also);
        (*fanout)->publish(notice("a"));
        (*fanout)->publish(notice("bad"));
    }
    EXPECT_THAT(heard, ElementsAre("a, completed", "bad"));
    EXPECT_EQ(heard, also);
    EXPECT_EQ(completed, 2);
}

}  // namespace
}  // namespace evictd::publish
