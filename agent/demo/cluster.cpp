// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/cluster.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/sibling.hpp"

namespace evictd::demo {
namespace {

constexpr const char* script_path = "tests/kube/demo.sh";

}  // namespace

Error become_cluster_demo() {
    auto script = sys::source_program(script_path);
    if (!script && script.error().kind != ErrorKind::not_permitted) {
        return {ErrorKind::failed, "demo",
                "scenario cluster is a script of evictd's source tree, which is not here: " + script.error().what +
                    ": " + script.error().why,
                "run 'make demo SCENARIO=cluster' in a source tree on Debian 12"};
    }
    const auto agent = sys::sibling_program("evictd");
    if (!script || !agent) {
        return script ? agent.error() : script.error();
    }
    if (::geteuid() != 0) {
        return {ErrorKind::not_permitted, "demo", "scenario cluster needs root: it starts a kubelet and containerd",
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
