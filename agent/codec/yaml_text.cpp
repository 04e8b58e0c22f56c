// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// JSON -> YAML in block style. A string that YAML could take for something else is quoted as JSON quotes it, which is
// valid YAML.
#include "yaml_text.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "evictd/model/ascii.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Memory as Kubernetes writes it, 95Mi: the one text beginning with a digit that no YAML reader takes for a number.
bool is_binary_quantity(const std::string& text) {
    constexpr std::string_view units = "KMGTPE";
    if (text.size() < 3 || text.back() != 'i' || units.find(text[text.size() - 2]) == std::string_view::npos)
        return false;
    return std::all_of(text.begin(), text.end() - 2, is_digit);
}

// Starts with a letter or a slash and holds nothing that YAML reads as syntax.
bool is_plain(const std::string& text) {
    constexpr std::array<std::string_view, 9> reserved{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    if (is_binary_quantity(text)) return true;
    if (text.empty() || (!is_letter(text.front()) && text.front() != '/')) return false;
    if (text.back() == ' ' || text.back() == ':') return false;
    if (text.find(": ") != std::string::npos || text.find(" #") != std::string::npos) return false;
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
    if (std::find(reserved.begin(), reserved.end(), lower) != reserved.end()) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string scalar(const OrderedJson& json) {
    if (json.is_string() && is_plain(json.get<std::string>())) return json.get<std::string>();
    return dump_line(json);
}

bool is_block(const OrderedJson& json) { return json.is_structured() && !json.empty(); }

void write(const OrderedJson& json, std::size_t indent, std::string& out);

// What follows a "key:" or a "-".
void write_value(const OrderedJson& value, std::size_t indent, std::string& out) {
    if (is_block(value)) {
        out += "\n";
        write(value, indent, out);
    } else {
        out += " " + scalar(value) + "\n";
    }
}

void write(const OrderedJson& json, std::size_t indent, std::string& out) {
    const std::string margin(indent, ' ');
    for (const auto& item : json.items()) {
        const OrderedJson& value = item.value();
        if (json.is_object()) {
            out += margin + scalar(OrderedJson(item.key())) + ":";
            write_value(value, value.is_array() ? indent : indent + 2,
                        out);  // lists stand under their key, as in kubectl
        } else if (value.is_object() && !value.empty()) {
            std::string element;
            write(value, indent + 2, element);
            element[indent] = '-';  // the first key goes on the dash's line
            out += element;
        } else {
            out += margin + "-";
            write_value(value, indent + 2, out);
        }
    }
}

}  // namespace

Result<std::string> yaml_text(std::string_view json) {
    const OrderedJson document = OrderedJson::parse(json, nullptr, false);
    if (document.is_discarded()) return fail(ErrorKind::invalid, "agent's answer", "not JSON");
    if (!is_block(document)) return scalar(document) + "\n";
    std::string out;
    write(document, 0, out);
    return out;
}

Result<std::string> pretty_json(std::string_view json) {
    const OrderedJson document = OrderedJson::parse(json, nullptr, false);
    if (document.is_discarded()) return fail(ErrorKind::invalid, "agent's answer", "not JSON");
    return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace evictd::codec
