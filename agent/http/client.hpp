// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// HTTP requests to one server, in one lane: the only user of libcurl. Knows nothing of Kubernetes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "sys/loop.hpp"

namespace evictd::http {

// Certificates and keys are PEM texts. The server's certificate is always verified; without `trusted` every https
// server is refused.
struct Tls {
    std::string trusted;      // authorities, or the server's own certificate
    std::string server_name;  // that the certificate must have; empty: the host of the URL
    std::string certificate;  // the client's; empty: none is shown
    std::string key;
    friend bool operator==(const Tls&, const Tls&) = default;
};

struct ServerAddress {
    std::string url;  // "https://10.96.0.1:443"
    Tls tls;
    std::string unix_socket{};  // its path: that is connected to instead, without TLS and with HTTP/2 from the start
    friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

struct Request {
    std::string method = "GET";
    std::string path;  // with its query
    std::string content_type;
    std::string body;
    std::string bearer_token;     // in no message and no log
    Duration timeout{0};          // of the whole request; 0: none
    bool takes_trailers = false;  // as gRPC asks for them
};

struct Reply {
    long status = 0;   // 0: there was none
    std::string body;  // of a refusal (not 2xx), its beginning; what was accepted went to OnData
    std::optional<std::chrono::seconds> retry_after;
    std::optional<int> grpc_status{};  // from the headers or the trailers
    std::string grpc_message{};        // as it was sent: percent-encoded, and text of the server's

    [[nodiscard]] bool accepted() const { return status >= 200 && status < 300; }
};

// Error: libcurl is not installed.
[[nodiscard]] Status is_client_usable();

class Client {
public:
    // A piece of an accepted reply's body; an empty one first, when the reply begins. An error ends the request with
    // it.
    using OnData = std::function<Status(std::string_view)>;
    // Once, at the end, never within start(). An error: no reply, or not all of it. It may start another request, and
    // end this Call. Whatever the server is: more than 128 KiB of headers are an error, as are headers that take longer
    // than 10 s from their first line; a refusal ends after 16 KiB or 10 s with what there is of it. A reply that is
    // accepted is bounded by its OnData and the request's timeout, and one that does not begin by the timeout alone.
    using OnDone = std::function<void(Result<Reply>)>;

    // A request that is under way. Its destructor cancels it: no function is called any more. Not from OnData.
    class Call;
    struct CancelCall {
        void operator()(Call* call) const;
    };
    using CallPtr = std::unique_ptr<Call, CancelCall>;

    // All in the loop's thread. The loop must outlive the client, and the client its calls. Connections are kept and
    // shared between requests, but for those to a Unix socket. No proxy, no redirects. Errors: libcurl is not
    // installed, there is no descriptor or memory, or, with a server_name, the URL is none (`invalid`).
    static Result<std::unique_ptr<Client>> make(sys::Loop& loop, ServerAddress server);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client();

    // Error: no memory, and neither function is called. What fails later comes to `on_done`.
    [[nodiscard]] Result<CallPtr> start(const Request& request, OnData on_data, OnDone on_done);
    // Requests so far.
    [[nodiscard]] std::uint64_t started() const;
    // For another certificate, of the server or of ours: requests from now on use new connections.
    void set_tls(Tls tls);

private:
    struct Core;
    explicit Client(std::unique_ptr<Core> core);
    std::unique_ptr<Core> core_;
};

}  // namespace evictd::http
