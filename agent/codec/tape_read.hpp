// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// JSON back into any described value: the other half of tape_write.hpp. Refuses whatever the writer cannot have
// written, and figures no machine has, so that whoever computes with them need not fear an overflow. For tape_json.cpp
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
        std::apply([&](const auto&... each) { (make_empty(value.*each.member), ...); }, fields_of<T>());
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
    [[nodiscard]] std::string fault() const { return place_.empty() ? why_ : place_ + ": " + why_; }

    // False: `into` is of no use, and fault() says why.
    template <class T>
    bool read(const Json& json, T& into, std::string_view name) {
        return read(json, into) || prepend(name);
    }

    // The same of the value at `key`; a key that is missing leaves `into` as it is.
    template <class T>
    bool read_at(const Json& json, const char* key, T& into) {
        const auto found = json.find(key);
        return found == json.end() || read(*found, into, key);
    }

    template <SingleField T>
    bool read(const Json& json, T& into) {
        return read(json, into.*std::get<0>(fields_of<T>()).member);
    }
    template <DescribedStruct T>
    bool read(const Json& json, T& into) {
        if (!json.is_object()) return refuse("not an object");
        std::size_t known = 0;
        const auto one = [&](const auto& each) {
            const auto found = json.find(each.name);
            if (found == json.end()) {
                make_empty(into.*each.member);
                return true;
            }
            ++known;
            return read(*found, into.*each.member, each.name);
        };
        if (!std::apply([&](const auto&... each) { return (one(each) && ...); }, fields_of<T>())) return false;
        if (known != json.size()) return refuse_unknown_key<T>(json);
        return plausible(into) || refuse("figures beyond any machine's");
    }
    bool read(const Json& json, bool& into) {
        if (!json.is_boolean()) return refuse("neither true nor false");
        into = json.get<bool>();
        return true;
    }
    template <Number T>
    bool read(const Json& json, T& into) {
        if (!json.is_number_integer()) return refuse("not a whole number");
        const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                    : std::in_range<T>(json.get<std::int64_t>());
        if (!fits) return refuse("a number out of range");
        into = json.get<T>();
        return true;
    }
    bool read(const Json& json, float& into) {
        const auto* text = json.get_ptr<const std::string*>();
        if (text == nullptr) return refuse("not the text of a number");
        const auto* end = text->data() + text->size();
        const auto parsed = std::from_chars(text->data(), end, into);
        return (parsed.ec == std::errc{} && parsed.ptr == end) || refuse("not the text of a number");
    }
    template <class E>
    requires std::is_enum_v<E>
    bool read(const Json& json, E& into) {
        const auto* text = json.get_ptr<const std::string*>();
        const auto value = text == nullptr ? std::nullopt : from_name<E>(*text);
        if (!value) return refuse("an unknown word");
        into = *value;
        return true;
    }
    bool read(const Json& json, std::string& into) {
        const auto* text = json.get_ptr<const std::string*>();
        if (text == nullptr) return refuse("not a text");
        into = *text;
        return true;
    }
    bool read(const Json& json, Quantity& into) {
        const auto* text = json.get_ptr<const std::string*>();
        const auto quantity = text == nullptr ? std::nullopt : quantity_from_tape(*text);
        if (!quantity) return refuse("not a quantity");
        into = *quantity;
        return true;
    }
    bool read(const Json& /*json*/, ComputedOnce& /*into*/) { return refuse("not to be given: the pod says it"); }
    bool read(const Json& json, PodPtr& into) {
        std::uint32_t number = 0;
        if (!read(json, number)) return false;
        into = pod_at_(number);
        return into != nullptr || refuse("no pod has this number");
    }
    bool read(const Json& json, RuntimePtr& into) {
        std::uint32_t number = 0;
        if (!read(json, number)) return false;
        if (runtime_at_) into = runtime_at_(number);
        return into != nullptr || refuse("no inventory has this number");
    }
    template <TimeSpan T>
    bool read(const Json& json, T& into) {
        std::int64_t count = 0;
        if (!read(json, count)) return false;
        into = T(count);
        return std::same_as<T, std::chrono::seconds> || within(count, longest_time) || refuse("a time out of range");
    }
    bool read(const Json& json, MonotonicTime& into) {
        Duration since{};
        if (!read(json, since)) return false;
        into = MonotonicTime(since);
        return true;
    }
    bool read(const Json& json, WallTime& into) {
        Duration since{};
        if (!read(json, since)) return false;
        into = WallTime(since);
        return true;
    }
    template <class T>
    bool read(const Json& json, std::optional<T>& into) {
        into.reset();
        return json.is_null() || read(json, into.emplace());
    }
    template <class... T>
    bool read(const Json& json, std::variant<T...>& into) {
        if (!json.is_object() || json.size() != 1) return refuse("not an object with one key");
        const auto& words = words_of<std::variant<T...>>();
        std::size_t index = 0;
        bool found = false;
        bool good = false;
        const auto one = [&]<class A>(std::type_identity<A>) {
            if (json.begin().key() == words[index++]) {
                found = true;
                good = read(json.front(), into.template emplace<A>(), json.begin().key());
            }
        };
        (one(std::type_identity<T>{}), ...);
        return found ? good : refuse("an unknown kind");
    }
    template <class T>
    bool read(const Json& json, std::vector<T>& into) {
        into.clear();
        if (!json.is_array()) return refuse("not a list");
        if (json.size() > longest_list) return refuse("too long a list");
        for (const auto& each : json) {
            if (!read(each, into.emplace_back())) return prepend(place_in_list(into.size() - 1));
        }
        return true;
    }
    bool read(const Json& json, GarbageList& into) {
        std::vector<Garbage> list;
        const bool good = read(json, list);
        into = GarbageList(std::move(list));
        return good;
    }
    // One that was written when there were fewer signals is shorter.
    template <class T, std::size_t n>
    bool read(const Json& json, std::array<T, n>& into) {
        into = {};
        if (!json.is_array() || json.size() > n) return refuse("not a list of this length");
        for (std::size_t i = 0; i < json.size(); ++i) {
            if (!read(json[i], into[i])) return prepend(place_in_list(i));
        }
        return true;
    }
    bool read(const Json& json, std::map<std::string, std::string>& into) {
        into.clear();
        if (!json.is_object()) return refuse("not an object");
        for (const auto& [name, value] : json.items()) {
            if (!read(value, into[name], name)) return false;
        }
        return true;
    }

private:
    static std::string place_in_list(std::size_t index) { return "[" + std::to_string(index) + "]"; }
    bool refuse(std::string_view why) {
        why_ = why;
        return false;
    }
    template <class T>
    bool refuse_unknown_key(const Json& json) {
        for (const auto& [name, value] : json.items()) {
            const auto same = [&key = name](const auto&... each) { return ((each.name == key) || ...); };
            if (!std::apply(same, fields_of<T>())) return refuse("unknown key '" + printable(name).substr(0, 60) + "'");
        }
        return refuse("a key is given twice");
    }
    bool prepend(std::string_view name) {
        const bool joined = place_.empty() || place_.front() == '[';
        place_ = printable(name).substr(0, 60) + (joined ? "" : ".") + place_;
        return false;
    }

    PodAt pod_at_;
    RuntimeAt runtime_at_;
    std::string place_;
    std::string why_;
};

}  // namespace evictd::codec
