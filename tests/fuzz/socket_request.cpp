// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Every text that comes over the status socket, in either direction: no input may crash its reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/event_json.hpp"
#include "codec/status_request.hpp"
#include "codec/status_text.hpp"
#include "codec/yaml_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);  // NOLINT(*-reinterpret-cast)
    if (const auto request = evictd::codec::request_from_json(text)) {
        if (!evictd::codec::request_from_json(evictd::codec::to_json_line(*request))) __builtin_trap();
    }
    if (const auto event = evictd::codec::event_from_json(text)) {
        if (!evictd::codec::event_from_json(evictd::codec::to_json_line(*event, event->node))) __builtin_trap();
    }
    (void)evictd::codec::error_from_json(text);
    (void)evictd::codec::status_text(text, evictd::codec::Detail::wide, {true, true, 100, {}});
    (void)evictd::codec::rank_text(text, {});
    (void)evictd::codec::yaml_text(text);
    return 0;
}
