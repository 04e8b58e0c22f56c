// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A real containerd for tests: pods and containers that go with the test, and its processes, to be stopped and started.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "cri/connection.hpp"
#include "cri/runtime.hpp"

namespace evictd::cri_test {

using namespace std::chrono_literals;

// Of the rig, from its environment variables (see run.sh).
[[nodiscard]] std::string from_environment(const char* name);

constexpr std::string_view pause_image = "localhost/pause:1";
// In the verbose answer to Status: containerd 2 has no such setting any more. It pins the image.
[[nodiscard]] inline bool says_its_sandbox_image() { return from_environment("CRI_VERSION").starts_with("1."); }

class RuntimeFixture : public ::testing::Test {
protected:
    RuntimeFixture();
    void TearDown() override;

    [[nodiscard]] std::unique_ptr<cri::Runtime> connect(cri::RuntimeLimits limits = {}) const;
    // Both fail the test if they cannot; the result is an ID. The pod's uid is "uid-NAME", or NAME if it is a UUID; a
    // container's likewise, "uid-of-NAME". `data`: a directory that the container has as its /data; "image:NAME": an
    // image.
    std::string make_pod(const std::string& name, unsigned attempt = 0);
    std::string make_container(const std::string& pod, const std::string& name, const std::vector<std::string>& command,
                               const std::string& image = "localhost/load:1", const std::string& data = {});
    // Empty where the image is gone.
    std::string try_to_make_container(const std::string& pod, const std::string& name,
                                      const std::vector<std::string>& command, const std::string& image,
                                      const std::string& data = {});
    void start(const std::string& container);
    // The same of a shell with a trap for SIGTERM: until it is set. Before, runc's own program is there, which dies of
    // it.
    void start_shell(const std::string& container);
    // A pod with one container that runs until it is stopped, and exits with 3. Its pod: sandbox_of().
    std::string run(const std::string& name);
    [[nodiscard]] std::string sandbox_of(const std::string& container);
    [[nodiscard]] RuntimeContainerDetails details_of(const std::string& container);
    // What the tests need and evictd does not: the answer's message.
    std::string ask(std::string_view method, const std::string& request);

    // Ends early; the limit is generous.
    static bool wait_for(const std::function<bool()>& holds);

    [[nodiscard]] pid_t containerd() const;
    void kill_containerd();   // SIGKILL, and waits until it is gone
    void start_containerd();  // after kill_containerd(): waits until it answers
    void stop(pid_t pid);     // SIGSTOP, and waits until it has stopped; TearDown() continues it
    void go_on();
    // Of the pod's processes.
    [[nodiscard]] static pid_t parent_of(pid_t pid);

    std::string socket;
    std::string cgroup;
    std::unique_ptr<cri::Runtime> runtime;

private:
    std::unique_ptr<cri::Connection> own_;
    std::vector<std::string> pods_;
    std::vector<pid_t> stopped_;
    std::string sandbox_config(const std::string& name, unsigned attempt) const;
    std::vector<std::pair<std::string, std::string>> configs_;  // of pods_, by ID
};

}  // namespace evictd::cri_test
