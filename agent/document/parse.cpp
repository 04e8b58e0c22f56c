// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which of the two parsers reads a text.
#include <utility>

#include "document/node.hpp"
#include "document/parsers.hpp"

namespace evictd::document {
namespace {

// JSON is YAML too, but a tenth of the work for its own parser, in one line or many.
bool begins_as_json(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos || text[first] != '{') return false;
    const auto next = text.find_first_not_of(blanks, first + 1);
    return next != std::string_view::npos && text[next] == '"';
}

// What is bigger and begins as JSON was written by a program: reading it again as YAML would not make it right.
constexpr std::size_t longest_read_twice = std::size_t{1} << 20U;

std::string size_text(std::size_t bytes) {
    return bytes % (1U << 20U) == 0 ? std::to_string(bytes >> 20U) + " MiB" : std::to_string(bytes >> 10U) + " KiB";
}

// Of a text that is neither: what was read further was meant.
bool fails_no_later(const std::vector<Document>& yaml, const Document& json) {
    const Document& last = yaml.back();
    const bool is_broken = last.root.kind == Node::Kind::null && !last.faults.empty();
    return is_broken && last.faults.front().line <= json.faults.front().line;
}

std::vector<Document> one(Document document) {
    std::vector<Document> documents;
    documents.push_back(std::move(document));
    return documents;
}

}  // namespace

const std::vector<Node>& Node::each() const {
    static const std::vector<Node> none;
    return children ? *children : none;
}

const Node* Node::find(std::string_view name) const {
    if (kind != Kind::map) return nullptr;
    for (const Node& entry : each()) {
        if (entry.key == name) return &entry;
    }
    return nullptr;
}

std::vector<Document> parse(std::string_view text, const std::string& file, Syntax syntax, const Limits& limits) {
    if (text.size() > limits.bytes) {
        return one({{},
                    {{file,
                      0,
                      0,
                      {},
                      "larger than " + size_text(limits.bytes),
                      "is this " + std::string(limits.is_it) + "?"}}});
    }
    if (syntax == Syntax::yaml && !begins_as_json(text)) return parse_yaml(text, file, limits);
    JsonOutcome read = parse_json(text, file, limits);
    const bool may_be_yaml = syntax == Syntax::yaml && text.size() <= longest_read_twice;
    if (read.is_json || !may_be_yaml) return one(std::move(read.document));
    std::vector<Document> yaml = parse_yaml(text, file, limits);
    return fails_no_later(yaml, read.document) ? one(std::move(read.document)) : yaml;
}

Document parse_one(std::string_view text, const std::string& file, const Limits& limits) {
    std::vector<Document> documents = parse(text, file, Syntax::yaml, limits);
    if (documents.empty()) return {};
    if (documents.size() == 1) return std::move(documents.front());
    const Document& second = documents[1];
    const int line = second.faults.empty() ? second.root.line : second.faults.front().line;
    return {{},
            {{file,
              line,
              0,
              {},
              "more than one document",
              "keep one: remove `---` and what follows, or the lines behind the first"}}};
}

}  // namespace evictd::document
