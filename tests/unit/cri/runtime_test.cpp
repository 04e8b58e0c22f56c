// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What becomes of the answers of a runtime that streams no lists, and of its trouble. The real ones are in tests/cri,
// lists that are streamed in streamed_lists_test.cpp.
#include "cri/runtime.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/few_descriptors.hpp"
#include "fakes/grpc_server.hpp"
#include "fakes/protobuf_bytes.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::cri {
namespace {

using namespace std::chrono_literals;
using Call = fakes::GrpcServer::Call;
using proto::bytes;
using proto::framed;
using proto::number;

// No test waits for these, but for those that say so.
constexpr RuntimeLimits generous{.read = 60s, .read_one = 60s, .read_pod = 60s, .change = 60s};

class RuntimeTest : public ::testing::Test {
protected:
    RuntimeTest() { use(generous); }
    void use(RuntimeLimits limits) { runtime = std::move(*Runtime::make(socket, limits)); }
    void serve(std::function<void(const Call&)> handler) {
        server.emplace(socket, [this, handler = std::move(handler)](const Call& call) {
            if (call.path().find("/Stream") != std::string::npos) return call.refuse(12, "unknown method");
            {
                const std::scoped_lock lock(mutex);
                request = call.request();
            }
            handler(call);
        });
    }
    void answer(const std::string& message) {
        serve([message](const Call& call) {
            call.begin();
            call.data(framed(message));
            call.end(0);
        });
    }
    void refuse(int code, const std::string& why) {
        server.reset();
        serve([=](const Call& call) { call.refuse(code, why); });
    }
    std::string asked() {
        const std::scoped_lock lock(mutex);
        return request;
    }
    const fakes::TempDir directory;
    const std::string socket = directory / "runtime.sock";
    std::mutex mutex;
    std::string request;
    std::unique_ptr<Runtime> runtime;
    std::optional<fakes::GrpcServer> server;  // the last member: its threads use the others
};

TEST_F(RuntimeTest, AnAnswer) {
    answer(bytes(2, "containerd") + bytes(3, "1.7.24") + bytes(4, "v1"));
    const auto version = runtime->version();
    ASSERT_TRUE(version) << version.error().text();
    EXPECT_EQ(version->name, "containerd");
    EXPECT_EQ(asked(), framed(bytes(1, "0.1.0")));
    ASSERT_TRUE(runtime->version()) << "the server closes each connection";
}

// As a program that has the socket of a runtime, and is none, or hangs.
TEST_F(RuntimeTest, AUsualSocketThatDoesNotAnswerIsNotKept) {
    const auto silent = directory / "silent.sock";
    const fakes::GrpcServer other(silent, [](const Call& call) { call.refuse(12, "unknown service"); });
    answer(bytes(2, "cri-o"));
    const auto endpoint = std::make_shared<Endpoint>("", std::vector<std::string>{silent, socket});
    runtime = std::move(*Runtime::make(endpoint, generous));
    EXPECT_FALSE(runtime->version());
    EXPECT_EQ(endpoint->found(), silent);
    const auto version = runtime->version();
    ASSERT_TRUE(version) << version.error().text();
    EXPECT_EQ(version->name, "cri-o");
    server.reset();
    EXPECT_FALSE(runtime->version());
    EXPECT_FALSE(runtime->version());
    EXPECT_EQ(endpoint->found(), socket);
}

TEST_F(RuntimeTest, WhatIsAsked) {
    answer("");
    EXPECT_TRUE(runtime->containers());
    EXPECT_EQ(asked(), framed(""));
    EXPECT_TRUE(runtime->layer("c1"));
    EXPECT_EQ(asked(), framed(bytes(1, bytes(1, "c1"))));
    EXPECT_TRUE(runtime->stop_container("c1", 1500ms));
    EXPECT_EQ(asked(), framed(bytes(1, "c1") + number(2, 2)));
    EXPECT_TRUE(runtime->stop_container("c1", 0s));
    EXPECT_EQ(asked(), framed(bytes(1, "c1")));
    EXPECT_TRUE(runtime->remove_image("sha256:a"));
    EXPECT_EQ(asked(), framed(bytes(1, bytes(1, "sha256:a"))));
    EXPECT_FALSE(runtime->container("c1")) << "an empty status is none";
    EXPECT_EQ(asked(), framed(bytes(1, "c1") + number(2, 1)));
}

// containerd 2: the image of sandboxes is what the newest one that is ready is made of.
TEST_F(RuntimeTest, WhereTheConfigurationDoesNotSayASandboxDoes) {
    const auto sandbox = [](const std::string& id, std::int64_t created, std::int64_t state) {
        return bytes(1, bytes(1, id) + number(3, state) + number(4, created));
    };
    auto all = sandbox("old", 1, 0) + sandbox("new", 3, 0) + sandbox("gone", 4, 0) + sandbox("dead", 5, 1);
    for (const char* one : {"long-1", "long-2", "long-3"}) all += sandbox(one, 6, 0);
    bool hangs = false;
    serve([&](const Call& call) {
        if (call.path().ends_with("PodSandboxStatus")) {
            if (call.request().find("gone") != std::string::npos) return call.refuse(5, "not found");
            const bool is_new = call.request().find("new") != std::string::npos;
            if (is_new && hangs) return call.refuse(14, "its shim is gone");
            call.begin();
            if (call.request().find("long") != std::string::npos) {  // its annotations are more than is read
                const std::string info = R"({"image":"pause:3","config":")" + std::string(2U << 20U, 'x') + R"("})";
                call.data(framed(proto::entry(2, "info", info)));
                return call.end(0);
            }
            call.data(framed(proto::entry(2, "info", is_new ? R"({"image":"pause:2"})" : R"({"image":"pause:1"})")));
            return call.end(0);
        }
        call.begin();
        call.data(framed(call.path().ends_with("ListPodSandbox") ? all : proto::entry(2, "config", "{}")));
        call.end(0);
    });
    EXPECT_EQ(runtime->sandbox_image(), "pause:2");
    hangs = true;
    EXPECT_EQ(runtime->sandbox_image(), "pause:1") << "a shim that hangs holds up nothing";
}

TEST_F(RuntimeTest, AContainerIsAskedForItsImageVolumesOnce) {
    std::atomic<int> calls = 0;
    std::atomic<bool> is_up = true;
    serve([&](const Call& call) {
        calls++;
        if (!is_up) return call.refuse(14, "not now");
        if (call.request().find("gone") != std::string::npos) return call.refuse(5, "not found");
        call.begin();
        call.data(framed(bytes(1, bytes(14, bytes(9, bytes(1, "spare:1"))))));
        call.end(0);
    });
    std::vector<RuntimeContainer> containers(2);
    containers[0].id = "c1";
    containers[1].id = "gone";
    ASSERT_TRUE(runtime->add_image_volumes(containers));
    EXPECT_EQ(containers[0].image_volumes, std::vector<std::string>{"spare:1"});
    EXPECT_TRUE(containers[1].image_volumes.empty());
    EXPECT_EQ(calls, 2);
    is_up = false;
    ASSERT_TRUE(runtime->add_image_volumes(containers));
    EXPECT_EQ(calls, 2);
    containers[1].id = "new";
    EXPECT_FALSE(runtime->add_image_volumes(containers)) << "of one it is not known";
    is_up = true;
    ASSERT_TRUE(runtime->add_image_volumes(containers));
    EXPECT_EQ(containers[1].image_volumes, std::vector<std::string>{"spare:1"});
}

// Sixteen at once share what the runtime has: each then takes longer than its limit, and alone it does not.
TEST_F(RuntimeTest, ASlowRuntimeIsAskedForImageVolumesOneAtATime) {
    use({.read = 60s, .read_one = 2s, .read_pod = 60s, .change = 60s});
    std::atomic<int> under_way = 0;
    std::condition_variable over;
    bool is_over = false;
    serve([&](const Call& call) {
        if (++under_way > 1) {
            std::unique_lock lock(mutex);
            over.wait_for(lock, 60s, [&] { return is_over; });
            --under_way;
            return;
        }
        call.begin();
        call.data(framed(bytes(1, bytes(14, bytes(9, bytes(1, "spare:1"))))));
        --under_way;
        call.end(0);
    });
    std::vector<RuntimeContainer> containers(20);
    for (std::size_t i = 0; i < containers.size(); i++) containers[i].id = "c" + std::to_string(i);
    under_way = 1;  // so that none of those at once is answered
    EXPECT_FALSE(runtime->add_image_volumes(containers));
    {
        const std::scoped_lock lock(mutex);
        is_over = true;
    }
    over.notify_all();
    while (under_way > 1) std::this_thread::yield();
    under_way = 0;
    ASSERT_TRUE(runtime->add_image_volumes(containers));
    for (const auto& one : containers) EXPECT_EQ(one.image_volumes, std::vector<std::string>{"spare:1"});
}

TEST_F(RuntimeTest, AnIdThatIsNoneIsNotSent) {
    std::atomic<int> calls = 0;
    serve([&](const Call& call) {
        calls++;
        call.refuse(2, "");
    });
    EXPECT_FALSE(runtime->remove_container(""));
    EXPECT_FALSE(runtime->remove_image(""));
    EXPECT_FALSE(runtime->stop_sandbox("a b"));
    EXPECT_FALSE(runtime->container(""));
    EXPECT_FALSE(runtime->layer(""));
    EXPECT_EQ(calls, 0);
}

TEST_F(RuntimeTest, CodesAreKinds) {
    const auto kind = [&](int code) {
        refuse(code, "an error%0Aof two lines");
        const auto done = runtime->remove_container("c1");
        EXPECT_FALSE(done);
        EXPECT_NE(done.error().why.find(": an error\\x0aof two lines"), std::string::npos) << done.error().why;
        return done.error().kind;
    };
    EXPECT_EQ(kind(5), ErrorKind::vanished);
    EXPECT_EQ(kind(14), ErrorKind::unreachable);
    EXPECT_EQ(kind(4), ErrorKind::unreachable);
    EXPECT_EQ(kind(1), ErrorKind::unreachable);
    EXPECT_EQ(kind(7), ErrorKind::not_permitted);
    EXPECT_EQ(kind(12), ErrorKind::failed);
    EXPECT_EQ(kind(2), ErrorKind::failed);
    EXPECT_EQ(kind(99), ErrorKind::failed);
}

TEST_F(RuntimeTest, OfAnAnswerThatIsTooLargeNothingIsRead) {
    std::atomic<bool> is_held = true;
    serve([&](const Call& call) {
        call.begin();
        call.data(std::string("\0\x06\0\0\0", 5) + std::string(1000, 'x'));  // 96 MiB
        call.hold();
        is_held = false;
    });
    const auto containers = runtime->containers();
    ASSERT_FALSE(containers);
    EXPECT_EQ(containers.error().kind, ErrorKind::invalid);
    EXPECT_EQ(containers.error().why, "a message has 96Mi, and 16Mi is the most");
    server.reset();
    EXPECT_FALSE(is_held) << "the connection was closed";
    answer("");
    EXPECT_TRUE(runtime->containers());
}

// More than the 16 KiB that libcurl hands on in one piece, and nothing after it that would wake the client up. In the
// first 200 ms of a connection a timer of its own would, and after 5 s.
TEST_F(RuntimeTest, AnAnswerThatComesAtOnceIsReadToItsEnd) {
    use({.read = 4s, .read_one = 4s, .change = 4s});
    serve([](const Call& call) {
        std::this_thread::sleep_for(300ms);
        call.at_once([&] {
            call.begin();
            call.data(framed(bytes(9, std::string(22'000, 'x'))));
            call.end(0);
        });
        call.hold();
    });
    for (int i = 0; i < 2; i++) EXPECT_TRUE(runtime->containers());
}

TEST_F(RuntimeTest, AnAnswerOfManyMebibytesIsRead) {
    answer(bytes(1, bytes(1, "c1") + bytes(2, "s1")) + bytes(99, std::string(std::size_t{15} << 20U, 'x')));
    const auto containers = runtime->containers();
    ASSERT_TRUE(containers) << containers.error().text();
    EXPECT_EQ(containers->size(), 1U);
}

TEST_F(RuntimeTest, WithoutDescriptorsItIsTriedAgain) {
    answer("");
    {
        const fakes::FewDescriptors none(0);
        EXPECT_FALSE(runtime->containers());
    }
    EXPECT_TRUE(runtime->containers());
}

TEST_F(RuntimeTest, OneThatHangsIsGivenUp) {
    serve([](const Call& call) { call.hold(); });
    use({.read = 20ms, .read_one = 20ms, .change = 20ms});
    EXPECT_EQ(runtime->containers().error().kind, ErrorKind::unreachable);
    EXPECT_EQ(runtime->version().error().kind, ErrorKind::unreachable);
    EXPECT_EQ(runtime->remove_container("c1").error().kind, ErrorKind::unreachable);
    server.reset();
    use(generous);
    answer("");
    EXPECT_TRUE(runtime->containers());
}

TEST_F(RuntimeTest, LayersThatHangTogetherAreAskedForPodByPod) {
    std::atomic<int> answers = 0;
    const auto of_pod = [](const std::string& pod) { return framed(bytes(1, bytes(2, pod))); };
    serve([&](const Call& call) {
        std::string message;
        const bool is_of_pods = call.path().ends_with("/ListPodSandbox");
        if (!is_of_pods && call.request() == framed("")) return call.hold();
        answers++;
        if (is_of_pods) message = bytes(1, bytes(1, "s1")) + bytes(1, bytes(1, "s2"));
        if (call.request() == of_pod("s2")) {
            message = bytes(1, bytes(1, bytes(1, "c2")) + bytes(4, number(1, 1) + bytes(3, number(1, 4096))));
        }
        call.begin();
        call.data(framed(message));
        call.end(0);
    });
    use({.read = 60s, .read_one = 20ms, .read_pod = 60s, .change = 60s});
    const auto layers = runtime->layers();
    ASSERT_TRUE(layers) << layers.error().text();
    ASSERT_EQ(layers->size(), 1U);
    EXPECT_EQ(layers->front().id, "c2");
    EXPECT_EQ(answers, 3);
}

TEST_F(RuntimeTest, OneThatHangsInTheMiddleIsGivenUp) {
    serve([](const Call& call) {
        call.begin();
        call.data(framed(std::string(100, 'x')).substr(0, 50));
        call.hold();
    });
    use({.read = 20ms, .read_one = 20ms, .change = 20ms});
    EXPECT_EQ(runtime->containers().error().kind, ErrorKind::unreachable);
}

TEST_F(RuntimeTest, ARestartInTheMiddleIsAnErrorAndNoMore) {
    serve([&](const Call& call) {
        call.begin();
        call.data(framed(std::string(100, 'x')).substr(0, 50));
    });
    EXPECT_EQ(runtime->containers().error().kind, ErrorKind::unreachable);
    server.reset();
    EXPECT_EQ(runtime->containers().error().why, socket + " is not there");
    EXPECT_EQ(runtime->containers().error().kind, ErrorKind::unreachable);
    answer("");
    EXPECT_TRUE(runtime->containers());
}

TEST_F(RuntimeTest, WhatIsNoAnswerOfOneMessageDoesNotCount) {
    const auto containers = [&](const std::function<void(const Call&)>& handler) {
        server.reset();
        serve(handler);
        const auto all = runtime->containers();
        EXPECT_FALSE(all);
        return all ? std::string() : all.error().why;
    };
    EXPECT_EQ(containers([](const Call& call) {
                  call.begin();
                  call.end(0);
              }),
              "the answer has no message");
    EXPECT_EQ(containers([](const Call& call) {
                  call.begin();
                  call.data(framed("") + framed(""));
                  call.end(0);
              }),
              "the answer has more than one message");
    EXPECT_EQ(containers([](const Call& call) {
                  call.begin();
                  call.data("\1" + framed("").substr(1));
                  call.end(0);
              }),
              "a message is compressed");
    EXPECT_EQ(containers([](const Call& call) {
                  call.begin();
                  call.data(framed("garbage!"));
                  call.end(0);
              }),
              "has an invalid wire type");
    EXPECT_NE(containers([](const Call& /*call*/) {}), "") << "no answer at all";
}

TEST_F(RuntimeTest, ASocketOfAnotherUsersIsNotConnectedTo) {
    std::atomic<int> calls = 0;
    serve([&](const Call& call) {
        calls++;
        call.refuse(2, "");
    });
    ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    EXPECT_EQ(runtime->version().error().why, "others may write to it");
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(socket.c_str(), 12345, 12345), 0);
        EXPECT_EQ(runtime->version().error().why, "belongs to user 12345");
    }
    EXPECT_EQ(calls, 0);
}

TEST_F(RuntimeTest, ACallThatWaitsIsCancelled) {
    std::atomic<bool> is_called = false;
    serve([&](const Call& call) {
        is_called = true;
        is_called.notify_all();
        call.hold();
    });
    std::thread other([&] {
        is_called.wait(false);
        runtime->cancel();
    });
    EXPECT_EQ(runtime->containers().error().why, "the agent ends");
    other.join();
    EXPECT_EQ(runtime->containers().error().kind, ErrorKind::unreachable) << "it is final";
}

}  // namespace
}  // namespace evictd::cri
