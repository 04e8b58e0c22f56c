// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Builds one Document from a parser's events, the same for YAML and JSON, and refuses what would grow without bound or
// mean two things at once. Used by this folder's parsers only.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "document/node.hpp"

namespace evictd::document {

// Ends a parse from within the parser's callbacks. It never leaves parse().
struct Refused : std::exception {
    explicit Refused(Fault refused) : fault(std::move(refused)) {}
    [[nodiscard]] const char* what() const noexcept override { return fault.what.c_str(); }
    Fault fault;
};

struct Mark {
    int line = 1;
    int column = 0;
};

class NodeBuilder {
public:
    using Anchor = std::size_t;  // 0: none

    // Both outlive it.
    NodeBuilder(const std::string& file, const Limits& limits);

    void start(Mark at);  // a document
    void open(Node::Kind kind, Mark at, Anchor anchor = 0);
    void key(std::string name, Mark at, bool merge = false);  // merge: YAML's `<<`
    void close();                                             // the innermost list or map
    void scalar(Node::Kind kind, std::string text, Mark at, Anchor anchor = 0);
    void alias(Anchor anchor, Mark at);  // a key too
    [[nodiscard]] bool wants_key() const;
    [[nodiscard]] Mark innermost() const;  // where the list or map begins that is open
    [[nodiscard]] Document take() { return std::move(document_); }
    [[noreturn]] void refuse(Mark at, std::string what, std::string remedy) const;

private:
    struct Kept {
        Node node;
        std::size_t values = 0;
        std::size_t height = 0;  // lists and maps within each other, itself included
    };
    struct Merge {
        std::size_t before = 0;  // of the map's own entries, which one it stands before
        Node node;
    };
    struct Frame {
        Kept made;
        Anchor anchor = 0;
        std::vector<Node> children;
        std::vector<Merge> merges;
        bool has_key = false;
        bool merge = false;  // the key is `<<`
        std::string key;
        Mark key_at;
    };

    void spend(std::size_t values, Mark at);
    void keep(Anchor anchor, const Kept& kept);
    void place(Node node, std::size_t height);
    void take_merge(Frame& frame, const Node& node) const;
    void report(Mark at, std::string key, std::string what, std::string remedy);
    bool report_given_twice(std::vector<Node>& entries);  // whether there were any
    static void apply_merges(Frame& frame);
    [[nodiscard]] std::string path() const;  // of the innermost key

    const std::string& file_;
    const Limits& limits_;
    std::vector<Frame> open_;
    Document document_;
    Mark start_;
    std::map<Anchor, Kept> anchors_;
    std::size_t values_ = 0;  // so far, over all documents
};

}  // namespace evictd::document
