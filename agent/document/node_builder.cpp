// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The guards are here, so that both syntaxes have them: depth, size after aliases, and keys given twice.
#include "document/node_builder.hpp"

#include <algorithm>
#include <utility>

namespace evictd::document {
namespace {

// A pod's deepest field is about 12 levels down, in a List 14; a configuration's 5. Parsers recurse, and a lane's stack
// is small: 64 levels need about 100 KiB of it.
constexpr std::size_t max_depth = 64;
constexpr std::size_t values_of_a_document = 4;

std::size_t cost_of(std::string_view text) { return 1 + text.size() / 16; }

}  // namespace

NodeBuilder::NodeBuilder(const std::string& file, const Limits& limits) : file_(file), limits_(limits) {}

void NodeBuilder::start(Mark at) {
    spend(values_of_a_document, at);
    open_.clear();
    anchors_.clear();
    document_ = {};
    start_ = at;
}

void NodeBuilder::refuse(Mark at, std::string what, std::string remedy) const {
    throw Refused({file_, at.line, at.column, {}, std::move(what), std::move(remedy)});
}

void NodeBuilder::report(Mark at, std::string key, std::string what, std::string remedy) {
    if (document_.faults.size() >= max_faults) return;
    document_.faults.push_back({file_, at.line, at.column, std::move(key), std::move(what), std::move(remedy)});
}

void NodeBuilder::spend(std::size_t values, Mark at) {
    values_ += values;
    if (values_ <= limits_.values) return;
    refuse(at, "there are more than " + std::to_string(limits_.values) + " values",
           "is this " + std::string(limits_.is_it) + "? Split it, and use no aliases of aliases");
}

bool NodeBuilder::wants_key() const {
    return !open_.empty() && open_.back().made.node.kind == Node::Kind::map && !open_.back().has_key;
}

Mark NodeBuilder::innermost() const {
    if (open_.empty()) return start_;
    const Node& node = open_.back().made.node;
    return {node.line, node.column};
}

std::string NodeBuilder::path() const {
    std::string path;
    for (const Frame& frame : open_) {
        if (frame.has_key) append_name(path, frame.key);
        if (frame.made.node.kind == Node::Kind::list && &frame != &open_.back())
            append_index(path, frame.children.size());
    }
    return path;
}

void NodeBuilder::open(Node::Kind kind, Mark at, Anchor anchor) {
    if (open_.size() >= max_depth) {
        refuse(at, "nested more than " + std::to_string(max_depth) + " deep",
               "is this " + std::string(limits_.is_it) + "?");
    }
    spend(1, at);
    Frame frame;
    frame.made.node.kind = kind;
    frame.made.node.line = at.line;
    frame.made.node.column = at.column;
    frame.made.values = values_ - 1;  // before it; made good in close()
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
}

void NodeBuilder::key(std::string name, Mark at, bool merge) {
    spend(cost_of(name), at);
    Frame& frame = open_.back();
    frame.key = std::move(name);
    frame.key_at = at;
    frame.has_key = true;
    frame.merge = merge;
    if (merge && !limits_.expands) report(at, path(), "merge keys (<<) are not supported", "write the keys out");
}

// Only a finished list or map can be named by an alias: that is what keeps circles out.
void NodeBuilder::close() {
    const bool is_ambiguous = report_given_twice(open_.back().children);
    Frame frame = std::move(open_.back());
    open_.pop_back();
    frame.made.node.is_ambiguous |= is_ambiguous;
    if (!frame.merges.empty() && !is_ambiguous) apply_merges(frame);
    frame.children.shrink_to_fit();
    Kept& made = frame.made;
    made.node.children = std::make_shared<const std::vector<Node>>(std::move(frame.children));
    made.values = values_ - made.values;
    ++made.height;
    keep(frame.anchor, made);
    place(std::move(made.node), made.height);
}

void NodeBuilder::scalar(Node::Kind kind, std::string text, Mark at, Anchor anchor) {
    const std::size_t cost = cost_of(text);
    spend(cost, at);
    Node node;
    node.kind = kind;
    node.line = at.line;
    node.column = at.column;
    node.text = std::move(text);
    keep(anchor, {node, cost, 0});
    place(std::move(node), 0);
}

void NodeBuilder::alias(Anchor anchor, Mark at) {
    const auto kept = anchors_.find(anchor);
    if (kept == anchors_.end()) refuse(at, "an alias refers to a value that contains it", "write the value out");
    const auto& [original, values, height] = kept->second;
    if (wants_key()) {
        if (original.kind != Node::Kind::text) refuse(at, "a key is not plain text", "write `key: value`");
        return key(original.text, at);
    }
    if (open_.size() + height > max_depth)
        refuse(at, "nested more than " + std::to_string(max_depth) + " deep", "use no aliases of aliases");
    spend(limits_.expands ? values : 1, at);
    Node node = original;
    node.line = at.line;
    node.column = at.column;
    place(std::move(node), height);
}

void NodeBuilder::keep(Anchor anchor, const Kept& kept) {
    if (anchor != 0) anchors_.insert_or_assign(anchor, kept);
}

void NodeBuilder::place(Node node, std::size_t height) {
    if (open_.empty()) {
        node.line = start_.line;
        document_.root = std::move(node);
        return;
    }
    Frame& frame = open_.back();
    frame.made.height = std::max(frame.made.height, height);
    frame.made.node.is_ambiguous |= node.is_ambiguous;
    if (frame.made.node.kind == Node::Kind::map) {
        if (!std::exchange(frame.has_key, false))
            refuse({node.line, node.column}, "a key is not plain text", "write `key: value`");
        if (frame.merge) return take_merge(frame, node);
        node.key = std::move(frame.key);
        node.line = frame.key_at.line;
        node.column = frame.key_at.column;
    }
    frame.children.push_back(std::move(node));
}

void NodeBuilder::take_merge(Frame& frame, const Node& node) const {
    const auto is_map = [](const Node& one) { return one.kind == Node::Kind::map; };
    const std::size_t before = frame.children.size();
    if (is_map(node)) return frame.merges.push_back({before, node});
    const bool is_list = node.kind == Node::Kind::list && std::all_of(node.each().begin(), node.each().end(), is_map);
    if (!is_list) refuse(frame.key_at, "<< takes a map or a list of maps", "write the keys out");
    // Earlier ones win over later ones.
    const auto& maps = node.each();
    std::for_each(maps.rbegin(), maps.rend(), [&](const Node& map) { frame.merges.push_back({before, map}); });
}

// In the file's order, as go-yaml v2, which the kubelet uses: what stands later wins, merged or the map's own.
void NodeBuilder::apply_merges(Frame& frame) {
    std::vector<Node> own = std::exchange(frame.children, {});
    std::map<std::string, std::size_t> places;
    const auto put = [&](Node entry) {
        const auto [place, is_new] = places.emplace(entry.key, frame.children.size());
        if (is_new)
            frame.children.push_back(std::move(entry));
        else
            frame.children[place->second] = std::move(entry);
    };
    auto merge = frame.merges.begin();
    for (std::size_t i = 0; i <= own.size(); ++i) {
        for (; merge != frame.merges.end() && merge->before == i; ++merge)
            std::for_each(merge->node.each().begin(), merge->node.each().end(), put);
        if (i < own.size()) put(std::move(own[i]));
    }
}

bool NodeBuilder::report_given_twice(std::vector<Node>& entries) {
    if (open_.back().made.node.kind != Node::Kind::map) return false;
    bool is_any = false;
    std::vector<Node*> sorted;
    sorted.reserve(entries.size());
    for (Node& entry : entries) sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Node* a, const Node* b) { return a->key < b->key; });
    const Node* first = nullptr;
    for (Node* entry : sorted) {
        if (first == nullptr || first->key != entry->key) {
            first = entry;
            continue;
        }
        is_any = entry->is_ambiguous = true;
        std::string key = path();
        append_name(key, entry->key);
        report({entry->line, entry->column}, std::move(key), "given twice",
               "the first is on line " + std::to_string(first->line) + ": keep one");
    }
    return is_any;
}

}  // namespace evictd::document
