// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Cuts JSON that arrives in pieces into the objects that it consists of, so that a reply of any size needs the memory
// of one object. It finds where an object ends and checks nothing else: the parser does.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"

namespace evictd::kube {

class ObjectSplitter {
public:
    enum class Of {
        stream,  // objects one after the other: a watch's events
        items,   // the elements of "items" of one object: a list
    };
    // Real pods have some 10 KiB. A request to the API server may have 1.5 MiB, and what it holds six times as much as
    // JSON, because Go writes "<" as six characters.
    static constexpr std::size_t most_of_an_object = std::size_t{1} << 20U;
    // Of an object that is larger, this much is handed on. A Pod begins with its name, UID and version.
    static constexpr std::size_t head_of_an_object = std::size_t{4} << 10U;
    // `is_whole`: else it is the head of an object that is too large. An error of it is feed()'s.
    using OnObject = std::function<Status(std::string_view object, bool is_whole)>;

    explicit ObjectSplitter(Of of, std::size_t most = most_of_an_object) : of_(of), most_(most) {}

    // Calls `on_object` with the text of each object that is complete with this piece. The first error is final.
    Status feed(std::string_view piece, const OnObject& on_object);
    // A list: all of it was fed. A stream: no object is incomplete.
    [[nodiscard]] bool is_complete() const { return of_ == Of::items ? is_done_ : depth_ == 0; }
    // A list: its object, without the items.
    [[nodiscard]] const std::string& rest() const { return rest_; }

private:
    Status take(char c, const OnObject& on_object);
    Status open(char c);
    Status close(char c, const OnObject& on_object);
    Status take_plain(char c);
    Status keep(std::string_view text);
    void end_text();

    Of of_;
    std::size_t most_;
    std::size_t depth_ = 0;  // of braces and brackets
    bool in_text_ = false;
    bool is_escaped_ = false;    // the next character of a text
    bool is_reading_ = false;    // within an object that is handed on
    bool is_too_large_ = false;  // it is
    bool in_items_ = false;
    bool is_key_items_ = false;   // a list: the last key at its top is "items"
    bool is_done_ = false;        // a list: its last brace was fed
    std::size_t text_begin_ = 0;  // in rest_
    std::string last_text_;       // a list: the last text at its top, if it is short
    std::string object_;
    std::string rest_;
};

}  // namespace evictd::kube
