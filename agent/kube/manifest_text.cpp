// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is wrong in one document or list item leaves the others as they are.
#include "kube/manifest_text.hpp"

#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"
#include "kube/document.hpp"
#include "kube/pod_json.hpp"

namespace evictd::kube {
namespace {

using nlohmann::json;

constexpr auto what_is_read = "only Pod, PodList and List are read: keep other objects in another directory";

// Objects in one file, good or bad. A MiB of real pods is some 500; without a bound a MiB of nonsense would be 200,000
// faults, each looked up and told.
constexpr std::size_t most_objects = 1000;

class Reader {
public:
    Reader(const std::string& file, std::optional<PodOrigin> origin) : file_(file), origin_(origin) {}

    void read(const Document& document) {
        if (!has_place()) return;
        const std::string kind = text_of(document.value, "kind");
        if (kind == "Pod") return read_pod(document.value, document, {});
        if (kind == "PodList" || kind == "List") return read_list(document, kind);
        if (!document.value.is_object()) return reject(document, {}, "is not a Kubernetes object", what_is_read);
        reject(document, "kind", kind.empty() ? "is missing" : "is " + in_quotes(kind), what_is_read);
    }

    void reject_at(const std::string& line, const std::string& why, const std::string& remedy) {
        manifest_.rejected.push_back({ErrorKind::invalid, excerpt(file_, 512) + ":" + line, why, remedy});
    }

    Manifest take() { return std::move(manifest_); }

private:
    static std::string text_of(const json& object, const char* key) {
        if (!object.is_object()) return {};
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
    }

    bool has_place() {
        if (++objects_ == most_objects + 1)
            manifest_.rejected.push_back({ErrorKind::invalid, excerpt(file_, 512),
                                          "holds more than " + std::to_string(most_objects) + " objects",
                                          "split it into several files"});
        return objects_ <= most_objects;
    }

    void read_list(const Document& document, const std::string& kind) {
        const auto items = document.value.find("items");
        if (items == document.value.end() || items->is_null()) return;
        if (!items->is_array()) return reject(document, "items", "must be a list", "begin each element with \"- \"");
        for (std::size_t i = 0; i < items->size() && has_place(); ++i) {
            const json& item = (*items)[i];
            const std::string path = "items[" + std::to_string(i) + "]";
            // A PodList's items leave their kind out; a List's say it, and need not be pods.
            const bool is_pod = item.is_object() && (kind == "PodList" || text_of(item, "kind") == "Pod");
            if (is_pod)
                read_pod(item, document, path + ".");
            else
                reject(document, path, "is not a Pod", what_is_read);
        }
    }

    void read_pod(const json& object, const Document& document, const std::string& path) {
        auto pod = pod_from_json(object, {.source = file_, .origin = origin_});
        if (!pod) return reject(document, path + pod.error().what, pod.error().why, pod.error().remedy);
        manifest_.pods.push_back(
            {std::make_shared<const Pod>(std::move(*pod)), document.lines.of(path + "metadata.uid")});
    }

    void reject(const Document& document, const std::string& path, const std::string& why, const std::string& remedy) {
        const std::string line = std::to_string(document.lines.of(path));
        reject_at(line, path.empty() ? why : path + ": " + why, remedy);
    }

    const std::string& file_;
    std::optional<PodOrigin> origin_;
    Manifest manifest_;
    std::size_t objects_ = 0;
};

}  // namespace

Manifest parse_manifest(const std::string& file, std::string_view text, std::optional<PodOrigin> origin) {
    const auto parsed = parse_documents(text, file.ends_with(".json") ? Syntax::json : Syntax::yaml);
    Reader reader(file, origin);
    for (const Document& document : parsed.documents) reader.read(document);
    for (const Error& fault : parsed.faults) reader.reject_at(fault.what, fault.why, fault.remedy);
    return reader.take();
}

}  // namespace evictd::kube
