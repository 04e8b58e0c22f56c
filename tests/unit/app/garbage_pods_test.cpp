// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who knows of a pod, for a verb that is no agent. That nobody does is no proof of anything.
#include "app/garbage_pods.hpp"

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fakes/temp_dir.hpp"
#include "sys/fd.hpp"

namespace evictd::app {
namespace {

using policy::PodFate;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto manifest = R"(apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, uid: uid-web}
spec: {containers: [{name: app, image: x}]}
)";

// Answers one request with `answer`.
class OneAnswer {
public:
    OneAnswer(const std::string& path, std::string answer) : answer_(std::move(answer)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        listener_ = sys::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
        thread_ = std::thread([this] {
            const sys::Fd peer(::accept(listener_.get(), nullptr, nullptr));
            std::array<char, 4096> request{};
            (void)::recv(peer.get(), request.data(), request.size(), 0);
            (void)::send(peer.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
        });
    }
    OneAnswer(const OneAnswer&) = delete;
    OneAnswer& operator=(const OneAnswer&) = delete;
    ~OneAnswer() { thread_.join(); }

private:
    std::string answer_;
    sys::Fd listener_;
    std::thread thread_;
};

class GarbagePodsTest : public testing::Test {
protected:
    GarbagePodsTest() {
        config.static_pod_path = directory / "static";
        config.agent.pod_manifest_path = directory / "pods";
        config.agent.socket_path = directory / "evictd.sock";
    }
    fakes::TempDir directory;
    Config config;
};

TEST_F(GarbagePodsTest, WithoutASourceEveryPodIsUnknownAndNoneIsGone) {
    const auto found = find_garbage_pods(config);
    EXPECT_EQ(found.word_of("uid-web").fate, PodFate::known);
    EXPECT_THAT(found.word_of("uid-web").why, HasSubstr("known to no source"));
    EXPECT_THAT(found.troubles, IsEmpty()) << "a directory that is not there holds no manifest";
    EXPECT_THAT(found.sources, SizeIs(3));
}

TEST_F(GarbagePodsTest, AManifestsPodIsOnTheNode) {
    directory.write("pods/web.yaml", manifest);
    directory.write("static/broken.yaml", "kind: Pod\nmetadata: [");
    const auto found = find_garbage_pods(config);
    EXPECT_EQ(found.word_of("uid-web").why, "pod default/web is on the node");
    EXPECT_THAT(found.sources, Contains("1 pod in " + (directory / "pods")));
    EXPECT_THAT(found.troubles, Contains(HasSubstr("broken.yaml")));
}

TEST_F(GarbagePodsTest, AnAgentKnowsWhichPodsHaveEndedAndAManifestMore) {
    directory.write("pods/web.yaml", manifest);
    const OneAnswer agent(config.agent.socket_path,
                          R"({"v":1,"ranking":{"pods":[{"name":"a","uid":"uid-a"}]},)"
                          R"("finished_pods":[)"
                          R"({"name":"b","uid":"uid-b","phase":"Succeeded","populated":false},)"
                          R"({"name":"c","uid":"uid-c","phase":"Failed","reason":"Evicted",)"
                          R"("populated":false},)"
                          R"({"name":"web","uid":"uid-web","phase":"Failed",)"
                          R"("reason":"Evicted","populated":false}]})"
                          "\n");
    const auto found = find_garbage_pods(config);
    EXPECT_EQ(found.word_of("uid-a").fate, PodFate::known);
    EXPECT_EQ(found.word_of("uid-b").fate, PodFate::terminated);
    EXPECT_EQ(found.word_of("uid-c").fate, PodFate::deleted);
    EXPECT_EQ(found.word_of("uid-web").fate, PodFate::known) << "it is to run";
    EXPECT_THAT(found.troubles, IsEmpty());
}

TEST_F(GarbagePodsTest, TheImagesOfContainersToComeAreKnown) {
    directory.write("pods/web.yaml", manifest);
    const OneAnswer agent(config.agent.socket_path, R"({"v":1,"ranking":{"pods":[{"name":"a","uid":"uid-a",)"
                                                    R"("not_started":[{"name":"main","image":"y"}]}]}})"
                                                    "\n");
    const auto found = find_garbage_pods(config);
    ASSERT_THAT(found.pods, SizeIs(2));
    EXPECT_EQ(found.pods[0]->containers.at(0).image, "y");
    EXPECT_EQ(found.pods[1]->containers.at(0).image, "x");
}

TEST_F(GarbagePodsTest, AnAgentThatSaysNothingOfPodsIsATrouble) {
    const OneAnswer agent(config.agent.socket_path, "{\"v\":1}\n");
    const auto found = find_garbage_pods(config);
    EXPECT_THAT(found.troubles, SizeIs(1));
    EXPECT_EQ(found.word_of("uid-a").fate, PodFate::known);
}

}  // namespace
}  // namespace evictd::app
