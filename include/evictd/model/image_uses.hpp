// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which containers use which image, and since when an image is known and unused. No runtime says so: it is made of the
// lists that it gives.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "evictd/model/runtime.hpp"

namespace evictd {

struct ImageUsers {
    struct Of {
        const RuntimeContainer* staying = nullptr;  // one of them
        bool leaving = false;                       // one of `gone` used it
    };
    std::vector<Of> of;                            // by image
    bool some_untold = false;                      // a container that stays gives no id of what it uses
    const RuntimeContainer* unresolved = nullptr;  // a container whose image is not listed under the name it gives
};

// A container names its image by id, digest or tag, and not every runtime has all of them. A tag may have moved to
// another image while the container runs the old one. `runtime` must outlive it.
[[nodiscard]] ImageUsers find_image_users(const Runtime& runtime, const std::unordered_set<std::string_view>& gone);

// realImageGCManager.detectImages: fills in what the runtime does not know of `runtime`'s images (first_detected,
// last_used, in_use), and `since`. `before`: the inventory before it; nullptr: this is the first, whose images are
// taken for old and never used. Where it cannot be told who uses what, every image is in use.
void note_image_uses(const Runtime* before, WallTime now, Runtime& runtime);

}  // namespace evictd
