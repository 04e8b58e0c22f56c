// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent beside a real containerd, with pods from manifests.
#pragma once

#include <string>

#include <sys/types.h>

#include "fakes/temp_dir.hpp"
#include "runtime_fixture.hpp"

namespace evictd::cri_test {

class AgentFixture : public RuntimeFixture {
protected:
    void TearDown() override;

    // `config`: lines of the file; `evictd`: of its section of that name. In the rig's mount namespace, as there the
    // directories of a node are its own, and in one more of its own, in which `prepare`, a shell's commands, runs
    // first; with containerd's socket where a runtime usually has it.
    void start_agent(const std::string& config, const std::string& evictd = {}, const std::string& prepare = {});
    void end_agent();
    [[nodiscard]] std::string events() const { return text_of(directory_ / "events.jsonl"); }
    [[nodiscard]] std::string status() const;  // JSON; empty: it does not answer
    [[nodiscard]] static std::string text_of(const std::string& path);
    [[nodiscard]] static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    [[nodiscard]] bool has_image(const std::string& tag);
    void import_image(const std::string& name);
    // Of the process that keeps the rig's mount namespace.
    [[nodiscard]] static pid_t keeper();
    // Also what is mounted only there.
    [[nodiscard]] static std::string in_rig(const std::string& path) {
        return "/proc/" + std::to_string(keeper()) + "/root" + path;
    }
    [[nodiscard]] static bool run_in_rig(const std::string& command);

    fakes::TempDir directory_;

private:
    pid_t agent_ = 0;
};

}  // namespace evictd::cri_test
