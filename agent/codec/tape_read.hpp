// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// JSON back into any described value: the other half of tape_write.hpp. Refuses whatever the writer cannot have
// written, and figures no machine has, so that whoever computes with them need not fear an overflow. For the tape
// alone.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"
#include "tape_write.hpp"

namespace evictd::codec {

[[nodiscard]] std::optional<Quantity> quantity_from_tape(std::string_view text);

// Times up to 146 years from the epoch: the difference or sum of any two is one, too.
inline constexpr std::int64_t longest_time = (std::int64_t{1} << 62) - 1;
// 512 PiB, or as many inodes: sums of a few of them fit. Far beyond any disk; half of it would still be.
inline constexpr std::int64_t most_used = std::int64_t{1} << 59;
// Of pods, thresholds, containers. Ten times the pods of the largest nodes; what a forged line can make of us is
// bounded by it.
inline constexpr std::size_t longest_list = 65'536;

constexpr bool within(std::int64_t value, std::int64_t limit) { return value >= -limit && value <= limit; }
template <class T>
bool plausible(const T&) {
    return true;
}
inline bool plausible(const Reading& reading) {
    return within(reading.available.value, longest_time) && within(reading.capacity.value, longest_time);
}
inline bool plausible(const AvailableMemory& memory) {
    return within(memory.kubelet.value, longest_time) && within(memory.reclaimable.value, longest_time);
}
inline bool plausible(const MetThreshold& met) {
    return within(met.available.value, longest_time) && within(met.capacity.value, longest_time) &&
           within(met.quantity.value, longest_time);
}
inline bool plausible(const PodStall& stall) { return within(stall.reclaimed.value, most_used); }
inline bool plausible(const VolumeUsage& volume) { return within(volume.used.value, most_used); }
inline bool plausible(const ContainerUsage& container) {
    const Bytes none;
    return within(container.working_set.value_or(none).value, most_used) &&
           within(container.rootfs.value_or(none).value, most_used) &&
           within(container.logs.value_or(none).value, most_used);
}
inline bool plausible(const DiskUsage& disk) {
    return within(disk.rootfs.value, most_used) && within(disk.logs.value, most_used) &&
           within(disk.volumes.value, most_used) && within(disk.host_path.value, most_used) &&
           within(disk.rootfs_inodes, most_used) && within(disk.logs_inodes, most_used) &&
           within(disk.volumes_inodes, most_used);
}
inline bool plausible(const ObservedPod& observed) { return observed.pod != nullptr; }
inline bool plausible(const ObservedVictim& victim) { return within(victim.held.value_or(Bytes{}).value, most_used); }
inline bool plausible(const Owing& owing) { return within(owing.left.value_or(Bytes{}).value, most_used); }
inline bool plausible(const Victim& victim) { return within(victim.usage.value_or(Bytes{}).value, most_used); }
inline bool plausible(const PodUsage& usage) {
    return within(usage.usage.value, most_used) && within(usage.working_set.value, most_used) &&
           within(usage.anon.value, most_used) && within(usage.file.value, most_used);
}

template <class T>
void make_empty(T& value) {
    if constexpr (DescribedStruct<T>)
        make_empty_struct(members_of<T>(), &value);
    else
        value = T{};
}

class ValueReader {
public:
    using Json = nlohmann::json;  // ordered_json copies what it holds as it grows: a deep value would end the stack
    using PodAt = std::function<PodPtr(std::uint32_t)>;          // null: there is none of this number
    using RuntimeAt = std::function<RuntimePtr(std::uint32_t)>;  // likewise
    explicit ValueReader(PodAt pod_at, RuntimeAt runtime_at = {})
        : pod_at_(std::move(pod_at)), runtime_at_(std::move(runtime_at)) {}

    // "pods[3].usage: not a whole number", once a read() was false.
    [[nodiscard]] std::string fault() const;

    // False: `into` is of no use, and fault() says why.
    template <class T>
    bool read(const Json& json, T& into, std::string_view name) {
        return read(json, into) || prepend(name);
    }

    // The same of the value at `key`; a key that is missing leaves `into` as it is.
    template <class T>
    bool read_at(const Json& json, std::string_view key, T& into) {
        const auto* found = value_at(json, key);
        return found == nullptr || read(*found, into, key);
    }

    template <SingleField T>
    bool read(const Json& json, T& into) {
        return read(json, into.*sole_member(fields_of<T>()));
    }
    template <DescribedStruct T>
    bool read(const Json& json, T& into) {
        return read_struct(json, members_of<T>(), &into) && (plausible(into) || refuse("figures beyond any machine's"));
    }
    bool read(const Json& json, bool& into);
    template <Number T>
    bool read(const Json& json, T& into) {
        const auto value = whole_number(json);
        if (!value) return refuse("not a whole number");
        if (*value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max())
            return refuse("a number out of range");
        into = static_cast<T>(*value);
        return true;
    }
    bool read(const Json& json, float& into);
    template <class E>
    requires std::is_enum_v<E>
    bool read(const Json& json, E& into) {
        const auto* text = text_of(json);
        const auto value = text == nullptr ? std::nullopt : from_name<E>(*text);
        if (!value) return refuse("an unknown word");
        into = *value;
        return true;
    }
    bool read(const Json& json, std::string& into);
    bool read(const Json& json, Quantity& into);
    bool read(const Json& /*json*/, ComputedOnce& /*into*/) { return refuse("not to be given: the pod says it"); }
    bool read(const Json& json, PodPtr& into);
    bool read(const Json& json, RuntimePtr& into);
    template <TimeSpan T>
    bool read(const Json& json, T& into) {
        std::int64_t count = 0;
        if (!read(json, count)) return false;
        into = T(count);
        return std::same_as<T, std::chrono::seconds> || within(count, longest_time) || refuse("a time out of range");
    }
    bool read(const Json& json, MonotonicTime& into);
    bool read(const Json& json, WallTime& into);
    template <class T>
    bool read(const Json& json, std::optional<T>& into) {
        into.reset();
        return json.is_null() || read(json, into.emplace());
    }
    template <class... T>
    bool read(const Json& json, std::variant<T...>& into) {
        const auto* only = only_member(json);
        if (only == nullptr) return refuse("not an object with one key");
        const auto& words = words_of<std::variant<T...>>();
        std::size_t index = 0;
        bool found = false;
        bool good = false;
        const auto one = [&]<class A>(std::type_identity<A>) {
            if (only->first == words[index++]) {
                found = true;
                good = read(only->second, into.template emplace<A>(), only->first);
            }
        };
        (one(std::type_identity<T>{}), ...);
        return found ? good : refuse("an unknown kind");
    }
    template <class T>
    bool read(const Json& json, std::vector<T>& into) {
        into.clear();
        const auto* list = list_of(json);
        if (list == nullptr) return refuse("not a list");
        if (list->size() > longest_list) return refuse("too long a list");
        for (const auto& each : *list) {
            if (!read(each, into.emplace_back())) return prepend(place_in_list(into.size() - 1));
        }
        return true;
    }
    bool read(const Json& json, GarbageList& into);
    // One that was written when there were fewer signals is shorter.
    template <class T, std::size_t n>
    bool read(const Json& json, std::array<T, n>& into) {
        into = {};
        const auto* list = list_of(json);
        if (list == nullptr || list->size() > n) return refuse("not a list of this length");
        for (std::size_t i = 0; i < list->size(); ++i) {
            if (!read((*list)[i], into[i])) return prepend(place_in_list(i));
        }
        return true;
    }
    bool read(const Json& json, std::map<std::string, std::string>& into);

private:
    // Null or nullopt if the value has another type.
    static std::optional<Int128> whole_number(const Json& json);
    static const Json* value_at(const Json& json, std::string_view key);
    static const std::string* text_of(const Json& json);
    static const Json::array_t* list_of(const Json& json);
    static const Json::object_t::value_type* only_member(const Json& json);

    static std::string place_in_list(std::size_t index);
    bool refuse(std::string_view why);
    bool read_struct(const Json& json, Members members, void* whole);
    // `known`: how many of its keys name members.
    bool has_only_retired_keys_besides(const Json& json, Members members, std::size_t known);
    bool prepend(std::string_view name);

    PodAt pod_at_;
    RuntimeAt runtime_at_;
    std::string place_;
    std::string why_;
};

template <class T>
struct ActionsOf {
    static bool is_empty(const void* value) { return codec::is_empty(*static_cast<const T*>(value)); }
    static void make_empty(void* value) { codec::make_empty(*static_cast<T*>(value)); }
    static void write(ValueWriter& writer, const void* value) { writer.write(*static_cast<const T*>(value)); }
    static bool read(ValueReader& reader, const nlohmann::json& json, void* value) {
        return reader.read(json, *static_cast<T*>(value));
    }
    static constexpr TypeActions all{is_empty, make_empty, write, read};
};

}  // namespace evictd::codec
