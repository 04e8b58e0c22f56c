// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// yaml-cpp's events turned into a tree. Its exceptions stop here, and its recursion is cut off long before the stack
// ends; YAML::Node is not used because it neither limits nor reports duplicate keys.
#include "config/yaml_tree.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace evictd::config {
namespace {

// A KubeletConfiguration is 5 deep. yaml-cpp gives up at 500 by itself, which eats 1 MiB of stack.
constexpr std::size_t max_depth = 64;
// Some fifty times the longest real configuration.
constexpr std::size_t max_nodes = 20'000;
// Thrown through yaml-cpp and caught in parse_yaml: events have no other way to stop it.
struct Stop {
    Fault fault;
};

class TreeBuilder final : public YAML::EventHandler {
public:
    explicit TreeBuilder(const std::string& file) : file_(file) {}

    [[nodiscard]] NodePtr root() const { return root_; }
    [[nodiscard]] const Faults& faults() const { return faults_; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(made(mark, Node::Kind::null), anchor); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        count(mark);
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end())
            throw Stop{at(mark, "an alias stands inside what it names", "write the value out")};
        attach(found->second, mark);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        auto node = made(mark, Node::Kind::scalar);
        node->plain = tag == "?" || tag.empty();
        node->scalar = value;
        put(std::move(node), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(made(mark, Node::Kind::list), anchor, mark);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(made(mark, Node::Kind::map), anchor, mark);
    }
    void OnMapEnd() override { end(); }

private:
    struct Open {
        std::shared_ptr<Node> node;
        YAML::anchor_t anchor = 0;
        std::optional<Entry> key;         // read, its value is still to come
        std::map<std::string, int> seen;  // keys and their lines
    };

    [[nodiscard]] Fault at(const YAML::Mark& mark, std::string what, std::string remedy) const {
        return {file_, mark.line + 1, mark.column + 1, {}, std::move(what), std::move(remedy)};
    }
    void count(const YAML::Mark& mark) {
        if (++nodes_ <= max_nodes) return;
        throw Stop{
            at(mark, "there are more than " + std::to_string(max_nodes) + " values", "is this a configuration?")};
    }
    std::shared_ptr<Node> made(const YAML::Mark& mark, Node::Kind kind) {
        count(mark);
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->line = mark.line + 1;
        node->column = mark.column + 1;
        return node;
    }
    void put(std::shared_ptr<Node> node, YAML::anchor_t anchor) {
        const YAML::Mark mark = mark_of(*node);
        if (anchor != 0) anchors_[anchor] = node;
        attach(std::move(node), mark);
    }
    void begin(std::shared_ptr<Node> node, YAML::anchor_t anchor, const YAML::Mark& mark) {
        if (open_.size() >= max_depth) {
            const std::string depth = std::to_string(max_depth);
            throw Stop{at(mark, "nested more than " + depth + " deep", "no configuration key is")};
        }
        open_.push_back({std::move(node), anchor, {}, {}});
    }
    // Only a finished list or map can be named by an alias: that is what keeps circles out.
    void end() {
        Open done = std::move(open_.back());
        open_.pop_back();
        put(std::move(done.node), done.anchor);
    }
    void attach(NodePtr node, const YAML::Mark& mark) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node->kind == Node::Kind::list) {
            parent.node->items.push_back(std::move(node));
        } else if (!parent.key) {
            take_key(parent, *node, mark);
        } else {
            parent.key->value = std::move(node);
            parent.node->entries.push_back(*std::exchange(parent.key, std::nullopt));
        }
    }
    void take_key(Open& parent, const Node& node, const YAML::Mark& mark) {
        if (node.kind != Node::Kind::scalar) throw Stop{at(mark, "a key is not plain text", "write `key: value`")};
        parent.key = Entry{node.scalar, mark.line + 1, mark.column + 1, nullptr};
        Fault fault = at(mark, {}, {});
        for (const Open& above : open_) {
            if (above.key && &above != &parent) fault.key += excerpt(above.key->key) + ".";
        }
        fault.key += excerpt(node.scalar);
        if (node.scalar == "<<") {
            fault.what = "merge keys are not understood";
            fault.remedy = "write the keys out";
        } else {
            const auto [first, is_new] = parent.seen.emplace(node.scalar, mark.line + 1);
            if (is_new) return;
            fault.what = "given twice";
            fault.remedy = "the first is on line " + std::to_string(first->second) + ": keep one";
        }
        if (faults_.size() < max_faults) faults_.push_back(std::move(fault));
    }
    static YAML::Mark mark_of(const Node& node) {
        YAML::Mark mark;
        mark.line = node.line - 1;
        mark.column = node.column - 1;
        return mark;
    }

    const std::string& file_;
    Faults faults_;
    NodePtr root_ = std::make_shared<const Node>();
    std::vector<Open> open_;
    std::map<YAML::anchor_t, NodePtr> anchors_;
    std::size_t nodes_ = 0;
};

// Where a line ends in a carriage return alone. To YAML that is a line's end and to our parser it is not: a comment in
// the first line would hide the whole file.
std::optional<std::size_t> first_bare_return(std::string_view text) {
    for (std::size_t i = text.find('\r'); i != std::string_view::npos; i = text.find('\r', i + 1)) {
        if (text.substr(i + 1, 1) != "\n") return i;
    }
    return std::nullopt;
}

// The first byte that cannot be in a YAML file: not UTF-8, or a control character.
std::optional<std::size_t> first_binary_byte(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t more = byte < 0x80         ? 0
                                 : byte >> 5 == 0x6  ? 1
                                 : byte >> 4 == 0xe  ? 2
                                 : byte >> 3 == 0x1e ? 3
                                                     : 4;
        const bool control = byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r';
        if (control || byte == 0x7f || more == 4 || i + more >= text.size()) return i;
        for (std::size_t tail = 1; tail <= more; ++tail) {
            if ((static_cast<unsigned char>(text[i + tail]) & 0xc0) != 0x80) return i;
        }
        i += 1 + more;
    }
    return std::nullopt;
}

std::optional<Fault> refuse_unread(std::string_view text, const std::string& file) {
    if (text.size() > max_yaml_size) return Fault{file, 0, 0, {}, "larger than 256 KiB", "is this a configuration?"};
    const auto at = [&](std::size_t place, std::string what, std::string remedy) {
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
        return Fault{file, static_cast<int>(lines) + 1, 0, {}, std::move(what), std::move(remedy)};
    };
    if (const auto binary = first_binary_byte(text)) {
        return at(*binary, "not a text file", "YAML or JSON in UTF-8 is expected");
    }
    if (const auto bare = first_bare_return(text)) {
        return at(*bare, "a line ends in a carriage return alone", "save it with \\n at the end of each line");
    }
    return std::nullopt;
}

bool another_document(YAML::Parser& parser, const std::string& file) {
    TreeBuilder next(file);
    return parser.HandleNextDocument(next) && next.root()->kind != Node::Kind::null;
}

}  // namespace

YamlTree parse_yaml(std::string_view text, const std::string& file) {
    if (const auto fault = refuse_unread(text, file)) return {nullptr, {*fault}};
    TreeBuilder builder(file);
    try {
        std::istringstream stream{std::string{text}};
        YAML::Parser parser(stream);
        parser.HandleNextDocument(builder);
        if (!another_document(parser, file)) return {builder.root(), builder.faults()};
        return {nullptr, {{file, 0, 0, {}, "more than one YAML document", "keep one; remove `---`"}}};
    } catch (const Stop& stop) {
        return {nullptr, {stop.fault}};
    } catch (const YAML::Exception& error) {
        const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
        const int column = error.mark.is_null() ? 0 : error.mark.column + 1;
        return {nullptr,
                {{file,
                  line,
                  column,
                  {},
                  "not valid YAML: " + excerpt(error.msg),
                  "look at indentation, quotes and brackets on this line and above"}}};
    }
}

}  // namespace evictd::config
