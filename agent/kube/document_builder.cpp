// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The guards are here, so that both syntaxes have them: depth, size after aliases, and keys given twice.
#include "kube/document_builder.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::kube {
namespace {

// A pod's deepest field is about 12 levels down, in a List 14. Parsers recurse, and a lane's stack is small: 64 levels
// need about 100 KiB of it.
constexpr std::size_t max_depth = 64;

constexpr std::size_t cost_of_a_document = 64;
constexpr std::size_t cost_of_a_value = 16;  // see manifest_budget

}  // namespace

DocumentBuilder::DocumentBuilder(std::size_t budget)
    : limit_(budget), budget_(budget), aliases_(std::min(budget, manifest_budget)) {}

void DocumentBuilder::start(int line) {
    spend(cost_of_a_document, line);
    open_.clear();
    anchors_.clear();
    document_ = {};
    document_.lines.start(line);
}

void DocumentBuilder::spend(std::size_t amount, int line) {
    if (amount > budget_) {
        throw Refused(line, "comes to more than " + std::to_string(limit_ >> 20U) + " MiB of values",
                      "do not use aliases of aliases, and put fewer pods into one file");
    }
    budget_ -= amount;
}

bool DocumentBuilder::wants_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key;
}

std::size_t DocumentBuilder::note_line(int line) {
    if (open_.empty()) return 0;
    const Frame& parent = open_.back();
    if (parent.value.is_object()) return document_.lines.add(parent.line_entry, parent.key, parent.key_line);
    return document_.lines.add(parent.line_entry, "[" + std::to_string(parent.value.size()) + "]", line);
}

void DocumentBuilder::open(nlohmann::json value, int line, Anchor anchor) {
    if (open_.size() >= max_depth)
        throw Refused(line, "nested more than " + std::to_string(max_depth) + " levels deep", "is it a Pod manifest?");
    if (wants_key()) throw Refused(line, "a map or list stands where a key should be", "use plain words as keys");
    Frame frame;
    frame.budget_before = budget_;
    frame.line_entry = note_line(line);
    frame.value = std::move(value);
    frame.line = line;
    frame.anchor = anchor;
    spend(cost_of_a_value, line);
    open_.push_back(std::move(frame));
}

void DocumentBuilder::start_map(int line, Anchor anchor) { open(nlohmann::json::object(), line, anchor); }
void DocumentBuilder::start_list(int line, Anchor anchor) { open(nlohmann::json::array(), line, anchor); }

void DocumentBuilder::key(std::string name, int line, bool merge) {
    Frame& frame = open_.back();
    spend(cost_of_a_value + name.size(), line);
    if (!merge && frame.value.contains(name)) {
        throw Refused(line, "the key " + in_quotes(name) + " is given twice in the same map", "keep one of them");
    }
    frame.key = std::move(name);
    frame.key_line = line;
    frame.has_key = true;
    frame.merge = merge;
}

void DocumentBuilder::end() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    // Keys of the map itself win over merged ones, earlier merges over later ones.
    for (auto& merged : frame.merges) frame.value.insert(merged.begin(), merged.end());
    if (frame.anchor != 0) keep(frame.anchor, frame.value, frame.budget_before - budget_, frame.line);
    place(std::move(frame.value), frame.line);
}

void DocumentBuilder::scalar(nlohmann::json value, int line, Anchor anchor) {
    const std::size_t cost = cost_of_a_value + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    spend(cost, line);
    if (anchor != 0) keep(anchor, value, cost, line);
    note_line(line);
    place(std::move(value), line);
}

void DocumentBuilder::alias(Anchor anchor, int line) {
    const auto kept = anchors_.find(anchor);
    if (kept == anchors_.end()) throw Refused(line, "an alias stands inside what it names", "write the fields out");
    spend(kept->second.cost, line);
    if (kept->second.cost > aliases_) {
        throw Refused(line,
                      "its aliases come to more than " + std::to_string(manifest_budget >> 20U) + " MiB of values",
                      "do not use aliases of aliases");
    }
    aliases_ -= kept->second.cost;
    note_line(line);
    place(kept->second.value, line);
}

const nlohmann::json* DocumentBuilder::anchored(Anchor anchor) const {
    const auto kept = anchors_.find(anchor);
    return kept == anchors_.end() ? nullptr : &kept->second.value;
}

void DocumentBuilder::keep(Anchor anchor, const nlohmann::json& value, std::size_t cost, int line) {
    spend(cost, line);  // it is kept a second time
    anchors_.insert_or_assign(anchor, Kept{value, cost});
}

void DocumentBuilder::place(nlohmann::json value, int line) {
    if (open_.empty()) {
        document_.value = std::move(value);
        return;
    }
    Frame& frame = open_.back();
    if (frame.value.is_array()) {
        frame.value.push_back(std::move(value));
        return;
    }
    frame.has_key = false;
    if (frame.merge)
        add_merge(frame, std::move(value), line);
    else
        frame.value[frame.key] = std::move(value);
}

void DocumentBuilder::add_merge(Frame& frame, nlohmann::json value, int line) {
    if (value.is_object()) {
        frame.merges.push_back(std::move(value));
        return;
    }
    for (auto& element : value) {
        if (!element.is_object()) throw Refused(line, "<< takes a map or a list of maps", "write the fields out");
        frame.merges.push_back(std::move(element));
    }
}

Document DocumentBuilder::take() { return std::move(document_); }

}  // namespace evictd::kube
