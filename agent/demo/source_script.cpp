// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/source_script.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "command/demo_options.hpp"
#include "sys/fd.hpp"
#include "sys/sibling.hpp"

namespace evictd::demo {
namespace {

struct Script {
    const char* path;
    const char* starts;  // what needs root
};

Script script_of(const std::string& scenario) {
    if (scenario == command::cluster_scenario) {
        return {"tests/kube/demo.sh", "a kubelet and containerd"};
    }
    if (scenario == command::forkbomb_scenario) {
        return {"tests/adversary/demo.sh", "a fork bomb in a cgroup"};
    }
    return {"tests/cri/demo.sh", "containerd, and mounts a filesystem"};
}

}  // namespace

Error become_script(const std::string& scenario) {
    const Script wanted = script_of(scenario);
    auto script = sys::source_program(wanted.path);
    if (!script && script.error().kind != ErrorKind::not_permitted) {
        return {ErrorKind::failed, "demo",
                "scenario " + scenario + " is a script of evictd's source tree, which is not here: " +
                    script.error().what + ": " + script.error().why,
                "run 'make demo SCENARIO=" + scenario + "' in a source tree on Debian 12"};
    }
    const auto agent = sys::sibling_program("evictd");
    if (!script || !agent) {
        return script ? agent.error() : script.error();
    }
    if (::geteuid() != 0) {
        return {ErrorKind::not_permitted, "demo", "scenario " + scenario + " needs root: it starts " + wanted.starts,
                "sudo"};
    }
    const std::string directory = agent->substr(0, agent->rfind('/') + 1);
    if (::setenv("EVICTD", agent->c_str(), 1) != 0 || ::setenv("VM_LOAD", (directory + "vm_load").c_str(), 1) != 0) {
        return sys::fail_errno("demo: environment", errno).value();
    }
    std::array<char*, 2> arguments{script->data(), nullptr};
    ::execv(script->c_str(), arguments.data());
    return sys::fail_errno(*script, errno).value();
}

}  // namespace evictd::demo
