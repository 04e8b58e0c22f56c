// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Manifest text, YAML and JSON, to pods. Anything may be refused; nothing may crash, hang or grow without bound, and
// what is accepted has an identity that is safe to build a path from.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/manifest_text.hpp"

namespace {

void check(const evictd::kube::Manifest& manifest) {
    for (const auto& [pod, line] : manifest.pods) {
        const bool is_sound = !pod->uid.value.empty() && pod->uid.value.find_first_of("/._") == std::string::npos &&
                              !pod->name.empty() && pod->name.find('/') == std::string::npos &&
                              !pod->containers.empty() && pod->termination_grace_period.count() >= 0 && line > 0;
        if (!is_sound) std::abort();
        for (const auto& container : pod->containers)
            if (container.requests.memory && container.requests.memory->sign() < 0) std::abort();
    }
    for (const auto& error : manifest.rejected)
        if (error.kind != evictd::ErrorKind::invalid || error.why.empty() || error.remedy.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(input), size);
    check(evictd::kube::parse_manifest("fuzz.yaml", text, {}));
    check(evictd::kube::parse_manifest("fuzz.json", text, evictd::PodOrigin::static_file));
    return 0;
}
