// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A fault in one document or list item does not affect the others.
#include "kube/manifest_text.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "document/value.hpp"
#include "kube/pod_object.hpp"

namespace evictd::kube {

using document::Fault;
using document::Reading;
using document::Value;

namespace {

constexpr auto what_is_read = "only Pod, PodList and List are read: keep other objects in another directory";

// Objects in one file, good or bad. A MiB of real pods is some 500; without a bound a MiB of nonsense would be 200,000
// faults, each looked up and told.
constexpr std::size_t most_objects = 1000;

class Reader {
public:
    Reader(const std::string& file, std::optional<PodOrigin> origin) : file_(file), origin_(origin) {}

    void read(document::Document document) {
        const bool is_readable = document.faults.empty() || document.root.is_ambiguous;
        Reading reading(std::move(document), excerpt(file_, 512));
        reading.limit_faults(most_objects);
        if (has_place() && is_readable) read_object(reading.root());
        for (const Fault& fault : reading.take_faults()) reject(fault);
        if (objects_ <= most_objects || std::exchange(is_full_, true)) return;
        manifest_.rejected.push_back({ErrorKind::invalid, excerpt(file_, 512),
                                      "holds more than " + std::to_string(most_objects) + " objects",
                                      "split it into several files"});
    }

    Manifest take() { return std::move(manifest_); }

private:
    static std::string kind_of(const Value& object) {
        return object.is_map() && object["kind"].present() ? object["kind"].scalar().value_or("") : "";
    }

    void read_object(const Value& object) {
        if (!object.is_map()) return object.refuse("not a Kubernetes object", what_is_read);
        const std::string kind = kind_of(object);
        if (kind == "Pod") return read_pod(object);
        if (is_ambiguous_itself(object)) return;  // as told
        if (kind == "PodList" || kind == "List") return read_list(object["items"], kind);
        object["kind"].refuse(kind.empty() ? "missing" : "unsupported kind " + in_quotes(kind), what_is_read);
    }

    // A key given twice that is not within an item: which items are meant, and of what, is not known.
    static bool is_ambiguous_itself(const Value& list) {
        const auto fields = list.fields();
        const auto count =
            std::count_if(fields.begin(), fields.end(), [](auto& field) { return field.is_ambiguous(); });
        return count > (list["items"].is_ambiguous() ? 1 : 0);
    }

    bool has_place() { return ++objects_ <= most_objects; }

    void read_list(const Value& items, const std::string& kind) {
        for (const Value& item : items.elements()) {
            if (!has_place()) return;
            // A PodList's items leave their kind out; a List's say it, and need not be pods.
            if (item.is_map() && (kind == "PodList" || kind_of(item) == "Pod"))
                read_pod(item);
            else
                item.refuse("not a Pod", what_is_read);
        }
    }

    void read_pod(const Value& object) {
        if (object.is_ambiguous()) return;  // as told
        auto pod = kube::read_pod(object, {.source = file_, .origin = origin_});
        if (!pod) return;
        const int line = object["metadata"]["uid"].line();
        manifest_.pods.push_back({make_pod(std::move(*pod)), line});
    }

    void reject(const Fault& fault) {
        if (manifest_.rejected.size() >= most_objects) return;
        const std::string place = fault.line > 0 ? ":" + std::to_string(fault.line) : "";
        manifest_.rejected.push_back({ErrorKind::invalid, fault.file + place,
                                      (fault.key.empty() ? "" : fault.key + ": ") + fault.what, fault.remedy});
    }

    const std::string& file_;
    std::optional<PodOrigin> origin_;
    Manifest manifest_;
    std::size_t objects_ = 0;
    bool is_full_ = false;
};

}  // namespace

Manifest parse_manifest(const std::string& file, std::string_view text, std::optional<PodOrigin> origin) {
    const auto syntax = file.ends_with(".json") ? document::Syntax::json : document::Syntax::yaml;
    Reader reader(file, origin);
    for (auto& document : document::parse(text, excerpt(file, 512), syntax, document::manifest_limits))
        reader.read(std::move(document));
    return reader.take();
}

}  // namespace evictd::kube
