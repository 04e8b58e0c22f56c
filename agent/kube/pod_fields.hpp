// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The fields of a v1 Pod that pod_object reads, by their numbers in k8s.io/api/core/v1 generated.proto, which never
// change, with the keys and shapes of their JSON. For pod_protobuf.cpp alone; other fields are skipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evictd::kube::pod_fields {

enum class Form : std::uint8_t {
    text,
    integer,
    boolean,
    time,        // metav1.Time
    quantity,    // resource.Quantity
    texts,       // map<string, string>
    quantities,  // map<string, Quantity>
    message,
    inlined,  // a message whose fields JSON has among those of the one around it
    list,     // of messages
};

struct Row;
struct Table {
    const Row* rows = nullptr;
    std::size_t size = 0;
    const char* others = nullptr;  // other fields are an empty map of this key: there is something, whatever it is
};
struct Row {
    std::uint32_t number = 0;
    const char* key = nullptr;
    Form form = Form::text;
    Table table{};
};

template <std::size_t size>
constexpr Table table_of(const std::array<Row, size>& rows, const char* others = nullptr) {
    return {rows.data(), size, others};
}

inline constexpr std::array<Row, 5> owner_reference{{{1, "kind", Form::text},
                                                     {3, "name", Form::text},
                                                     {4, "uid", Form::text},
                                                     {6, "controller", Form::boolean},
                                                     {7, "blockOwnerDeletion", Form::boolean}}};
inline constexpr std::array<Row, 9> object_meta{{{1, "name", Form::text},
                                                 {3, "namespace", Form::text},
                                                 {5, "uid", Form::text},
                                                 {7, "generation", Form::integer},
                                                 {8, "creationTimestamp", Form::time},
                                                 {9, "deletionTimestamp", Form::time},
                                                 {10, "deletionGracePeriodSeconds", Form::integer},
                                                 {12, "annotations", Form::texts},
                                                 {13, "ownerReferences", Form::list, table_of(owner_reference)}}};
inline constexpr std::array<Row, 2> resource_requirements{
    {{1, "limits", Form::quantities}, {2, "requests", Form::quantities}}};
inline constexpr std::array<Row, 4> container{{{1, "name", Form::text},
                                               {2, "image", Form::text},
                                               {8, "resources", Form::message, table_of(resource_requirements)},
                                               {24, "restartPolicy", Form::text}}};
inline constexpr std::array<Row, 2> empty_dir{{{1, "medium", Form::text}, {2, "sizeLimit", Form::quantity}}};
inline constexpr std::array<Row, 0> nothing{};
inline constexpr std::array<Row, 2> volume_source{
    {{1, "hostPath", Form::message, table_of(nothing)}, {2, "emptyDir", Form::message, table_of(empty_dir)}}};
inline constexpr std::array<Row, 2> volume{
    {{1, "name", Form::text}, {2, "volumeSource", Form::inlined, table_of(volume_source, "otherSource")}}};
inline constexpr std::array<Row, 5> toleration{{{1, "key", Form::text},
                                                {2, "operator", Form::text},
                                                {3, "value", Form::text},
                                                {4, "effect", Form::text},
                                                {5, "tolerationSeconds", Form::integer}}};
inline constexpr std::array<Row, 11> pod_spec{{{1, "volumes", Form::list, table_of(volume)},
                                               {2, "containers", Form::list, table_of(container)},
                                               {4, "terminationGracePeriodSeconds", Form::integer},
                                               {5, "activeDeadlineSeconds", Form::integer},
                                               {10, "nodeName", Form::text},
                                               {20, "initContainers", Form::list, table_of(container)},
                                               {22, "tolerations", Form::list, table_of(toleration)},
                                               {24, "priorityClassName", Form::text},
                                               {25, "priority", Form::integer},
                                               {32, "overhead", Form::quantities},
                                               {40, "resources", Form::message, table_of(resource_requirements)}}};
inline constexpr std::array<Row, 3> condition{
    {{1, "type", Form::text}, {2, "status", Form::text}, {4, "lastTransitionTime", Form::time}}};
inline constexpr std::array<Row, 4> container_status{{{1, "name", Form::text},
                                                      {5, "restartCount", Form::integer},
                                                      {8, "containerID", Form::text},
                                                      {10, "allocatedResources", Form::quantities}}};
inline constexpr std::array<Row, 8> pod_status{{{1, "phase", Form::text},
                                                {2, "conditions", Form::list, table_of(condition)},
                                                {4, "reason", Form::text},
                                                {7, "startTime", Form::time},
                                                {8, "containerStatuses", Form::list, table_of(container_status)},
                                                {9, "qosClass", Form::text},
                                                {10, "initContainerStatuses", Form::list, table_of(container_status)},
                                                {19, "allocatedResources", Form::quantities}}};
inline constexpr std::array<Row, 3> pod{{{1, "metadata", Form::message, table_of(object_meta)},
                                         {2, "spec", Form::message, table_of(pod_spec)},
                                         {3, "status", Form::message, table_of(pod_status)}}};

}  // namespace evictd::kube::pod_fields
