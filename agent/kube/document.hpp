// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Manifest text, YAML or JSON, as the JSON values it stands for, with the line of every field. Knows nothing of pods.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "evictd/model/result.hpp"

namespace evictd::kube {

// Which line a field stands on. Fields are named by path: `spec.containers[0].name`.
class Lines {
public:
    void start(int line);
    // A field or element of `parent` (0 is the document itself); returns its own number. `step` is `name` or `[3]`.
    std::size_t add(std::size_t parent, std::string step, int line);
    // Of the field, or of the nearest one above it that exists.
    [[nodiscard]] int of(std::string_view path) const;

    // A field with what is below it in the order of the text, which the values do not keep. What came through an alias
    // is not below it.
    struct Place {
        std::string_view step;  // as long as the Lines live
        int line;
        std::vector<Place> children;
    };
    // Of a top-level field; nothing if there is none.
    [[nodiscard]] std::optional<Place> tree(std::string_view field) const;

private:
    [[nodiscard]] Place place(std::size_t& at) const;
    struct Entry {
        std::size_t parent;
        std::string step;
        int line;
    };
    std::vector<Entry> entries_;
};

struct Document {
    nlohmann::json value;
    Lines lines;
};

enum class Syntax { yaml, json };

// Text that was fine up to a fault gives the documents before it and the fault, whose `what` is the line's number.
struct Documents {
    std::vector<Document> documents;
    std::vector<Error> faults;
};

// What all documents of a text may come to, counted as 16 for each value plus the length of its text. A manifest is at
// most 1 MiB and mostly text; four times that is out of reach without aliases of aliases, and still harmless.
inline constexpr std::size_t manifest_budget = std::size_t{4} << 20U;
// A scenario may hold a usage for every pod at every step: some million values. Each takes about ten times its cost.
inline constexpr std::size_t scenario_budget = std::size_t{48} << 20U;

// Never throws. Bounded whatever the text says: nesting, and what aliases expand to, are limited.
[[nodiscard]] Documents parse_documents(std::string_view text, Syntax syntax, std::size_t budget = manifest_budget);

}  // namespace evictd::kube
