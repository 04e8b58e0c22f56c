// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/pod_protobuf.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/text.hpp"
#include "evictd/model/units.hpp"
#include "http/wire_reader.hpp"
#include "kube/pod_fields.hpp"

namespace evictd::kube {
namespace {

using document::Node;
using pod_fields::Form;
using pod_fields::Row;
using pod_fields::Table;

tl::unexpected<Error> unreadable(const std::string& why) { return fail(ErrorKind::invalid, "Pod", why); }

http::WireField::Type type_of(Form form) {
    return form == Form::integer || form == Form::boolean ? http::WireField::Type::varint
                                                          : http::WireField::Type::bytes;
}

Node scalar(Node::Kind kind, std::string text) {
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    return node;
}

Node parent(Node::Kind kind, std::vector<Node> children) {
    Node node;
    node.kind = kind;
    node.children = std::make_shared<const std::vector<Node>>(std::move(children));
    return node;
}

class Decoder {
public:
    Result<Node> message(std::string_view bytes, const Table& table);

private:
    struct Found {  // of one row
        std::vector<Node> nodes;
        std::map<std::string, Node> entries;
    };
    static Node children_of(std::vector<Found>& found, const Table& table, bool has_others);
    Status take(const http::WireField& field, const Row& row, Found& into);
    Result<Node> value(const http::WireField& field, const Row& row);
    Status entry(std::string_view bytes, Form of, Found& into);
    Result<Node> time(std::string_view bytes);
    // The text of a message's field: of a Quantity, its only one.
    Result<std::string> text_in(std::string_view message, std::uint32_t number);
    Status count(std::size_t size_of_text = 0);

    std::size_t values_ = 0;
};

// As document::Limits counts them.
Status Decoder::count(std::size_t size_of_text) {
    values_ += 1 + size_of_text / 16;
    if (values_ > api_object_limits.values) return unreadable("has more values than a Pod");
    return {};
}

void put(std::vector<Node>& into, std::string key, Node node) {
    node.key = std::move(key);
    into.push_back(std::move(node));
}

Node Decoder::children_of(std::vector<Found>& found, const Table& table, bool has_others) {
    const std::span rows(table.rows, table.size);
    std::vector<Node> children;
    for (std::size_t i = 0; i < rows.size(); i++) {
        auto& [nodes, entries] = found[i];
        if (rows[i].form == Form::inlined) {
            for (const auto& node : nodes) children.insert(children.end(), node.each().begin(), node.each().end());
        } else if (rows[i].form == Form::list && !nodes.empty()) {
            put(children, rows[i].key, parent(Node::Kind::list, std::move(nodes)));
        } else if (!entries.empty()) {
            std::vector<Node> all;
            for (auto& [key, node] : entries) put(all, key, std::move(node));
            put(children, rows[i].key, parent(Node::Kind::map, std::move(all)));
        } else if (!nodes.empty() && nodes.front().kind != Node::Kind::null) {
            put(children, rows[i].key, std::move(nodes.front()));
        }
    }
    if (has_others && table.others != nullptr) put(children, table.others, parent(Node::Kind::map, {}));
    return parent(Node::Kind::map, std::move(children));
}

Result<Node> Decoder::message(std::string_view bytes, const Table& table) {
    if (auto counted = count(); !counted) return tl::unexpected(counted.error());
    const std::span rows(table.rows, table.size);
    std::vector<Found> found(rows.size());
    bool has_others = false;
    http::WireReader reader(bytes);
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return tl::unexpected(field.error());
        if (!*field) break;
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.number == (*field)->number; });
        if (row == rows.end()) {
            has_others = true;
        } else if (auto taken = take(**field, *row, found[static_cast<std::size_t>(row - rows.begin())]); !taken) {
            return tl::unexpected(taken.error());
        }
    }
    return children_of(found, table, has_others);
}

Status Decoder::take(const http::WireField& field, const Row& row, Found& into) {
    if (field.type != type_of(row.form)) return unreadable(std::string(row.key) + " has another type");
    if (row.form == Form::texts || row.form == Form::quantities) return entry(field.bytes, row.form, into);
    if (row.form != Form::list && !into.nodes.empty()) return unreadable(std::string(row.key) + " is given twice");
    auto node = value(field, row);
    if (!node) return tl::unexpected(node.error());
    into.nodes.push_back(std::move(*node));
    return {};
}

// An empty text is absent, as in JSON: Go encodes every text that is no pointer.
Result<Node> Decoder::value(const http::WireField& field, const Row& row) {
    const auto counted = count(row.form == Form::text ? field.bytes.size() : 0);
    if (!counted) return tl::unexpected(counted.error());
    switch (row.form) {
        case Form::integer:
            return scalar(Node::Kind::integer, std::to_string(static_cast<std::int64_t>(field.varint)));
        case Form::boolean:
            return scalar(Node::Kind::boolean, field.varint != 0 ? "true" : "false");
        case Form::text:
            return field.bytes.empty() ? Node{} : scalar(Node::Kind::text, std::string(field.bytes));
        case Form::time:
            return time(field.bytes);
        case Form::quantity: {
            auto text = text_in(field.bytes, 1);
            if (!text) return tl::unexpected(text.error());
            return scalar(Node::Kind::text, std::move(*text));
        }
        default:
            return message(field.bytes, row.table);
    }
}

Status Decoder::entry(std::string_view bytes, Form of, Found& into) {
    if (auto counted = count(bytes.size()); !counted) return counted;
    auto key = text_in(bytes, 1);
    if (!key) return tl::unexpected(key.error());
    auto text = text_in(bytes, 2);
    if (text && of == Form::quantities) text = text_in(*text, 1);
    if (!text) return tl::unexpected(text.error());
    into.entries.insert_or_assign(std::move(*key), scalar(Node::Kind::text, std::move(*text)));
    return {};
}

Result<std::string> Decoder::text_in(std::string_view message, std::uint32_t number) {
    std::string text;
    http::WireReader reader(message);
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return tl::unexpected(field.error());
        if (!*field) return text;
        if ((*field)->number != number) continue;
        if ((*field)->type != http::WireField::Type::bytes) return unreadable("a text has another type");
        text = (*field)->bytes;
    }
}

// Time.Unmarshal: 0 is Go's zero time. It has seconds only, as its JSON has.
Result<Node> Decoder::time(std::string_view bytes) {
    std::int64_t seconds = 0;
    http::WireReader reader(bytes);
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return tl::unexpected(field.error());
        if (!*field) break;
        if ((*field)->number == 1) seconds = static_cast<std::int64_t>((*field)->varint);
    }
    if (seconds == 0) return Node{};
    constexpr std::int64_t most = std::chrono::floor<std::chrono::seconds>(Duration::max()).count();
    if (seconds < -most || seconds > most) return unreadable("has a time that is none");
    return scalar(Node::Kind::text, rfc3339(WallTime(std::chrono::seconds(seconds))));
}

// Of a message that may be cut off, the bytes of its first field of that number.
std::string_view first_bytes(std::string_view beginning, std::uint32_t number) {
    http::WireReader reader(beginning, http::WireReader::Of::beginning);
    for (auto field = reader.next(); field && *field; field = reader.next()) {
        if ((*field)->number == number && (*field)->type == http::WireField::Type::bytes) return (*field)->bytes;
    }
    return {};
}

}  // namespace

Result<document::Document> read_protobuf_pod(std::string_view message) {
    auto root = Decoder().message(message, pod_fields::table_of(pod_fields::pod));
    if (!root) return tl::unexpected(root.error());
    return document::Document{.root = std::move(*root), .faults = {}};
}

ObjectHead protobuf_head_of(std::string_view beginning) {
    const auto metadata = first_bytes(beginning, 1);
    const auto text = [&](std::uint32_t number) { return std::string(first_bytes(metadata, number).substr(0, 253)); };
    return {.name = text(3) + "/" + text(1), .uid = text(5), .version = text(6)};
}

}  // namespace evictd::kube
