// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/object_splitter.hpp"

#include <algorithm>
#include <utility>

namespace evictd::kube {
namespace {

// A list's kind and metadata are some hundred bytes, with a continue token.
constexpr std::size_t most_of_the_rest = std::size_t{64} << 10U;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

Status not_json(std::string why) { return fail(ErrorKind::invalid, "the server's reply", std::move(why)); }

}  // namespace

Status ObjectSplitter::feed(std::string_view piece, const OnObject& on_object) {
    while (!piece.empty()) {
        // Most of an object is text.
        const auto run = in_text_ && !is_escaped_ ? std::min(piece.find_first_of("\"\\"), piece.size()) : 0;
        auto taken = run > 0 ? keep(piece.substr(0, run)) : take(piece.front(), on_object);
        if (!taken) return taken;
        piece.remove_prefix(std::max<std::size_t>(run, 1));
    }
    return {};
}

Status ObjectSplitter::take(char c, const OnObject& on_object) {
    if (in_text_) {
        const bool ends = c == '"' && !is_escaped_;
        is_escaped_ = c == '\\' && !is_escaped_;
        auto kept = keep({&c, 1});
        if (ends) end_text();
        return kept;
    }
    if (c == '{' || c == '[') return open(c);
    if (c == '}' || c == ']') return close(c, on_object);
    return take_plain(c);
}

Status ObjectSplitter::take_plain(char c) {
    if (!is_reading_ && (depth_ == 0 || in_items_)) {
        if (is_blank(c) || (in_items_ && c == ',')) return {};
        return not_json(in_items_ ? "an item is not an object" : "is not JSON");
    }
    if (c == '"') {
        in_text_ = true;
        text_begin_ = rest_.size() + 1;
    } else if (depth_ == 1 && !is_reading_) {
        if (c == ':') is_key_items_ = last_text_ == "items";
        if (c == ',') is_key_items_ = false;
    }
    return keep({&c, 1});
}

// The quotation mark that ends it is in rest_.
void ObjectSplitter::end_text() {
    in_text_ = false;
    if (is_reading_ || depth_ != 1) return;
    last_text_.assign(rest_, text_begin_, rest_.size() - text_begin_ - 1);
}

Status ObjectSplitter::open(char c) {
    if (is_done_) return not_json("something follows the list");
    const bool is_outside = !is_reading_ && (depth_ == 0 || in_items_);
    if (is_outside && c != '{') return not_json("is not an object");
    if (is_outside && (of_ == Of::stream || in_items_)) {
        is_reading_ = true;
        is_too_large_ = false;
        object_.clear();
    }
    depth_++;
    auto kept = keep({&c, 1});
    if (!is_reading_ && depth_ == 2 && c == '[' && is_key_items_) in_items_ = true;
    return kept;
}

Status ObjectSplitter::close(char c, const OnObject& on_object) {
    if (depth_ == 0) return not_json("is not JSON");
    depth_--;
    if (!is_reading_ && in_items_) in_items_ = false;
    if (auto kept = keep({&c, 1}); !kept) return kept;
    if (!is_reading_) {
        is_done_ = depth_ == 0;
        return {};
    }
    if (depth_ != (in_items_ ? 2U : 0U)) return {};
    is_reading_ = false;
    return on_object(object_, !is_too_large_);
}

// What a pod's author made too large costs that pod, and no other.
Status ObjectSplitter::keep(std::string_view text) {
    if (!is_reading_) {
        if (text.size() > most_of_the_rest - std::min(most_of_the_rest, rest_.size())) {
            return not_json("the list's metadata is too large");
        }
        rest_.append(text);
    } else if (!is_too_large_) {
        object_.append(text);
        is_too_large_ = object_.size() > most_;
        if (is_too_large_) object_.resize(std::min(object_.size(), head_of_an_object));
    }
    return {};
}

}  // namespace evictd::kube
