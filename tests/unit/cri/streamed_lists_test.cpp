// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Lists that a runtime streams, and one that cannot. No released runtime of tests/cri streams them.
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cri/messages.hpp"
#include "cri/runtime.hpp"
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
using testing::ElementsAre;
using testing::IsEmpty;

// No test waits for these, but for those that say so.
constexpr RuntimeLimits unhurried{.read = 60s, .read_one = 60s, .read_pod = 60s, .change = 60s};
constexpr int unimplemented = 12;

std::string container(const std::string& id) { return bytes(1, bytes(1, id) + bytes(2, "s1")); }
std::string with_id(const std::string& id) { return bytes(1, bytes(1, id)); }  // a sandbox or an image
std::string layer(const std::string& id) {
    return bytes(1, bytes(1, bytes(1, id)) + bytes(4, number(1, 1) + bytes(3, number(1, 4096))));
}

template <class Element>
std::vector<std::string> ids(const Result<std::vector<Element>>& all) {
    if (!all) return {"error: " + all.error().text()};
    std::vector<std::string> found;
    for (const auto& one : *all) found.push_back(one.id);
    return found;
}

class StreamedListsTest : public ::testing::Test {
protected:
    using Handler = std::function<void(const Call&)>;

    StreamedListsTest() { use(unhurried); }
    void use(RuntimeLimits limits) { runtime = std::move(*Runtime::make(socket, limits)); }
    // By method. Any other is refused with UNIMPLEMENTED.
    void serve(std::map<std::string, Handler> handlers) {
        server.reset();
        server.emplace(socket, [this, handlers = std::move(handlers)](const Call& call) {
            const auto method = call.path().substr(call.path().rfind('/') + 1);
            {
                const std::scoped_lock lock(mutex);
                calls.push_back(call.path());
            }
            const auto handler = handlers.find(method);
            if (handler == handlers.end()) return call.refuse(unimplemented, "unknown method " + method);
            handler->second(call);
        });
    }
    static Handler answer(std::vector<std::string> messages, int status = 0) {
        return [=](const Call& call) {
            call.begin();
            for (const auto& message : messages) call.data(framed(message));
            call.end(status);
        };
    }
    // With another socket, though both may be of one tick of the file system's clock: the number of the first stays
    // used.
    void start_again(std::map<std::string, Handler> handlers) {
        ASSERT_EQ(::link(socket.c_str(), (socket + std::to_string(older++)).c_str()), 0);
        serve(std::move(handlers));
    }
    // Since it was called last.
    std::vector<std::string> called() {
        const std::scoped_lock lock(mutex);
        return std::exchange(calls, {});
    }
    // The error of a stream that `handler` answers. The unary call must not be made after it.
    Error error_of(Handler handler) {
        serve({{"StreamContainers", std::move(handler)}, {"ListContainers", answer({container("c9")})}});
        const auto all = runtime->containers();
        EXPECT_FALSE(all);
        return all ? Error{} : all.error();
    }

    const fakes::TempDir directory;
    const std::string socket = directory / "runtime.sock";
    int older = 0;
    std::mutex mutex;
    std::vector<std::string> calls;
    std::unique_ptr<Runtime> runtime;
    std::optional<fakes::GrpcServer> server;  // the last member: its threads use the others
};

constexpr auto stream_containers = "/runtime.v1.RuntimeService/StreamContainers";
constexpr auto list_containers = "/runtime.v1.RuntimeService/ListContainers";

TEST_F(StreamedListsTest, EachIsReadFromItsStream) {
    const auto not_measured = bytes(1, bytes(1, bytes(1, "l0")));
    serve({{"StreamPodSandboxes", answer({with_id("s1"), with_id("s2") + with_id("s3")})},
           {"StreamContainers", answer({container("c1") + container("c2"), "", container("c3")})},
           {"StreamImages", answer({with_id("i1"), with_id("i2")})},
           {"StreamContainerStats", answer({layer("l1") + not_measured, layer("l2")})}});
    EXPECT_THAT(ids(runtime->sandboxes()), ElementsAre("s1", "s2", "s3"));
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1", "c2", "c3"));
    EXPECT_THAT(ids(runtime->images()), ElementsAre("i1", "i2"));
    EXPECT_THAT(ids(runtime->layers()), ElementsAre("l1", "l2"));
    EXPECT_THAT(called(), ElementsAre("/runtime.v1.RuntimeService/StreamPodSandboxes", stream_containers,
                                      "/runtime.v1.ImageService/StreamImages",
                                      "/runtime.v1.RuntimeService/StreamContainerStats"));
}

TEST_F(StreamedListsTest, OneWithoutAMessageIsEmpty) {
    serve({{"StreamContainers", answer({})}, {"StreamImages", answer({""})}});
    EXPECT_THAT(ids(runtime->containers()), IsEmpty());
    EXPECT_THAT(ids(runtime->images()), IsEmpty());
}

TEST_F(StreamedListsTest, ARuntimeWithoutThemIsAskedForEachOnce) {
    serve({{"ListPodSandbox", answer({with_id("s1")})},
           {"ListContainers", answer({container("c1")})},
           {"ListImages", answer({with_id("i1")})},
           {"ListContainerStats", answer({layer("l1")})}});
    const auto list_all = [&] {
        EXPECT_THAT(ids(runtime->sandboxes()), ElementsAre("s1"));
        EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
        EXPECT_THAT(ids(runtime->images()), ElementsAre("i1"));
        EXPECT_THAT(ids(runtime->layers()), ElementsAre("l1"));
        return called();
    };
    EXPECT_THAT(list_all(), ElementsAre("/runtime.v1.RuntimeService/StreamPodSandboxes",
                                        "/runtime.v1.RuntimeService/ListPodSandbox", stream_containers, list_containers,
                                        "/runtime.v1.ImageService/StreamImages", "/runtime.v1.ImageService/ListImages",
                                        "/runtime.v1.RuntimeService/StreamContainerStats",
                                        "/runtime.v1.RuntimeService/ListContainerStats"));
    for (int i = 0; i < 2; i++) {
        EXPECT_THAT(list_all(), ElementsAre("/runtime.v1.RuntimeService/ListPodSandbox", list_containers,
                                            "/runtime.v1.ImageService/ListImages",
                                            "/runtime.v1.RuntimeService/ListContainerStats"));
    }
}

// As a containerd seems that answers while the request is still being sent: tests/cri has real ones.
TEST_F(StreamedListsTest, ARuntimeWhoseRefusalIsLostIsAskedWithoutABody) {
    const auto refuse = [](const Call& call) {
        if (call.request().empty()) call.refuse(unimplemented, "unknown method");
    };
    serve({{"StreamContainers", refuse}, {"ListContainers", answer({container("c1")})}});
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
    EXPECT_THAT(called(), ElementsAre(stream_containers, stream_containers, list_containers));
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
    EXPECT_THAT(called(), ElementsAre(list_containers));
}

// While it was away no call was made, so none has failed.
TEST_F(StreamedListsTest, ARuntimeThatWasStartedAgainIsAskedAgain) {
    serve({{"ListContainers", answer({container("c1")})}});
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
    start_again({{"StreamContainers", answer({container("c2")})}});
    (void)called();
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c2"));
    EXPECT_THAT(called(), ElementsAre(stream_containers));
    start_again({{"ListContainers", answer({container("c3")})}});
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c3")) << "an older one";
}

// As of a program that keeps the socket while it starts the runtime again.
TEST_F(StreamedListsTest, AfterACallThatFailedItIsAskedAgain) {
    std::atomic<bool> is_cut = false;
    serve({{"ListContainers", [&, list = answer({container("c1")})](const Call& call) {
                if (!is_cut) list(call);
            }}});
    EXPECT_TRUE(runtime->containers());
    is_cut = true;
    EXPECT_FALSE(runtime->containers());
    is_cut = false;
    (void)called();
    EXPECT_TRUE(runtime->containers());
    EXPECT_THAT(called(), ElementsAre(stream_containers, list_containers));
}

TEST_F(StreamedListsTest, ARuntimeWithoutThemIsNotTakenForAnotherProgram) {
    serve({{"ListContainers", answer({container("c1")})}});
    const auto second = directory / "second.sock";
    const fakes::GrpcServer other(second, answer({container("c2")}));
    const auto endpoint = std::make_shared<Endpoint>("", std::vector<std::string>{socket, second});
    runtime = std::move(*Runtime::make(endpoint, unhurried));
    for (int i = 0; i < 2; i++) EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
    EXPECT_EQ(endpoint->found(), socket);
}

TEST_F(StreamedListsTest, WhatAnotherProgramLacksSaysNothingOfTheRuntime) {
    const auto first = directory / "first.sock";
    const fakes::GrpcServer other(first, [](const Call& call) { call.refuse(unimplemented, "unknown service"); });
    serve({{"StreamContainers", answer({container("c1")})}});
    runtime =
        std::move(*Runtime::make(std::make_shared<Endpoint>("", std::vector<std::string>{first, socket}), unhurried));
    const auto refused = runtime->containers();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "container runtime's ListContainers") << "the call that every runtime has";
    EXPECT_NE(refused.error().remedy, "");
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
    EXPECT_THAT(called(), ElementsAre(stream_containers));
}

TEST_F(StreamedListsTest, OfOneThatEndsWithAnErrorNothingIsUsed) {
    const auto kind = [&](int status) {
        const auto error = error_of(answer({container("c1"), container("c2")}, status));
        EXPECT_EQ(error.what, "container runtime's StreamContainers");
        return error.kind;
    };
    EXPECT_EQ(kind(1), ErrorKind::unreachable);
    EXPECT_EQ(kind(2), ErrorKind::failed);
    EXPECT_EQ(kind(4), ErrorKind::unreachable);
    EXPECT_EQ(kind(5), ErrorKind::vanished);
    EXPECT_EQ(kind(7), ErrorKind::not_permitted);
    EXPECT_EQ(kind(14), ErrorKind::unreachable);
    serve({{"StreamContainers", answer({container("c1")}, unimplemented)},
           {"ListContainers", answer({container("c2")})}});
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c2")) << "the list in one message is whole";
}

TEST_F(StreamedListsTest, OfOneThatIsCutOffNothingIsUsed) {
    const auto cut_after = [&](const std::string& sent) {
        return error_of([=](const Call& call) {
                   call.begin();
                   call.data(sent);
               })
            .kind;
    };
    EXPECT_EQ(cut_after(""), ErrorKind::unreachable);
    EXPECT_EQ(cut_after(framed(container("c1"))), ErrorKind::unreachable) << "between two messages";
    EXPECT_EQ(cut_after(framed(container("c1")) + framed(container("c2")).substr(0, 9)), ErrorKind::unreachable);
    const auto without_status = error_of([](const Call& call) {
        call.begin();
        call.data(framed(container("c1")));
        call.end_without_status();
    });
    EXPECT_EQ(without_status.kind, ErrorKind::unreachable);
    EXPECT_EQ(without_status.why, "the answer was cut off");
    serve({{"StreamContainers", answer({container("c1")})}});
    EXPECT_THAT(ids(runtime->containers()), ElementsAre("c1"));
}

TEST_F(StreamedListsTest, AMessageThatIsNoneMakesAllOfThemInvalid) {
    const auto why = [&](const std::string& last) {
        const auto error = error_of([=](const Call& call) {
            call.begin();
            call.data(framed(container("c1")) + last);
            call.end(0);
        });
        EXPECT_EQ(error.kind, ErrorKind::invalid);
        return error.why;
    };
    EXPECT_EQ(why(framed("garbage!")), "has an invalid wire type");
    EXPECT_EQ(why(framed("garbage!") + framed(container("c2"))), "has an invalid wire type");
    EXPECT_EQ(why(framed(container(""))), "a container has no valid ID");
    EXPECT_EQ(why("\1" + framed(container("c2")).substr(1)), "a message is compressed");
    EXPECT_EQ(why(framed(container("c2")).substr(0, 9)), "the answer ends in the middle of a message");
    EXPECT_EQ(why(std::string(2, '\0')), "the answer ends in the middle of a message");
    EXPECT_EQ(why(std::string("\0\x06\0\0\0", 5)), "a message has 96Mi, and 16Mi is the most");
}

TEST_F(StreamedListsTest, OneThatHasNoEndIsTooLarge) {
    const auto message = framed(bytes(99, std::string(std::size_t{1} << 20U, 'x')));
    std::atomic<std::size_t> sent = 0;
    const auto large = error_of([&](const Call& call) {
        call.begin();
        while (call.data(message)) sent += message.size();
    });
    EXPECT_LT(sent, 2 * most_of_a_stream);
    EXPECT_EQ(large.kind, ErrorKind::invalid);
    EXPECT_EQ(large.why, "the answer has more than 32Mi");
    serve({{"StreamContainers", answer({container("c1")})}});
    EXPECT_TRUE(runtime->containers());
}

TEST_F(StreamedListsTest, AllMessagesTogetherHaveSoManyElements) {
    std::string half;
    for (std::size_t i = 0; i < most_elements / 2; i++) half += container("c");
    serve({{"StreamContainers", answer({half, half})}});
    EXPECT_EQ(ids(runtime->containers()).size(), most_elements);
    const auto error = error_of(answer({half, half, container("c")}));
    EXPECT_EQ(error.kind, ErrorKind::invalid);
    EXPECT_EQ(error.why, "the list has more than 50000 entries");
}

TEST_F(StreamedListsTest, OneThatHangsOrTricklesIsGivenUp) {
    use({.read = 20ms, .read_one = 20ms, .change = 20ms});
    const auto hung = error_of([](const Call& call) {
        call.begin();
        call.data(framed(container("c1")));
        call.hold();
    });
    EXPECT_EQ(hung.kind, ErrorKind::unreachable);
    const auto trickling = error_of([](const Call& call) {
        call.begin();
        while (call.data(framed(container("c1")))) {}
    });
    EXPECT_EQ(trickling.kind, ErrorKind::unreachable);
}

TEST_F(StreamedListsTest, LayersThatHangTogetherAreAskedForPodByPod) {
    use({.read = 60s, .read_one = 20ms, .read_pod = 60s, .change = 60s});
    serve({{"StreamContainerStats", [](const Call& call) { call.hold(); }},
           {"StreamPodSandboxes", answer({with_id("s1"), with_id("s2")})},
           {"ListContainerStats", [](const Call& call) {
                answer({call.request() == framed(bytes(1, bytes(2, "s2"))) ? layer("l2") : ""})(call);
            }}});
    EXPECT_THAT(ids(runtime->layers()), ElementsAre("l2"));
    auto answered = called();
    std::erase(answered,
               "/runtime.v1.RuntimeService/StreamContainerStats");  // on a busy machine it comes later, or never
    const std::string of_pod = "/runtime.v1.RuntimeService/ListContainerStats";
    EXPECT_THAT(answered, ElementsAre("/runtime.v1.RuntimeService/StreamPodSandboxes", of_pod, of_pod));
}

}  // namespace
}  // namespace evictd::cri
