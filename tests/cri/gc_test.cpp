// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The verb itself, as an operator calls it, on a real containerd.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> sleeping{"sleep", "1000000"};
constexpr auto spare_image = "localhost/spare:1";
constexpr auto kept_image = "localhost/kept:1";
constexpr auto used = "localhost/load:1";

struct Ran {
    int code = -1;
    std::string output;
    nlohmann::json json;  // of --output json
};

class GcTest : public RuntimeFixture {
protected:
    void SetUp() override {
        ASSERT_TRUE(ctr("image import " + images() + "/spare.tar") && ctr("image import " + images() + "/kept.tar"));
        ASSERT_TRUE(wait_for([&] { return has_image(spare_image) && has_image(kept_image); }));
        write_config(socket);
    }
    // Other tests need the one and do not know the other.
    void TearDown() override {
        EXPECT_TRUE(ctr("image import " + images() + "/spare.tar"));
        (void)ctr("image rm --sync " + std::string(kept_image));
        RuntimeFixture::TearDown();
    }
    static std::string images() { return from_environment("CRI_IMAGES"); }
    static bool ctr(const std::string& arguments) {
        const auto command = from_environment("CRI_CTR") + " -a " + from_environment("CRI_SOCKET") + " -n k8s.io " +
                             arguments + " > /dev/null 2>&1";
        return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c)
    }
    // Of manifests and an agent there are none: every pod is unknown. No threshold on disks, however full this
    // machine's are.
    void write_config(const std::string& endpoint, const std::string& more = {}) const {
        std::ofstream(directory_ / "evictd.yaml")
            << "evictionHard: {memory.available: 1Mi}\ncontainerRuntimeEndpoint: unix://" << endpoint
            << "\nevictd: {podManifestPath: " << directory_ / "pods"
            << ", socketPath: " << directory_ / "evictd.sock" << more << "}\n";
    }
    Ran gc(const std::string& arguments) {
        const auto command =
            from_environment("CRI_EVICTD") + " gc --config " + (directory_ / "evictd.yaml") + " " + arguments + " 2>&1";
        Ran ran;
        std::FILE* pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
        std::array<char, 4096> some{};
        while (const auto got = std::fread(some.data(), 1, some.size(), pipe)) ran.output.append(some.data(), got);
        ran.code = WEXITSTATUS(::pclose(pipe));
        ran.json = nlohmann::json::parse(ran.output, nullptr, false);
        return ran;
    }
    static std::vector<std::string> ids(const nlohmann::json& list) {
        std::vector<std::string> all;
        for (const auto& one : list) all.push_back(one.at("id"));
        return all;
    }
    static std::vector<std::string> names(const nlohmann::json& list) {
        std::vector<std::string> all;
        for (const auto& one : list) all.push_back(one.at("name"));
        return all;
    }
    static std::string why(const nlohmann::json& list, const std::string& id_or_name) {
        for (const auto& one : list) {
            if (one.at("id") == id_or_name || one.at("name") == id_or_name) return one.at("why");
        }
        return "not there";
    }
    [[nodiscard]] bool has_container(const std::string& id) {
        const auto all = runtime->containers();
        EXPECT_TRUE(all);
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) { return one.id == id; });
    }
    [[nodiscard]] bool has_image(const std::string& tag) {
        const auto all = runtime->images();
        EXPECT_TRUE(all);
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) {
                   return std::find(one.tags.begin(), one.tags.end(), tag) != one.tags.end();
               });
    }
    // The fixture's containers of one name are of one pod, whichever sandbox they are in.
    std::string run_and_end(const std::string& pod, const std::string& name) {
        const auto id = make_container(pod, name, sleeping);
        start(id);
        EXPECT_TRUE(runtime->stop_container(id, {}));
        EXPECT_TRUE(wait_for([&] { return details_of(id).container.state == ContainerState::exited; }));
        return id;
    }

    fakes::TempDir directory_;
};

TEST_F(GcTest, RemovesWhatADryRunNamesAndNothingThatIsUsedOrNewest) {
    const auto pod = make_pod("gc");
    const auto running = make_container(pod, "running", sleeping);
    start(running);
    const auto older = run_and_end(make_pod("gc-before"), "dead");
    const auto newest = run_and_end(pod, "dead");
    const auto created = make_container(pod, "created", sleeping);
    write_config(socket, ", gc: {keepImages: [\"localhost/kept:*\"]}");

    const auto dry = gc("--dry-run -o json");
    ASSERT_TRUE(dry.json.is_object()) << dry.output;
    EXPECT_EQ(dry.code, 0);
    EXPECT_THAT(ids(dry.json["goes"]), Contains(older));
    EXPECT_THAT(names(dry.json["goes"]), Contains(std::string(spare_image)));
    EXPECT_EQ(why(dry.json["stays"], running), "it is running");
    EXPECT_EQ(why(dry.json["stays"], created), "it was created and may be started");
    EXPECT_THAT(why(dry.json["stays"], newest), HasSubstr("known to no source"));
    EXPECT_THAT(why(dry.json["stays"], used), HasSubstr("in use by container"));
    EXPECT_EQ(why(dry.json["stays"], std::string(pause_image)), "the image of sandboxes");
    EXPECT_THAT(why(dry.json["stays"], kept_image), HasSubstr("keepImages"));
    EXPECT_TRUE(has_container(older) && has_image(spare_image)) << "a dry run";
    EXPECT_FALSE(dry.json.contains("done"));

    const auto done = gc("-o json");
    ASSERT_TRUE(done.json.is_object()) << done.output;
    EXPECT_EQ(done.code, 0) << done.output;
    EXPECT_THAT(ids(done.json["done"]["removals"]), testing::UnorderedElementsAreArray(ids(dry.json["goes"])));
    for (const auto& one : done.json["done"]["removals"]) EXPECT_EQ(one["status"], "removed") << one;
    EXPECT_FALSE(has_container(older) || has_image(spare_image));
    EXPECT_TRUE(has_container(newest) && has_container(created) && has_image(used) && has_image(kept_image));
    EXPECT_EQ(details_of(running).container.state, ContainerState::running);
    EXPECT_TRUE(gc("-o json").json["goes"].empty()) << "nothing is left";
}

// Of a pod that is known. The threshold is met, however much this machine's disk has.
TEST_F(GcTest, RotatedLogsGoAndTheFileThatIsWrittenToStays) {
    start(make_container(make_pod("gc-logs"), "running", sleeping));
    const std::filesystem::path logs = directory_ / "logs/default_gc-logs_uid-gc-logs/main";
    std::filesystem::create_directories(logs);
    std::filesystem::create_directories(directory_ / "pods");
    directory_.write("pods/pod.yaml",
                     "{apiVersion: v1, kind: Pod, metadata: {name: gc-logs, namespace: default, uid: uid-gc-logs}, "
                     "spec: {containers: [{name: main, image: 'localhost/load:1'}]}}");
    const std::vector<std::string> rotated{"0.log.20261125-150405", "0.log.20261126-150405.gz"};
    for (const auto& name : rotated) {
        std::ofstream(logs / name) << std::string(100'000, 'x');
        std::filesystem::last_write_time(logs / name, std::filesystem::file_time_type::clock::now() - 1h);
    }
    std::filesystem::create_symlink("/", logs / "1.log.20261125-150405");
    std::ofstream(logs / "1.log") << "live";
    std::ofstream(logs / "a\n\xff.log") << "not a rotated one";
    std::ofstream(logs / "0.log") << "live";
    std::ofstream(directory_ / "evictd.yaml")
        << "evictionHard: {memory.available: 1Mi, nodefs.available: 99.9%}\ncontainerRuntimeEndpoint: unix://" << socket
        << "\npodLogsDir: " << directory_ / "logs"
        << "\nevictd: {podManifestPath: " << directory_ / "pods"
        << ", socketPath: " << directory_ / "evictd.sock"
        << ", gc: {logs: truncateRotated}}\n";
    const auto done = gc("--images none -o json");
    EXPECT_EQ(done.code, 0) << done.output;
    for (const auto& name : rotated) EXPECT_FALSE(std::filesystem::exists(logs / name)) << done.output;
    for (const auto* name : {"0.log", "1.log", "1.log.20261125-150405", "a\n\xff.log"}) {
        EXPECT_TRUE(std::filesystem::exists(logs / name)) << name << "\n" << done.output;
    }
}

TEST_F(GcTest, APatternThatKeepsNothingIsWarnedOf) {
    write_config(socket, ", gc: {keepImages: [spare]}");
    const auto dry = gc("--dry-run");
    EXPECT_EQ(dry.code, 0) << dry.output;
    EXPECT_THAT(dry.output, HasSubstr("evictd: warning: "));
    EXPECT_THAT(dry.output, HasSubstr("evictd.gc.keepImages[0]: \"spare\" is not the full name of an image"));
}

// containerd has pins since 1.7.
TEST_F(GcTest, APinnedImageStays) {
    const bool has_pins = from_environment("CRI_VERSION") != "1.6";
    start(make_container(make_pod("gc-pinned"), "running", sleeping));  // else its image would go
    ASSERT_TRUE(ctr("image label " + std::string(kept_image) + " io.cri-containerd.pinned=pinned"));
    const auto is_pinned = [&] {
        const auto all = runtime->images();
        return all && std::any_of(all->begin(), all->end(), [](const auto& one) {
                   return one.pinned && std::find(one.tags.begin(), one.tags.end(), kept_image) != one.tags.end();
               });
    };
    ASSERT_TRUE(!has_pins || wait_for(is_pinned));
    const auto done = gc("-o json");
    EXPECT_EQ(why(done.json["stays"], kept_image), has_pins ? "pinned in the runtime" : "not there");
    EXPECT_EQ(has_image(kept_image), has_pins);
    EXPECT_FALSE(has_image(spare_image));
}

// containerd 2 pins the image of sandboxes only where it is configured by its full name, and does not say which it is.
TEST_F(GcTest, TheImageOfSandboxesStaysByWhateverNameItIsConfigured) {
    constexpr auto full_name = "docker.io/library/pause:1";
    const auto use = [&](const std::string& name) {
        ::setenv("PAUSE_IMAGE", name.c_str(), 1);
        kill_containerd();
        start_containerd();
    };
    ASSERT_TRUE(ctr("image tag --force " + std::string(pause_image) + " " + full_name));
    use("pause:1");
    start(make_container(make_pod("gc-pause"), "running", sleeping));
    ASSERT_TRUE(ctr("image rm " + std::string(pause_image)));
    const auto done = gc("-o json");
    EXPECT_EQ(why(done.json["stays"], full_name), "the image of sandboxes") << done.output;
    EXPECT_TRUE(has_image(full_name));
    (void)make_pod("gc-pause-next");

    EXPECT_TRUE(ctr("image import " + images() + "/pause.tar"));
    use(std::string(pause_image));
    EXPECT_TRUE(ctr("image rm " + std::string(full_name)));
}

TEST_F(GcTest, AnImageThatAContainerHasMountedStays) {
    if (says_its_sandbox_image()) GTEST_SKIP() << "containerd 1 has no image volumes";
    start(make_container(make_pod("gc-volume"), "running", sleeping, "localhost/load:1",
                         "image:" + std::string(spare_image)));
    const auto done = gc("-o json");
    EXPECT_THAT(why(done.json["stays"], spare_image), HasSubstr("in use by container")) << done.output;
    EXPECT_TRUE(has_image(spare_image));
}

TEST_F(GcTest, SaysInTextWhatItDid) {
    const auto pod = make_pod("gc-text");
    start(make_container(pod, "running", sleeping));
    const auto none = gc("--images none");
    EXPECT_EQ(none.code, 0) << none.output;
    EXPECT_THAT(none.output, Not(HasSubstr(spare_image)));
    EXPECT_TRUE(has_image(spare_image));
    const auto enough = gc("--images enough --dry-run -o json");
    EXPECT_THAT(why(enough.json["stays"], spare_image), HasSubstr("not needed")) << "no threshold is met";
    const auto done = gc("");
    EXPECT_EQ(done.code, 0) << done.output;
    EXPECT_THAT(done.output, HasSubstr("it is running"));
    EXPECT_THAT(done.output, HasSubstr("removed image localhost/spare:1"));
    EXPECT_THAT(done.output, HasSubstr("REMOVED   2 images"));
}

TEST_F(GcTest, ARuntimeThatHangsOrIsNotThereIsOneLine) {
    stop(containerd());
    const auto hung = gc("");
    EXPECT_EQ(hung.code, 3);
    EXPECT_THAT(hung.output, testing::StartsWith("evictd: container runtime's Version: "));
    EXPECT_EQ(std::count(hung.output.begin(), hung.output.end(), '\n'), 1) << hung.output;
    go_on();
    write_config(directory_ / "nowhere.sock");
    EXPECT_EQ(gc("").code, 3);
    std::ofstream(directory_ / "file") << "text";
    write_config(directory_ / "file");
    const auto file = gc("-o json");
    EXPECT_EQ(file.code, 1) << file.output;
    EXPECT_THAT(file.output, HasSubstr("is no socket"));
}

TEST_F(GcTest, WhatIsNoRuntimeIsOneLine) {
    const auto path = directory_ / "other.sock";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(listener, 8), 0);
    std::thread other([listener] {
        for (int peer = 0; (peer = ::accept(listener, nullptr, nullptr)) >= 0; (void)::close(peer)) {
            (void)::send(peer, "HTTP/1.1 200 OK\r\n\r\ngarbage", 26, MSG_NOSIGNAL);
        }
    });
    write_config(path);
    const auto ran = gc("");
    (void)::shutdown(listener, SHUT_RDWR);
    other.join();
    (void)::close(listener);
    EXPECT_TRUE(ran.code == 1 || ran.code == 3) << ran.output;
    EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 1) << ran.output;
}

// containerd is stopped while evictd removes, so that the signal comes in the middle.
TEST_F(GcTest, AnInterruptEndsItAfterTheRemovalUnderWay) {
    const auto pod = make_pod("gc-interrupt");
    start(make_container(pod, "running", sleeping));
    std::vector<std::string> dead;
    for (int i = 0; i < 4; i++) dead.push_back(run_and_end(make_pod("gc-interrupt-" + std::to_string(i)), "dead"));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const auto config = directory_ / "evictd.yaml";
    const auto program = from_environment("CRI_EVICTD");
    const pid_t child = ::fork();
    if (child == 0) {
        (void)::dup2(ends[1], STDOUT_FILENO);
        (void)::close(ends[0]);
        ::execl(program.c_str(), "evictd", "gc", "--config", config.c_str(), nullptr);
        ::_exit(127);
    }
    (void)::close(ends[1]);
    std::string output;
    char one = 0;
    while (output.find("KEEP") == std::string::npos && ::read(ends[0], &one, 1) == 1) output += one;
    stop(containerd());
    std::this_thread::sleep_for(100ms);  // it waits for containerd now, and listens to signals
    ASSERT_EQ(::kill(child, SIGINT), 0);
    go_on();
    while (::read(ends[0], &one, 1) == 1) output += one;
    (void)::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_THAT(output, HasSubstr("REMOVED")) << output;
    EXPECT_THAT(output, HasSubstr("not removed")) << output;
    EXPECT_TRUE(has_container(dead.back())) << "the newest";
    EXPECT_TRUE(has_image(spare_image)) << "the last in order";
}

}  // namespace
}  // namespace evictd::cri_test
