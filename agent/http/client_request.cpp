// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One request: its options, how the server is verified, and what becomes of the reply's bytes.
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "http/client_core.hpp"

namespace evictd::http {
namespace {

// Connecting, TLS included: a server that is up answers within one. Twice as long delays the retry, half as long gives
// up on one that is busy.
constexpr long connect_timeout_ms = 5000;
// A connection whose peer is gone without a word, as when a machine loses its power: noticed after this long, also
// while a watch is silent.
constexpr int dead_peer_timeout_ms = 30'000;
constexpr long keepalive_seconds = 10;
// Of a gRPC status: it is a line of a log.
constexpr std::size_t longest_message = 16 << 10;

curl_blob blob_of(std::string& text) { return {.data = text.data(), .len = text.size(), .flags = CURL_BLOB_COPY}; }

// False: no memory. A request without one of them would be another request.
bool add_headers(LinesPtr& lines, const Request& request) {
    return add_line(lines, "Accept: application/json") && add_line(lines, "Expect:") &&
           (!request.takes_trailers || add_line(lines, "TE: trailers")) &&
           (request.content_type.empty() || add_line(lines, "Content-Type: " + request.content_type)) &&
           (request.bearer_token.empty() || add_line(lines, "Authorization: Bearer " + request.bearer_token));
}

// A failed keepalive leaves the connection as it is: the request's timeout ends it.
int on_socket_made(void* /*own*/, curl_socket_t socket, curlsocktype /*purpose*/) {
    (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_peer_timeout_ms, sizeof(dead_peer_timeout_ms));
    return CURL_SOCKOPT_OK;
}

// "grpc-status: 12\r\n". HTTP/2 has names in lower case only.
void note_grpc(std::string_view line, Reply& reply) {
    constexpr std::string_view status = "grpc-status: ";
    constexpr std::string_view message = "grpc-message: ";
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(status)) {
        const auto text = line.substr(status.size());
        int code = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
        if (error == std::errc{} && end == text.data() + text.size()) reply.grpc_status = code;
    } else if (line.starts_with(message)) {
        reply.grpc_message = line.substr(message.size(), longest_message);
    }
}

}  // namespace

bool add_line(LinesPtr& lines, const std::string& line) {
    auto* longer = curl().slist_append(lines.get(), line.c_str());
    if (longer == nullptr) return false;
    (void)lines.release();
    lines.reset(longer);
    return true;
}

// The empty line ends the headers. Trailers come here too.
std::size_t Client::Core::on_header(char* data, std::size_t size, std::size_t count, void* call) {
    const std::string_view line(data, size * count);
    static_cast<Call*>(call)->core->pieces++;
    if (!note_header(*static_cast<Call*>(call), line.size())) return 0;
    note_grpc(line, static_cast<Call*>(call)->reply);
    return line == "\r\n" && !hand_on(*static_cast<Call*>(call), {}) ? 0 : line.size();
}

std::size_t Client::Core::on_body(char* data, std::size_t size, std::size_t count, void* call) {
    const std::string_view piece(data, size * count);
    static_cast<Call*>(call)->core->pieces++;
    return hand_on(*static_cast<Call*>(call), piece) ? piece.size() : 0;
}

// False: the request ends.
bool Client::Core::hand_on(Call& call, std::string_view piece) {
    long status = 0;
    (void)curl().easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) return true;  // "100 Continue": the reply is still to come
    if (status >= 300) return keep_of_refusal(call, piece);
    call.is_accepted = true;
    call.core->lift_limit(call);
    if (auto taken = call.on_data(piece); !taken) call.refused = taken.error();
    return !call.refused;
}

void Client::Core::set_tls_of(CURL* easy) {
    auto& tls = server.tls;
    (void)curl().easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl().easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    (void)curl().easy_setopt(easy, CURLOPT_CAINFO, nullptr);  // never the machine's own authorities
    (void)curl().easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    const auto trusted = blob_of(tls.trusted);
    (void)curl().easy_setopt(easy, CURLOPT_CAINFO_BLOB, &trusted);
    if (tls.certificate.empty()) return;
    const auto certificate = blob_of(tls.certificate);
    const auto key = blob_of(tls.key);
    (void)curl().easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
    (void)curl().easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
}

void Client::Core::set_connection_of(CURL* easy) {
    if (!server.unix_socket.empty()) {
        (void)curl().easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, server.unix_socket.c_str());
        (void)curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
        // libcurl 7.88 begins HTTP/2 anew on a connection that it uses again, which the server takes for an error. One
        // to a Unix socket costs next to nothing.
        (void)curl().easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl().easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    if (connect_to) (void)curl().easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to.get());
    (void)curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl().easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // A name server that does not answer must not hold up the lane: the thread that asks it is not waited for.
    (void)curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_USERAGENT, "evictd/" EVICTD_VERSION);
    set_tls_of(easy);
}

Status Client::Core::configure(Call& call, const Request& request) {
    call.easy.reset(curl().easy_init());
    auto* easy = call.easy.get();
    if (easy == nullptr || !add_headers(call.headers, request)) {
        return fail(ErrorKind::exhausted, server.url, "no memory for a request");
    }
    (void)curl().easy_setopt(easy, CURLOPT_PRIVATE, &call);
    (void)curl().easy_setopt(easy, CURLOPT_URL, (base + request.path).c_str());
    (void)curl().easy_setopt(easy, CURLOPT_HTTPHEADER, call.headers.get());
    (void)curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, call.fault.data());
    (void)curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl().easy_setopt(easy, CURLOPT_HEADERDATA, &call);
    (void)curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl().easy_setopt(easy, CURLOPT_WRITEDATA, &call);
    (void)curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // No CURLOPT_PIPEWAIT. A request beside a connection that is being made would wait to share it, and where that
    // turns out not to be HTTP/2, libcurl 7.88 leaves it waiting, without a time limit, until the other one has news.
    // So it makes a connection of its own; one that is open is shared.
    (void)curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, keepalive_seconds);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, keepalive_seconds);
    (void)curl().easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket_made);
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(request.timeout).count();
    (void)curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout));
    set_connection_of(easy);
    if (request.method != "GET") {
        call.body = request.body;
        (void)curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
        (void)curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
        (void)curl().easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.c_str());
    }
    return {};
}

}  // namespace evictd::http
