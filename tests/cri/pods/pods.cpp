// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods on a container runtime as a kubelet would have them made, for scripts that have no kubelet: each call does one
// thing, over CRI. And what a script is too slow for: the moment at which a filesystem runs short.
//
// usage: cri_pods pod SOCKET NAMESPACE NAME UID CGROUP                  prints the sandbox's ID
//        cri_pods run SOCKET SANDBOX NAMESPACE NAME UID CGROUP ATTEMPT IMAGE DATA COMMAND...
//                                       a container "main" with the directory DATA as its /data; prints its ID
//        cri_pods ended SOCKET CONTAINER                                waits until it has exited
//        cri_pods remove SOCKET SANDBOX                                 with its containers
//        cri_pods crossing DIRECTORY BYTES      waits until less is available there; prints the time as date +%s.%6N
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "../wire_text.hpp"
#include "cri/connection.hpp"
#include "cri/runtime.hpp"
#include "http/wire_reader.hpp"
#include "http/wire_writer.hpp"

namespace evictd {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

using cri_test::first_text;
using cri_test::message;

constexpr auto patience = 60s;
constexpr auto container_name = "main";

[[noreturn]] void give_up(const std::string& why) { throw std::runtime_error(why); }

template <class Value>
Value taken(Result<Value> result) {
    if (!result) give_up(result.error().text());
    return std::move(*result);
}

void add_entry(http::WireWriter& writer, std::uint32_t field, std::string_view key, std::string_view value) {
    writer.bytes(field, message([&](http::WireWriter& entry) {
                     entry.bytes(1, key);
                     entry.bytes(2, value);
                 }));
}

struct PodOfScript {
    std::string name_space;
    std::string name;
    std::string uid;
    std::string cgroup;

    explicit PodOfScript(const Words& words) : name_space(words[0]), name(words[1]), uid(words[2]), cgroup(words[3]) {}
    [[nodiscard]] std::string logs() const { return "/var/log/pods/" + name_space + "_" + name + "_" + uid; }
};

void add_labels(http::WireWriter& writer, std::uint32_t field, const PodOfScript& pod) {
    add_entry(writer, field, "io.kubernetes.pod.name", pod.name);
    add_entry(writer, field, "io.kubernetes.pod.namespace", pod.name_space);
    add_entry(writer, field, "io.kubernetes.pod.uid", pod.uid);
}

// PodSandboxConfig: on the host's network, so that no plugin is needed, and without the host's resolv.conf, which may
// be a link to what is not there.
std::string sandbox_config(const PodOfScript& pod) {
    constexpr std::uint64_t node = 2;
    const auto options = message([&](http::WireWriter& writer) { writer.number(1, node); });
    const auto context = message([&](http::WireWriter& writer) { writer.bytes(1, options); });
    return message([&](http::WireWriter& writer) {
        writer.bytes(1, message([&](http::WireWriter& metadata) {
                         metadata.bytes(1, pod.name);
                         metadata.bytes(2, pod.uid);
                         metadata.bytes(3, pod.name_space);
                     }));
        writer.bytes(3, pod.logs());
        writer.bytes(4, message([](http::WireWriter& dns) { dns.bytes(1, "127.0.0.1"); }));
        add_labels(writer, 6, pod);
        writer.bytes(8, message([&](http::WireWriter& linux_config) {
                         linux_config.bytes(1, pod.cgroup);
                         linux_config.bytes(2, context);
                     }));
    });
}

std::string ask(const std::string& socket, std::string_view method, const std::string& request) {
    const auto connection = taken(cri::Connection::make(socket));
    auto answer = taken(connection->call("runtime.v1.RuntimeService", method, request, patience));
    if (answer.code != 0) give_up(fmt::format("{}: {}", method, answer.text));
    return std::move(answer.message);
}

std::string make_sandbox(const std::string& socket, const PodOfScript& pod) {
    std::filesystem::create_directories(pod.logs() + "/" + container_name);
    return first_text(
        ask(socket, "RunPodSandbox", message([&](http::WireWriter& writer) { writer.bytes(1, sandbox_config(pod)); })));
}

// SANDBOX NAMESPACE NAME UID CGROUP ATTEMPT IMAGE DATA COMMAND...
std::string run_container(const std::string& socket, const Words& words) {
    constexpr std::size_t own = 8;
    const PodOfScript pod({words.begin() + 1, words.begin() + 5});
    const auto& attempt = words[5];
    const auto config = message([&](http::WireWriter& writer) {
        writer.bytes(1, message([&](http::WireWriter& metadata) {
                         metadata.bytes(1, container_name);
                         metadata.number(2, std::stoul(attempt));
                     }));
        writer.bytes(2, message([&](http::WireWriter& spec) { spec.bytes(1, words[6]); }));
        for (auto word = words.begin() + own; word != words.end(); ++word) writer.bytes(3, *word);
        writer.bytes(7, message([&](http::WireWriter& mount) {
                         mount.bytes(1, "/data");
                         mount.bytes(2, words[7]);
                     }));
        add_labels(writer, 9, pod);
        add_entry(writer, 9, "io.kubernetes.container.name", container_name);
        writer.bytes(11, fmt::format("{}/{}.log", container_name, attempt));
    });
    auto id = first_text(ask(socket, "CreateContainer", message([&](http::WireWriter& writer) {
                                 writer.bytes(1, words[0]);
                                 writer.bytes(2, config);
                                 writer.bytes(3, sandbox_config(pod));
                             })));
    (void)ask(socket, "StartContainer", message([&](http::WireWriter& writer) { writer.bytes(1, id); }));
    return id;
}

void wait_until_ended(const std::string& socket, const std::string& id) {
    const auto runtime = taken(cri::Runtime::make(socket));
    const auto end = std::chrono::steady_clock::now() + patience;
    while (taken(runtime->container(id)).container.state != ContainerState::exited) {
        if (std::chrono::steady_clock::now() > end) give_up(id + " does not exit");
        std::this_thread::sleep_for(20ms);
    }
}

// As a kubelet does, again and again: of a container that was killed a moment ago the runtime may not know yet.
void remove_sandbox(const std::string& socket, const std::string& id) {
    const auto runtime = taken(cri::Runtime::make(socket));
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
        auto done = runtime->stop_sandbox(id);
        if (done) done = runtime->remove_sandbox(id);
        if (done) return;
        if (std::chrono::steady_clock::now() > end) give_up(done.error().text());
        std::this_thread::sleep_for(100ms);
    }
}

std::string crossing(const std::string& directory, std::uint64_t bytes) {
    while (true) {
        struct statvfs now {};
        if (::statvfs(directory.c_str(), &now) != 0) give_up(directory + ": cannot be measured");
        const auto at = std::chrono::system_clock::now().time_since_epoch();
        if (now.f_bavail * now.f_frsize < bytes) {
            const auto us = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
            return fmt::format("{}.{:06}", us / 1000000, us % 1000000);
        }
        std::this_thread::sleep_for(200us);
    }
}

// What it prints.
std::string carry_out(const std::string& verb, const Words& words) {
    const auto at_least = [&](std::size_t count) {
        if (words.size() < count) give_up("too few arguments");
    };
    at_least(2);
    const Words rest(words.begin() + 1, words.end());
    if (verb == "crossing") return crossing(words[0], std::stoull(words[1]));
    if (verb == "ended") return wait_until_ended(words[0], words[1]), "";
    if (verb == "remove") return remove_sandbox(words[0], words[1]), "";
    if (verb == "pod") return at_least(5), make_sandbox(words[0], PodOfScript(rest));
    if (verb == "run") return at_least(10), run_container(words[0], rest);
    give_up("no verb '" + verb + "'");
}

}  // namespace
}  // namespace evictd

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + std::min(count, 2), arguments + count);
    try {
        const auto said = evictd::carry_out(count > 1 ? arguments[1] : "", words);
        if (!said.empty()) std::puts(said.c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cri_pods: %s\n", error.what());
        return 1;
    }
}
