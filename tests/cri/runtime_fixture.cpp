// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "runtime_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "http/grpc_status.hpp"
#include "http/wire_reader.hpp"
#include "http/wire_writer.hpp"
#include "wire_text.hpp"

namespace evictd::cri_test {
namespace {

constexpr auto longest_wait = 60s;

// Each of its threads stops when it next runs.
bool is_stopped(pid_t pid) {
    const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task");
    return std::all_of(begin(threads), end(threads), [](const std::filesystem::directory_entry& thread) {
        std::ifstream file(thread.path() / "status");
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("State:")) return line.find("T (stopped)") != std::string::npos;
        }
        return true;  // it has ended
    });
}

bool is_shell_with_trap(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    bool is_shell = false;
    std::uint64_t signals = 0;
    for (std::string key; file >> key;) {
        std::string value;
        std::getline(file >> std::ws, value);
        if (key == "Name:") is_shell = value == "sh";
        if (key == "SigIgn:" || key == "SigCgt:") signals |= std::stoull(value, nullptr, 16);
    }
    return is_shell && (signals >> (SIGTERM - 1U) & 1U) != 0;
}

// A label, or a mount: where it is in the container and on the host.
void add_pair(http::WireWriter& writer, std::uint32_t field, std::string_view first, std::string_view second) {
    writer.bytes(field, message([&](http::WireWriter& entry) {
                     entry.bytes(1, first);
                     entry.bytes(2, second);
                 }));
}

void add_data(http::WireWriter& writer, std::string_view data) {
    constexpr std::string_view of_image = "image:";
    if (data.empty()) return;
    if (!data.starts_with(of_image)) return add_pair(writer, 7, "/data", data);
    writer.bytes(7, message([&](http::WireWriter& mount) {
                     mount.bytes(1, "/data");
                     mount.number(3, 1);  // read-only
                     mount.bytes(9,
                                 message([&](http::WireWriter& spec) { spec.bytes(1, data.substr(of_image.size())); }));
                 }));
}

// A name of the form of a UUID is the UID too.
std::string uid_of(const std::string& name, const std::string& prefix) {
    constexpr std::size_t uuid = 36;
    return name.size() == uuid ? name : prefix + name;
}

}  // namespace

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

RuntimeFixture::RuntimeFixture()
    : socket(from_environment("CRI_SOCKET")),
      cgroup(from_environment("CRI_CGROUP")),
      runtime(connect()),
      own_(std::move(*cri::Connection::make(socket))) {}

std::unique_ptr<cri::Runtime> RuntimeFixture::connect(cri::RuntimeLimits limits) const {
    return std::move(*cri::Runtime::make(socket, limits));
}

void RuntimeFixture::TearDown() {
    go_on();
    for (const auto& pod : pods_) {
        const auto removed = runtime->remove_sandbox(pod);
        EXPECT_TRUE(removed) << removed.error().text();
    }
}

std::string RuntimeFixture::ask(std::string_view method, const std::string& request) {
    const auto answer = own_->call("runtime.v1.RuntimeService", method, request, longest_wait);
    EXPECT_TRUE(answer) << answer.error().text();
    if (!answer) return {};
    EXPECT_EQ(answer->code, 0) << method << ": " << answer->text;
    return answer->message;
}

// PodSandboxConfig: on the host's network, so that no plugin is needed.
std::string RuntimeFixture::sandbox_config(const std::string& name, unsigned attempt) const {
    constexpr std::uint64_t node = 2;
    const auto options = message([&](http::WireWriter& writer) { writer.number(1, node); });
    const auto context = message([&](http::WireWriter& writer) { writer.bytes(1, options); });
    return message([&](http::WireWriter& writer) {
        writer.bytes(1, message([&](http::WireWriter& metadata) {
                         metadata.bytes(1, name);
                         metadata.bytes(2, uid_of(name, "uid-"));
                         metadata.bytes(3, "default");
                         metadata.number(4, attempt);
                     }));
        add_pair(writer, 6, "io.kubernetes.pod.uid", uid_of(name, "uid-"));
        writer.bytes(8, message([&](http::WireWriter& linux_config) {
                         linux_config.bytes(1, cgroup + "/pod" + name);
                         linux_config.bytes(2, context);
                     }));
    });
}

std::string RuntimeFixture::make_pod(const std::string& name, unsigned attempt) {
    const auto config = sandbox_config(name, attempt);
    auto id = first_text(ask("RunPodSandbox", message([&](http::WireWriter& writer) { writer.bytes(1, config); })));
    EXPECT_FALSE(id.empty());
    pods_.push_back(id);
    configs_.emplace_back(id, config);
    return id;
}

std::string RuntimeFixture::make_container(const std::string& pod, const std::string& name,
                                           const std::vector<std::string>& command, const std::string& image,
                                           const std::string& data) {
    auto id = try_to_make_container(pod, name, command, image, data);
    EXPECT_FALSE(id.empty()) << "no image " << image;
    return id;
}

std::string RuntimeFixture::try_to_make_container(const std::string& pod, const std::string& name,
                                                  const std::vector<std::string>& command, const std::string& image,
                                                  const std::string& data) {
    std::string pods_config;
    for (const auto& [id, config] : configs_) {
        if (id == pod) pods_config = config;
    }
    const auto config = message([&](http::WireWriter& writer) {
        writer.bytes(1, message([&](http::WireWriter& metadata) { metadata.bytes(1, name); }));
        writer.bytes(2, message([&](http::WireWriter& spec) { spec.bytes(1, image); }));
        for (const auto& word : command) writer.bytes(3, word);
        add_data(writer, data);
        add_pair(writer, 9, "io.kubernetes.pod.uid", uid_of(name, "uid-of-"));
    });
    const auto request = message([&](http::WireWriter& writer) {
        writer.bytes(1, pod);
        writer.bytes(2, config);
        writer.bytes(3, pods_config);
    });
    const auto answer = own_->call("runtime.v1.RuntimeService", "CreateContainer", request, longest_wait);
    EXPECT_TRUE(answer) << answer.error().text();
    if (!answer) return {};
    const bool has_no_image = answer->is(http::GrpcCode::not_found);
    EXPECT_TRUE(answer->is(http::GrpcCode::ok) || has_no_image) << answer->text;
    return first_text(answer->message);
}

void RuntimeFixture::start(const std::string& container) {
    (void)ask("StartContainer", message([&](http::WireWriter& writer) { writer.bytes(1, container); }));
}

void RuntimeFixture::start_shell(const std::string& container) {
    start(container);
    const auto pid = details_of(container).pid;
    EXPECT_TRUE(wait_for([&] { return is_shell_with_trap(pid); }));
}

std::string RuntimeFixture::run(const std::string& name) {
    auto container =
        make_container(make_pod(name), name, {"sh", "-c", "trap 'exit 3' TERM; while :; do sleep 0.1; done"});
    start_shell(container);
    return container;
}

std::string RuntimeFixture::sandbox_of(const std::string& container) {
    const auto all = runtime->containers();
    EXPECT_TRUE(all);
    for (const auto& one : *all) {
        if (one.id == container) return one.sandbox;
    }
    ADD_FAILURE() << "no container " << container;
    return {};
}

RuntimeContainerDetails RuntimeFixture::details_of(const std::string& container) {
    auto details = runtime->container(container);
    EXPECT_TRUE(details) << details.error().text();
    return details ? std::move(*details) : RuntimeContainerDetails{};
}

bool RuntimeFixture::wait_for(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

pid_t RuntimeFixture::containerd() const {
    pid_t pid = 0;
    std::ifstream(from_environment("CRI_CONTAINERD")) >> pid;
    return pid;
}

void RuntimeFixture::kill_containerd() {
    const auto pid = containerd();
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    EXPECT_TRUE(wait_for([&] { return ::kill(pid, 0) != 0 || parent_of(pid) == 0; }));
}

void RuntimeFixture::start_containerd() {
    EXPECT_EQ(std::system((from_environment("CRI_UP") + " > /dev/null").c_str()), 0);  // NOLINT(cert-env33-c)
    EXPECT_TRUE(wait_for([&] { return runtime->version().has_value(); }));
}

void RuntimeFixture::stop(pid_t pid) {
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    stopped_.push_back(pid);
    EXPECT_TRUE(wait_for([&] { return is_stopped(pid); }));
}

void RuntimeFixture::go_on() {
    for (const auto pid : stopped_) (void)::kill(pid, SIGCONT);
    stopped_.clear();
}

// 0: it is gone, or a zombie.
pid_t RuntimeFixture::parent_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto end = text.rfind(')');
    if (end == std::string::npos) return 0;
    std::istringstream fields(text.substr(end + 1));
    std::string state;
    pid_t parent = 0;
    fields >> state >> parent;
    return state == "Z" ? 0 : parent;
}

}  // namespace evictd::cri_test
