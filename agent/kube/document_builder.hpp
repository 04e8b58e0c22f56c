// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Builds one Document from a parser's events, the same for YAML and JSON, and refuses what would grow without bound or
// mean two things at once. Used by document.cpp only.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/document.hpp"

namespace evictd::kube {

// Ends a parse from within the parser's callbacks. It never leaves parse_documents().
struct Refused : std::exception {
    Refused(int at_line, std::string why_text, std::string what_to_do)
        : line(at_line), why(std::move(why_text)), remedy(std::move(what_to_do)) {}
    [[nodiscard]] const char* what() const noexcept override { return why.c_str(); }
    int line;
    std::string why;
    std::string remedy;
};

class DocumentBuilder {
public:
    using Anchor = std::size_t;  // 0: none

    explicit DocumentBuilder(std::size_t budget);

    void start(int line);
    void start_map(int line, Anchor anchor = 0);
    void start_list(int line, Anchor anchor = 0);
    void key(std::string name, int line, bool merge = false);  // merge: YAML's `<<`
    void end();                                                // of the innermost map or list
    void scalar(nlohmann::json value, int line, Anchor anchor = 0);
    void alias(Anchor anchor, int line);
    [[nodiscard]] bool wants_key() const;
    // The text of a scalar that was anchored, for an alias that stands as a key.
    [[nodiscard]] const nlohmann::json* anchored(Anchor anchor) const;
    [[nodiscard]] Document take();

private:
    struct Frame {
        nlohmann::json value;
        std::size_t line_entry = 0;
        int line = 0;
        Anchor anchor = 0;
        std::size_t budget_before = 0;
        bool has_key = false;
        bool merge = false;  // the key is `<<`
        std::string key;
        int key_line = 0;
        std::vector<nlohmann::json> merges;
    };
    struct Kept {
        nlohmann::json value;
        std::size_t cost;
    };

    void open(nlohmann::json value, int line, Anchor anchor);
    std::size_t note_line(int line);
    void spend(std::size_t amount, int line);
    void keep(Anchor anchor, const nlohmann::json& value, std::size_t cost, int line);
    void place(nlohmann::json value, int line);
    static void add_merge(Frame& frame, nlohmann::json value, int line);

    std::vector<Frame> open_;
    Document document_;
    std::map<Anchor, Kept> anchors_;
    std::size_t limit_;
    std::size_t budget_;   // what may still come, over all documents
    std::size_t aliases_;  // of that, through aliases
};

}  // namespace evictd::kube
