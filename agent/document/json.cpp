// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// nlohmann's events turned into the builder's.
#include <cstddef>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "document/node_builder.hpp"
#include "document/parsers.hpp"
#include "document/scalar.hpp"

namespace evictd::document {
namespace {

using nlohmann::json;

// Characters one by one, counting lines: nlohmann's SAX events do not say where they are.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;    // NOLINT(readability-identifier-naming): the standard's name
    using reference = const char&;  // NOLINT(readability-identifier-naming): the standard's name

    CountingIterator(const char* at, int* line) : at_(at), line_(line) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        if (*at_ == '\n') ++*line_;
        ++at_;
        return *this;
    }
    friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return a.at_ != b.at_; }

private:
    const char* at_;
    int* line_;
};

class JsonEvents final : public nlohmann::json_sax<json> {
public:
    using Kind = Node::Kind;
    JsonEvents(const int& line, const std::string& file, const Limits& limits) : builder(file, limits), line_(line) {
        builder.start(at());
    }
    NodeBuilder builder;
    bool is_json = true;

    bool null() override { return put(Kind::null, "null"); }
    bool boolean(bool value) override { return put(Kind::boolean, value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return put(Kind::integer, std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override {
        std::string digits = std::to_string(value);
        const Kind kind = whole_number(digits) ? Kind::integer : Kind::fraction;
        return put(kind, std::move(digits));
    }
    bool number_float(number_float_t /*value*/, const string_t& text) override { return put(Kind::fraction, text); }
    bool string(string_t& value) override { return put(Kind::text, std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*elements*/) override { return open(Kind::map); }
    bool key(string_t& name) override {
        builder.key(std::move(name), at());
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*elements*/) override { return open(Kind::list); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& broken) override {
        std::string_view why = broken.what();  // "[...] parse error at line 3, column 1: syntax error while ..."
        if (const auto column = why.find("column "); column != std::string_view::npos)
            why.remove_prefix(why.find(": ", column) + 2);
        is_json = false;
        builder.refuse(at(), "not valid JSON: " + excerpt(why, 200), "look at commas, quotes and brackets above");
    }

private:
    [[nodiscard]] Mark at() const { return {line_, 0}; }
    bool put(Kind kind, std::string text) {
        builder.scalar(kind, std::move(text), at());
        return true;
    }
    bool open(Kind kind) {
        builder.open(kind, at());
        return true;
    }
    bool close() {
        builder.close();
        return true;
    }
    const int& line_;
};

}  // namespace

JsonOutcome parse_json(std::string_view text, const std::string& file, const Limits& limits) {
    int line = 1;
    bool is_json = true;
    try {
        JsonEvents events(line, file, limits);
        try {
            const CountingIterator begin(text.data(), &line);
            const CountingIterator end(text.data() + text.size(), &line);
            json::sax_parse(begin, end, &events);
        } catch (const Refused&) {
            is_json = events.is_json;
            throw;
        }
        return {events.builder.take(), true};
    } catch (const Refused& refused) {
        return {{{}, {refused.fault}}, is_json};
    } catch (const std::exception& other) {
        return {{{}, {{file, line, 0, {}, excerpt(other.what(), 200), "correct the file"}}}, true};
    }
}

}  // namespace evictd::document
