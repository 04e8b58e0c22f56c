// SPDX-License-Identifier: Apache-2.0
// Manifest text, YAML or JSON, as the JSON values it stands for, with the line of every field. Knows nothing of pods.
#pragma once

#include <cstddef>
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

private:
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

// Never throws. Bounded whatever the text says: nesting, and what aliases expand to, are limited.
[[nodiscard]] Documents parse_documents(std::string_view text, Syntax syntax);

}  // namespace evictd::kube
