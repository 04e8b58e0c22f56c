// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Amounts are read as the API server keeps them: to the thousandth, rounded up.
#include "kube/pod_spec.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "evictd/model/text.hpp"
#include "kube/pod_metadata.hpp"

namespace evictd::kube {
namespace {

// No node runs a pod of so many. What a pod costs grows with them, and a file of a MiB could have 60,000.
constexpr std::size_t most_containers = 1000;

// SetDefaults_ResourceList.
std::optional<Quantity> amount(const Value& field) {
    const auto exact = field.quantity();
    if (!exact) return exact;
    constexpr Int128 milli = 1'000'000;  // in nano
    const Int128 rest = exact->nano() % milli;
    return rest == 0 ? *exact : Quantity(exact->nano() - rest + milli, exact->format());
}

bool has_hugepages(const Value& list) {
    bool has_any = false;
    for (const Value& field : list.fields())
        if (field.key().starts_with("hugepages-") && field.quantity()) has_any = true;
    return has_any;
}

// validateResourceRequirements: a request beyond its limit could never have been admitted.
void check_against_limit(const Value& requests, const char* name, const std::optional<Quantity>& request,
                         const std::optional<Quantity>& limit) {
    if (request && limit && *limit < *request)
        requests[name].refuse(
            "must be less than or equal to the " + std::string(name) + " limit of " + to_string(*limit),
            "lower the request, or raise the limit");
}

std::pair<ResourceList, ResourceList> read_requests_and_limits(const Value& field, const PodRules& rules) {
    const Value requests = field["requests"];
    std::pair<ResourceList, ResourceList> read{read_resources(requests), read_resources(field["limits"])};
    if (!rules.uid_required) return read;
    check_against_limit(requests, "cpu", read.first.cpu, read.second.cpu);
    check_against_limit(requests, "memory", read.first.memory, read.second.memory);
    check_against_limit(requests, "ephemeral-storage", read.first.ephemeral_storage, read.second.ephemeral_storage);
    return read;
}

std::string read_container_name(const Value& field, const PodRules& rules) {
    constexpr auto rule = "use up to 63 lower case letters, digits and dashes";
    const auto name = field.text();
    if (rules.uid_required && !field.present()) field.refuse("missing", rule);
    const bool fits =
        rules.uid_required ? is_dns_label(name.value_or("")) : !name || name->empty() || is_one_word(*name);
    if (name && !fits) field.refuse("invalid name " + in_quotes(*name), rule);
    return name.value_or("");
}

// Kubernetes bounds its length only by that of the pod, and it is kept. A longer one can be pulled from nowhere: a name
// has 255 bytes at most, and a tag and a digest come after it.
std::string read_image(const Value& field) {
    constexpr std::size_t longest = 1024;
    auto image = field.text().value_or("");
    return image.size() <= longest ? std::string(image) : std::string();
}

std::vector<Container> read_containers(const Value& list, const PodRules& rules) {
    std::vector<Container> containers;
    const std::vector<Value> elements = list.elements();
    if (elements.size() > most_containers) {
        list.refuse("has more than " + std::to_string(most_containers) + " containers", "is this a Pod?");
        return containers;
    }
    std::set<std::string> names;
    for (const Value& element : elements) {
        Container container;
        container.name = read_container_name(element["name"], rules);
        std::tie(container.requests, container.limits) = read_requests_and_limits(element["resources"], rules);
        container.image = read_image(element["image"]);
        if (!container.name.empty() && !names.insert(container.name).second)
            element["name"].refuse("used twice: " + in_quotes(container.name), "give each container its own name");
        containers.push_back(std::move(container));
    }
    return containers;
}

// podutil.IsRestartableInitContainer.
std::vector<Container> read_init_containers(const Value& list, const PodRules& rules) {
    std::vector<Container> containers = read_containers(list, rules);
    const std::vector<Value> elements = list.elements();
    for (std::size_t i = 0; i < containers.size(); ++i)
        containers[i].restartable = elements[i]["restartPolicy"].text() == "Always";
    return containers;
}

Volume read_volume(const Value& field) {
    Volume volume;
    volume.name = field["name"].text().value_or("");
    const Value empty_dir = field["emptyDir"];
    const std::vector<Value> given = field.fields();
    const bool has_source =
        std::any_of(given.begin(), given.end(), [](const Value& one) { return one.present() && one.key() != "name"; });
    // SetDefaults_Volume: without any source it is an emptyDir.
    if (empty_dir.present() || !has_source) {
        volume.kind = VolumeKind::empty_dir;
        volume.in_memory = !empty_dir["medium"].text().value_or("").empty();  // Memory, or HugePages of some size
        volume.size_limit = empty_dir["sizeLimit"].quantity();
    } else if (field["hostPath"].present()) {
        volume.kind = VolumeKind::host_path;
    }
    volume.image = field["image"]["reference"].text().value_or("");
    return volume;
}

Toleration read_toleration(const Value& field) {
    return {field["key"].text().value_or(""), field["operator"].text().value_or(""), field["value"].text().value_or(""),
            field["effect"].text().value_or(""), field["tolerationSeconds"].integer()};
}

std::chrono::seconds read_grace(const Value& field) {
    // The kubelet gives every pod at least 1 s (pod_workers calculateEffectiveGracePeriod); only a negative one is
    // lifted here, so that 0 stays what was written.
    const std::chrono::seconds grace = field.seconds().value_or(std::chrono::seconds(30));
    return grace.count() < 0 ? std::chrono::seconds(1) : grace;
}

std::optional<std::int32_t> read_priority(const Value& field) {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto priority = field.integer(Limits::min(), Limits::max());
    return priority ? std::optional(static_cast<std::int32_t>(*priority)) : std::nullopt;
}

}  // namespace

ResourceList read_resources(const Value& list) {
    return {amount(list["cpu"]), amount(list["memory"]), amount(list["ephemeral-storage"]), has_hugepages(list)};
}

void read_spec(const Value& spec, const PodRules& rules, Pod& pod) {
    if (!spec.present() && rules.uid_required) return spec.refuse("missing", "a pod needs spec.containers");
    pod.containers = read_containers(spec["containers"], rules);
    pod.init_containers = read_init_containers(spec["initContainers"], rules);
    if (pod.containers.empty() && rules.uid_required)
        spec["containers"].refuse("missing or empty", "a pod needs at least one container");
    pod.has_resources = spec["resources"].present();
    std::tie(pod.requests, pod.limits) = read_requests_and_limits(spec["resources"], rules);
    pod.overhead = read_resources(spec["overhead"]);
    for (const Value& volume : spec["volumes"].elements()) pod.volumes.push_back(read_volume(volume));
    for (const Value& toleration : spec["tolerations"].elements())
        pod.tolerations.push_back(read_toleration(toleration));
    pod.node_name = spec["nodeName"].text().value_or("");
    pod.priority = read_priority(spec["priority"]);
    pod.priority_class_name = spec["priorityClassName"].text().value_or("");
    pod.termination_grace_period = read_grace(spec["terminationGracePeriodSeconds"]);
    pod.active_deadline = spec["activeDeadlineSeconds"].seconds();
}

}  // namespace evictd::kube
