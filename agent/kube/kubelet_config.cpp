// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/kubelet_config.hpp"

#include <optional>
#include <utility>

#include "http/client.hpp"
#include "kube/pod_text.hpp"
#include "sys/clock.hpp"
#include "sys/loop.hpp"

namespace evictd::kube {
namespace {

// A KubeletConfiguration with all defaults has 5 KiB.
constexpr std::size_t longest_config = std::size_t{1} << 20U;

Result<http::ServerAddress> server_of(const KubeletAddress& address, const ApiAccess& access) {
    http::Tls tls = access.server.tls;
    tls.server_name = address.name;
    auto trusted = read_trusted_file(address.ca_file);
    if (!trusted) return tl::unexpected(trusted.error());
    tls.trusted = std::move(*trusted);
    return http::ServerAddress{.url = address.url, .tls = std::move(tls)};
}

Status take_piece(std::string& text, std::string_view piece) {
    if (text.size() + piece.size() > longest_config) {
        return fail(ErrorKind::invalid, "kubelet's /configz", "the reply has more than 1 MiB");
    }
    text += piece;
    return {};
}

}  // namespace

Result<std::string> fetch_kubelet_config(const KubeletAddress& address, AccessSource& access, Duration timeout) {
    const auto given = access.get();
    if (!given) return tl::unexpected(given.error());
    auto server = server_of(address, **given);
    if (!server) return tl::unexpected(server.error());
    auto token = current_token(**given);
    if (!token) return tl::unexpected(token.error());
    auto loop = sys::Loop::make();
    if (!loop) return tl::unexpected(loop.error());
    auto client = http::Client::make(*loop, std::move(*server));
    if (!client) return tl::unexpected(client.error());
    std::string text;
    std::optional<Result<http::Reply>> done;
    const auto call = (*client)->start(
        {.path = "/configz", .content_type = {}, .body = {}, .bearer_token = std::move(*token), .timeout = timeout},
        [&](std::string_view piece) { return take_piece(text, piece); },
        [&](Result<http::Reply> reply) { done = std::move(reply); });
    if (!call) return tl::unexpected(call.error());
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + timeout + std::chrono::seconds(1);
    while (!done && clock.monotonic() < end) {
        if (auto turned = loop->run_once(std::chrono::seconds(1)); !turned) return tl::unexpected(turned.error());
    }
    if (!done) return fail(ErrorKind::unreachable, "kubelet's /configz", "no answer");
    if (!*done) return tl::unexpected(done->error());
    if (!(*done)->accepted()) return tl::unexpected(refusal("kubelet", **done, "grant get of nodes/configz"));
    return text;
}

}  // namespace evictd::kube
