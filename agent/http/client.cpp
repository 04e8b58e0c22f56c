// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/client.hpp"

#include <chrono>
#include <utility>

#include "evictd/model/text.hpp"
#include "http/client_core.hpp"

namespace evictd::http {

// The certificate is checked against the name in the URL. With Tls::server_name that is this name, and the connection
// still goes to the URL's host.
Status Client::Core::resolve() {
    base = server.url;
    if (server.tls.server_name.empty()) return {};
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl().url(), curl().url_cleanup);
    const auto part = [&](CURLUPart wanted) {
        char* text = nullptr;
        if (curl().url_get(url.get(), wanted, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return std::string();
        std::string copy(text);
        curl().free(text);
        return copy;
    };
    if (!url || curl().url_set(url.get(), CURLUPART_URL, server.url.c_str(), 0) != CURLUE_OK) {
        return fail(ErrorKind::invalid, server.url, "not a URL", "https://HOST:PORT");
    }
    const auto place = part(CURLUPART_HOST) + ":" + part(CURLUPART_PORT);
    if (!add_line(connect_to, server.tls.server_name + ":" + part(CURLUPART_PORT) + ":" + place)) {
        return fail(ErrorKind::exhausted, server.url, "no memory for its address");
    }
    base = part(CURLUPART_SCHEME) + "://" + server.tls.server_name + ":" + part(CURLUPART_PORT);
    if (auto path = part(CURLUPART_PATH); path != "/") base += path;
    return {};
}

void Client::Core::finish_calls() {
    int left = 0;
    while (const auto* message = curl().multi_info_read(multi.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        void* own = nullptr;
        (void)curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &own);
        (void)curl().multi_remove_handle(multi.get(), message->easy_handle);  // `message` is gone
        lift_limit(*static_cast<Call*>(own));
        finish(*static_cast<Call*>(own), code);
    }
}

// `call` is not used after on_done: its owner may end it there.
void Client::Core::finish(Call& call, CURLcode code) const {
    const auto on_done = std::move(call.on_done);
    call.on_data = {};
    (void)curl().easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &call.reply.status);
    curl_off_t wait = 0;
    if (curl().easy_getinfo(call.easy.get(), CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0) {
        call.reply.retry_after = std::chrono::seconds(wait);
    }
    if (call.refused) return on_done(tl::unexpected(std::move(*call.refused)));
    if (code == CURLE_OK || call.has_enough) return on_done(std::move(call.reply));
    const std::string detail = call.fault[0] != '\0' ? call.fault.data() : curl().easy_strerror(code);
    const bool untrusted = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    on_done(fail(untrusted ? ErrorKind::invalid : ErrorKind::unreachable, server.url, excerpt(detail, 200),
                 untrusted ? "check the authority that is trusted for it, its name and this machine's clock" : ""));
}

Status is_client_usable() { return load_curl(); }

Client::Client(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(sys::Loop& loop, ServerAddress server) {
    if (auto loaded = load_curl(); !loaded) return tl::unexpected(loaded.error());
    auto core = std::make_unique<Core>(loop, std::move(server));
    if (auto opened = core->open(); !opened) return tl::unexpected(opened.error());
    if (auto resolved = core->resolve(); !resolved) return tl::unexpected(resolved.error());
    return std::unique_ptr<Client>(new Client(std::move(core)));
}

Result<Client::CallPtr> Client::start(const Request& request, OnData on_data, OnDone on_done) {
    CallPtr call(new Call);
    call->core = core_.get();
    call->on_data = std::move(on_data);
    call->on_done = std::move(on_done);
    if (auto ready = core_->configure(*call, request); !ready) return tl::unexpected(ready.error());
    if (curl().multi_add_handle(core_->multi.get(), call->easy.get()) != CURLM_OK) {
        return fail(ErrorKind::exhausted, core_->server.url, "no memory for a request");
    }
    core_->started++;
    return call;
}

void Client::CancelCall::operator()(Call* call) const {
    call->core->lift_limit(*call);
    if (call->easy) (void)curl().multi_remove_handle(call->core->multi.get(), call->easy.get());
    delete call;  // NOLINT(cppcoreguidelines-owning-memory): this is CallPtr's deleter
}

std::uint64_t Client::started() const { return core_->started; }

void Client::set_tls(Tls tls) {
    core_->server.tls.trusted = std::move(tls.trusted);
    core_->server.tls.certificate = std::move(tls.certificate);
    core_->server.tls.key = std::move(tls.key);
}

}  // namespace evictd::http
