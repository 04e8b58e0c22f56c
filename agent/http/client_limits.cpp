// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a server may send beside the body that was asked for: so many bytes, and for so long. Requests without a timeout
// would read it for ever.
#include <algorithm>
#include <chrono>

#include "http/client_core.hpp"
#include "sys/clock.hpp"

namespace evictd::http {
namespace {

using namespace std::chrono_literals;

// A v1.Status is some hundred bytes.
constexpr std::size_t most_of_a_refusal = 16 << 10;
// Go's servers send and take 1 MiB at most, and less than 1 KiB as a rule. A quarter of it is within what a proxy adds
// of cookies, and a gRPC message of a status comes here too.
constexpr std::size_t most_of_headers = 128 << 10;
// From the first header to the last, and to the end of a refusal. They are sent as soon as they are known; half of it
// gives up on a node that swaps.
constexpr Duration longest_reply = 10s;

}  // namespace

bool Client::Core::note_header(Call& call, std::size_t size) {
    call.header_bytes += size;
    if (call.header_bytes > most_of_headers) {
        call.refused = Error{ErrorKind::invalid, call.core->server.url, "its reply has too many headers", ""};
        return false;
    }
    if (!call.is_accepted) call.core->limit(call);
    return true;
}

bool Client::Core::keep_of_refusal(Call& call, std::string_view piece) {
    auto& body = call.reply.body;
    body.append(piece.substr(0, most_of_a_refusal - std::min(most_of_a_refusal, body.size())));
    call.has_enough = body.size() >= most_of_a_refusal;
    return !call.has_enough;
}

// From its first header; later ones change nothing.
void Client::Core::limit(Call& call) {
    const auto at = sys::SystemClock().monotonic() + longest_reply;
    if (limited.try_emplace(&call, at).second && limited.size() == 1) limits.arm(at);
}

void Client::Core::lift_limit(Call& call) { limited.erase(&call); }

// What on_done does may end other calls, which then are in `limited` no more.
void Client::Core::end_late_calls() {
    const auto now = sys::SystemClock().monotonic();
    const auto is_late = [now](const auto& entry) { return entry.second <= now; };
    for (auto late = std::find_if(limited.begin(), limited.end(), is_late); late != limited.end();
         late = std::find_if(limited.begin(), limited.end(), is_late)) {
        Call& call = *late->first;
        limited.erase(late);
        (void)curl().multi_remove_handle(multi.get(), call.easy.get());
        long status = 0;
        (void)curl().easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
        call.has_enough = status >= 300;
        finish(call, CURLE_OPERATION_TIMEDOUT);
    }
    const auto first = std::min_element(limited.begin(), limited.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (first != limited.end()) limits.arm(first->second);
}

}  // namespace evictd::http
