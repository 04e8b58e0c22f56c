// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The two parsers' events turned into the builder's. YAML words mean what they mean to the API server's YAML reader
// (sigs.k8s.io/yaml, YAML 1.1: yes and on are true, 010 is eight).
#include "kube/document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <istream>
#include <iterator>
#include <optional>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "evictd/model/text.hpp"
#include "kube/document_builder.hpp"
#include "kube/text_feed.hpp"

namespace evictd::kube {
namespace {

using nlohmann::json;

constexpr std::string_view not_json = "not JSON: ";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<json> integer(std::string_view text) {
    std::string digits;
    std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.erase(0, 1);
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
        const char mark = digits[1];
        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        const bool has_letter = base != 8 || mark == 'o' || mark == 'O';
        digits.erase(0, has_letter ? 2 : 1);
    }
    if (digits.empty() || digits[0] == '-') return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return json(negative ? -value : value);
}

std::optional<json> fraction(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    // from_chars also knows words such as inf, which YAML writes .inf and JSON does not have.
    if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return json(value);
}

// A plain (unquoted) scalar.
json plain(const std::string& text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
    if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
    if (is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
    if (const char first = text[0]; first != '+' && first != '-' && first != '.' && (first < '0' || first > '9'))
        return text;
    if (auto number = integer(text)) return *number;
    if (auto number = fraction(text)) return *number;
    return text;
}

class YamlEvents final : public YAML::EventHandler {
public:
    YamlEvents(TextFeed& feed, std::size_t budget) : builder(budget), feed_(feed) {}
    DocumentBuilder builder;

    void OnDocumentStart(const YAML::Mark& mark) override {
        // yaml-cpp 0.7 meets what follows a closed bracket, as in `{},`, as an empty document, again and again.
        if (mark.pos <= last_start_)
            throw Refused(at(mark), "not YAML: something is left after the last bracket is closed", "correct the file");
        last_start_ = mark.pos;
        builder.start(at(mark));
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (builder.wants_key()) throw Refused(at(mark), "a key is missing", "write `name: value`");
        builder.scalar(nullptr, at(mark), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (!builder.wants_key()) return builder.alias(anchor, at(mark));
        const json* name = builder.anchored(anchor);
        if (name == nullptr || !name->is_string())
            throw Refused(at(mark), "an alias stands where a key should be", "write the key out");
        builder.key(name->get<std::string>(), at(mark));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        // yaml-cpp's tags: "!" was quoted, "?" or none was plain.
        const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
        if (builder.wants_key()) {
            if (anchor != 0) throw Refused(at(mark), "an anchor stands at a key", "put it at the value");
            return builder.key(value, at(mark), !is_text && value == "<<");
        }
        builder.scalar(is_text ? json(value) : plain(value), at(mark), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        builder.start_list(at(mark), anchor);
    }
    void OnSequenceEnd() override { builder.end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        builder.start_map(at(mark), anchor);
    }
    void OnMapEnd() override { builder.end(); }

private:
    // The line, and a sign of life: every event that takes memory says where it is.
    int at(const YAML::Mark& mark) {
        feed_.heard();
        return mark.line + 1;
    }
    TextFeed& feed_;
    int last_start_ = -1;
};

Error fault(int line, std::string why, std::string remedy) {
    return {ErrorKind::invalid, std::to_string(line), std::move(why), std::move(remedy)};
}

Documents parse_yaml(std::string_view text, std::size_t budget) {
    Documents result;
    try {
        TextFeed feed(text);
        std::istream stream(&feed);
        YAML::Parser parser(stream);
        YamlEvents events(feed, budget);
        while (parser.HandleNextDocument(events)) {
            if (auto document = events.builder.take(); !document.value.is_null())
                result.documents.push_back(std::move(document));
        }
    } catch (const Refused& refused) {
        result.faults.push_back(fault(refused.line, refused.why, refused.remedy));
    } catch (const YAML::Exception& broken) {
        result.faults.push_back(
            fault(std::max(broken.mark.line, 0) + 1, "not YAML: " + excerpt(broken.msg, 200), "correct the file"));
    } catch (const std::exception& other) {
        result.faults.push_back(fault(1, excerpt(other.what(), 200), "correct the file"));
    }
    return result;
}

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
    JsonEvents(const int* line, std::size_t budget) : builder(budget), line_(line) { builder.start(1); }
    DocumentBuilder builder;

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*elements*/) override {
        builder.start_map(*line_);
        return true;
    }
    bool key(string_t& name) override {
        builder.key(std::move(name), *line_);
        return true;
    }
    bool end_object() override {
        builder.end();
        return true;
    }
    bool start_array(std::size_t /*elements*/) override {
        builder.start_list(*line_);
        return true;
    }
    bool end_array() override {
        builder.end();
        return true;
    }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& broken) override {
        std::string_view why = broken.what();  // "[...] parse error at line 3, column 1: syntax error while ..."
        if (const auto column = why.find("column "); column != std::string_view::npos)
            why.remove_prefix(why.find(": ", column) + 2);
        throw Refused(*line_, std::string(not_json) + excerpt(why, 200), "correct the file");
    }

private:
    bool put(json value) {
        builder.scalar(std::move(value), *line_);
        return true;
    }
    const int* line_;
};

// JSON is YAML too, but a tenth of the work for its own parser, in one line or many.
bool begins_as_json(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos || text[first] != '{') return false;
    const auto next = text.find_first_not_of(blanks, first + 1);
    return next != std::string_view::npos && text[next] == '"';
}

Documents parse_json(std::string_view text, std::size_t budget) {
    Documents result;
    int line = 1;
    try {
        JsonEvents events(&line, budget);
        json::sax_parse(CountingIterator(text.data(), &line), CountingIterator(text.data() + text.size(), &line),
                        &events);
        result.documents.push_back(events.builder.take());
    } catch (const Refused& refused) {
        result.faults.push_back(fault(refused.line, refused.why, refused.remedy));
    } catch (const std::exception& other) {
        result.faults.push_back(fault(line, excerpt(other.what(), 200), "correct the file"));
    }
    return result;
}

}  // namespace

void Lines::start(int line) { entries_.assign(1, Entry{0, {}, line}); }

std::size_t Lines::add(std::size_t parent, std::string step, int line) {
    entries_.push_back({parent, std::move(step), line});
    return entries_.size() - 1;
}

int Lines::of(std::string_view path) const {
    if (entries_.empty()) return 1;
    std::size_t at = 0;
    // Children stand after their parents, so one pass follows the path down.
    for (std::size_t i = 1; i < entries_.size() && !path.empty(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.parent != at || !path.starts_with(entry.step)) continue;
        const std::string_view rest = path.substr(entry.step.size());
        if (!rest.empty() && rest.front() != '.' && rest.front() != '[') continue;
        at = i;
        path = rest.starts_with('.') ? rest.substr(1) : rest;
    }
    return entries_[at].line;
}

// Children follow their parents at once, so what is below an entry ends where an earlier parent comes back.
Lines::Place Lines::place(std::size_t& at) const {
    const std::size_t self = at++;
    Place made{entries_[self].step, entries_[self].line, {}};
    while (at < entries_.size() && entries_[at].parent == self) made.children.push_back(place(at));
    return made;
}

std::optional<Lines::Place> Lines::tree(std::string_view field) const {
    for (std::size_t i = 1; i < entries_.size(); ++i) {
        if (entries_[i].parent == 0 && entries_[i].step == field) return place(i);
    }
    return std::nullopt;
}

Documents parse_documents(std::string_view text, Syntax syntax, std::size_t budget) {
    if (syntax == Syntax::json) return parse_json(text, budget);
    if (begins_as_json(text)) {
        Documents result = parse_json(text, budget);
        if (result.faults.empty() || !result.faults[0].why.starts_with(not_json)) return result;
    }
    return parse_yaml(text, budget);
}

}  // namespace evictd::kube
