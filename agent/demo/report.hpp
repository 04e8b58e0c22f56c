// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How a demo is shown: as a picture on a terminal, as lines on a pipe, or as the agent's records alone.
#pragma once

#include <string>

#include "demo/demo.hpp"
#include "demo/screen.hpp"
#include "demo/view.hpp"

namespace evictd::demo {

class Report {
public:
    explicit Report(const DemoOptions& options);

    // Pictures: worth fresh figures ten times a second.
    [[nodiscard]] bool is_live() const { return !json_ && screen_.is_terminal(); }
    [[nodiscard]] codec::TextStyle style() const { return screen_.style(); }
    // Nobody reads any more.
    [[nodiscard]] bool closed() const { return screen_.closed(); }

    void open(const Scene& scene);    // everybody is there, nothing has happened
    void update(const Scene& scene);  // a new picture, or what is new of the story
    void record(const std::string& line);
    void close(const Scene& scene, const Verdict& verdict);

private:
    bool json_;
    Screen screen_;
    std::size_t lines_shown_ = 0;
};

}  // namespace evictd::demo
