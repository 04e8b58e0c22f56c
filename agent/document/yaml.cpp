// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// yaml-cpp's events turned into the builder's. YAML::Node is not used because it neither limits nor reports duplicate
// keys.
#include <algorithm>
#include <array>
#include <istream>
#include <optional>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "document/node_builder.hpp"
#include "document/parsers.hpp"
#include "document/scalar.hpp"
#include "document/text_feed.hpp"

namespace evictd::document {
namespace {

constexpr auto where_to_look = "look at indentation, quotes and brackets on this line and above";

class YamlEvents final : public YAML::EventHandler {
public:
    YamlEvents(TextFeed& feed, const std::string& file, const Limits& limits) : builder(file, limits), feed_(feed) {}
    NodeBuilder builder;

    void OnDocumentStart(const YAML::Mark& mark) override {
        // yaml-cpp 0.7 meets what follows a closed bracket, as in `{},`, as an empty document, again and again.
        if (mark.pos <= last_start_) {
            builder.refuse(at(mark), "not valid YAML: something is left after the last bracket is closed",
                           where_to_look);
        }
        last_start_ = mark.pos;
        builder.start(at(mark));
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (builder.wants_key()) builder.refuse(at(mark), "a key is missing", "write `key: value`");
        builder.scalar(Node::Kind::null, {}, at(mark), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { builder.alias(anchor, at(mark)); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        // yaml-cpp's tags: "!" was quoted, "?" or none was plain.
        const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
        if (!builder.wants_key())
            return builder.scalar(is_text ? Node::Kind::text : kind_of_plain(value), value, at(mark), anchor);
        if (anchor != 0) builder.refuse(at(mark), "an anchor on a key is not supported", "put it at the value");
        builder.key(value, at(mark), !is_text && value == "<<");
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        builder.open(Node::Kind::list, at(mark), anchor);
    }
    void OnSequenceEnd() override { builder.close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        builder.open(Node::Kind::map, at(mark), anchor);
    }
    void OnMapEnd() override { builder.close(); }

private:
    // The place, and a sign of life: every event that takes memory says where it is.
    Mark at(const YAML::Mark& mark) {
        feed_.heard();
        return {mark.line + 1, mark.column + 1};
    }
    TextFeed& feed_;
    int last_start_ = -1;
};

// Where a line ends in a carriage return alone. To YAML that is a line's end and to our parser it is not: a comment in
// the first line would hide the whole file.
std::optional<std::size_t> first_bare_return(std::string_view text) {
    for (std::size_t i = text.find('\r'); i != std::string_view::npos; i = text.find('\r', i + 1)) {
        if (text.substr(i + 1, 1) != "\n") return i;
    }
    return std::nullopt;
}

// The other line ends of YAML 1.1, which our parser does not know either.
std::optional<std::size_t> first_wide_line_end(std::string_view text) {
    std::optional<std::size_t> first;
    for (const std::string_view end : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
        if (const std::size_t at = text.find(end); at != std::string_view::npos)
            first = std::min(at, first.value_or(at));
    }
    return first;
}

// As go-yaml's reader has it, which the kubelet uses.
bool is_text(char32_t point) {
    if (point < ' ') return point == '\t' || point == '\n' || point == '\r';
    return point < 0x7f || point == 0x85 || (point >= 0xa0 && point < 0xd800) || (point >= 0xe000 && point < 0xfffe) ||
           (point >= 0x10000 && point < 0x110000);
}

// The first byte that cannot be in a YAML file: not UTF-8, or of no character of a text.
std::optional<std::size_t> first_binary_byte(std::string_view text) {
    constexpr std::array<char32_t, 4> least{0, 0x80, 0x800, 0x10000};  // less has a shorter form
    std::size_t i = 0;
    while (i < text.size()) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t more = byte < 0x80         ? 0
                                 : byte >> 5 == 0x6  ? 1
                                 : byte >> 4 == 0xe  ? 2
                                 : byte >> 3 == 0x1e ? 3
                                                     : 4;
        if (more == 4 || i + more >= text.size()) return i;
        char32_t point = more == 0 ? byte : byte & (0x3fU >> more);
        for (std::size_t tail = 1; tail <= more; ++tail) {
            const auto next = static_cast<unsigned char>(text[i + tail]);
            if ((next & 0xc0U) != 0x80) return i;
            point = point << 6U | (next & 0x3fU);
        }
        if (point < least.at(more) || !is_text(point)) return i;
        i += 1 + more;
    }
    return std::nullopt;
}

std::optional<Fault> refuse_unread(std::string_view text, const std::string& file) {
    const auto at = [&](std::size_t place, std::string what, std::string remedy) {
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
        return Fault{file, static_cast<int>(lines) + 1, 0, {}, std::move(what), std::move(remedy)};
    };
    if (const auto binary = first_binary_byte(text))
        return at(*binary, "not a text file", "YAML or JSON in UTF-8 is expected");
    if (const auto bare = first_bare_return(text))
        return at(*bare, "a line ends in a carriage return alone", "save it with \\n at the end of each line");
    if (const auto wide = first_wide_line_end(text))
        return at(*wide, "a line ends in U+0085, U+2028 or U+2029", "use \\n, or escape it in double quotes");
    return std::nullopt;
}

void read_documents(std::string_view text, const std::string& file, const Limits& limits,
                    std::vector<Document>& documents) {
    TextFeed feed(text, file);
    std::istream stream(&feed);
    YAML::Parser parser(stream);
    YamlEvents events(feed, file, limits);
    try {
        while (parser.HandleNextDocument(events)) {
            Document document = events.builder.take();
            if (document.root.kind != Node::Kind::null || !document.faults.empty())
                documents.push_back(std::move(document));
        }
    } catch (const YAML::Exception& broken) {
        const bool is_list = broken.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW;
        if (!is_list && broken.msg != YAML::ErrorMsg::END_OF_MAP_FLOW) throw;
        // The library names the place where it gave up, which may be a line of the next key.
        events.builder.refuse(events.builder.innermost(),
                              std::string("not valid YAML: ") + (is_list ? "[" : "{") + " is not closed",
                              "close it on line " + std::to_string(broken.mark.line + 1) + " or before");
    }
}

}  // namespace

std::vector<Document> parse_yaml(std::string_view text, const std::string& file, const Limits& limits) {
    if (auto fault = refuse_unread(text, file)) return {{{}, {std::move(*fault)}}};
    std::vector<Document> documents;
    Fault fault{file, 1, 0, {}, {}, where_to_look};
    try {
        read_documents(text, file, limits, documents);
        return documents;
    } catch (const Refused& refused) {
        fault = refused.fault;
    } catch (const YAML::Exception& broken) {
        fault.line = std::max(broken.mark.line, 0) + 1;
        fault.column = std::max(broken.mark.column, 0) + 1;
        fault.what = "not valid YAML: " + excerpt(broken.msg, 200);
    } catch (const std::exception& other) {
        fault.what = excerpt(other.what(), 200);
    }
    if (text.find("\n---") != std::string_view::npos) fault.what += "; what follows it in the file is not read";
    documents.push_back({{}, {std::move(fault)}});
    return documents;
}

}  // namespace evictd::document
