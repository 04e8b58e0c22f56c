// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// JSON written straight into a string: a scenario has thousands of steps, and a value tree for each would take longer
// than deciding it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evictd::replay {

class JsonWriter {
public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    void open(char bracket) {
        separate();
        out_ += bracket;
        first_ = true;
    }
    void close(char bracket) {
        out_ += bracket;
        first_ = false;
    }
    // A field's name; its value comes next.
    void key(std::string_view name) {
        separate();
        quote(name);
        out_ += ':';
        first_ = true;
    }
    void text(std::string_view value) {
        separate();
        quote(value);
    }
    void boolean(bool value) { literal(value ? "true" : "false"); }
    void null() { literal("null"); }
    void number(std::int64_t value) { literal(std::to_string(value)); }

    template <class Range, class Write>
    void list(const Range& range, const Write& write) {
        open('[');
        for (const auto& element : range) write(element);
        close(']');
    }

private:
    void separate() {
        if (!first_) out_ += ',';
        first_ = false;
    }
    void literal(std::string_view value) {
        separate();
        out_ += value;
    }
    void quote(std::string_view value);

    std::string& out_;
    bool first_ = true;
};

}  // namespace evictd::replay
