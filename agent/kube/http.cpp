// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libcurl's sockets are in an epoll set of their own, which is one descriptor of our loop; its timeouts are one timer.
#include "kube/http.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "evictd/model/text.hpp"
#include "kube/curl_library.hpp"
#include "sys/fd.hpp"

namespace evictd::kube {
namespace {

// Connecting, TLS included: a server that is up answers within one. Twice as long delays the retry, half as long gives
// up on one that is busy.
constexpr long connect_timeout_ms = 5000;
// A connection whose peer is gone without a word, as when a machine loses its power: noticed after this long, also
// while a watch is silent.
constexpr int dead_peer_timeout_ms = 30'000;
constexpr long keepalive_seconds = 10;
// Of a refusal: a v1.Status is some hundred bytes.
constexpr std::size_t most_of_a_refusal = 16 << 10;
// A watch, a request beside it and a reconnect.
constexpr long most_idle_connections = 4;

struct EasyDelete {
    void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
};
struct MultiDelete {
    void operator()(CURLM* multi) const { (void)curl().multi_cleanup(multi); }
};
struct ListDelete {
    void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using EasyPtr = std::unique_ptr<CURL, EasyDelete>;
using LinesPtr = std::unique_ptr<curl_slist, ListDelete>;

void add_line(LinesPtr& lines, const std::string& line) {
    if (auto* longer = curl().slist_append(lines.get(), line.c_str()); longer != nullptr) {
        (void)lines.release();
        lines.reset(longer);
    }
}

curl_blob blob_of(std::string& text) { return {.data = text.data(), .len = text.size(), .flags = CURL_BLOB_COPY}; }

// A failed keepalive leaves the connection as it is: the request's timeout ends it.
int on_socket_made(void* /*own*/, curl_socket_t socket, curlsocktype /*purpose*/) {
    (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_peer_timeout_ms, sizeof(dead_peer_timeout_ms));
    return CURL_SOCKOPT_OK;
}

}  // namespace

class HttpClient::Call {
public:
    Core* core = nullptr;
    EasyPtr easy;
    LinesPtr headers;
    std::string body;  // that is sent
    std::array<char, CURL_ERROR_SIZE> fault{};
    HttpReply reply;
    std::optional<Error> refused;  // by OnData
    OnData on_data;
    OnDone on_done;
};

struct HttpClient::Core {
    sys::Loop& loop;
    HttpServerAddress server;
    std::string base;     // the URL with the name that is verified
    LinesPtr connect_to;  // where that name is; null: where the URL says
    sys::Fd epoll;
    std::unique_ptr<CURLM, MultiDelete> multi;
    sys::Source ready;
    sys::Timer timer;
    std::uint64_t started = 0;

    Core(sys::Loop& of, HttpServerAddress address) : loop(of), server(std::move(address)) {}
    Status open();
    Status resolve();
    Status configure(Call& call, const HttpRequest& request);
    void set_tls_of(CURL* easy);
    void on_ready() const;
    void finish_calls() const;
    void finish(Call& call, CURLcode code) const;

    static bool hand_on(Call& call, std::string_view piece);
    static int on_socket(CURL* easy, curl_socket_t socket, int wanted, void* core, void* known);
    static int on_timer(CURLM* multi, long milliseconds, void* core);
    static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* call);
    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* call);
};

Status HttpClient::Core::open() {
    epoll = sys::Fd(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return sys::fail_errno("epoll", errno);
    multi.reset(curl().multi_init());
    if (!multi) return fail(ErrorKind::failed, server.url, "the HTTP library does not start");
    auto made = loop.add_timer([this] {
        int running = 0;
        (void)curl().multi_socket_action(multi.get(), CURL_SOCKET_TIMEOUT, 0, &running);
        finish_calls();
    });
    if (!made) return tl::unexpected(made.error());
    timer = std::move(*made);
    auto added = loop.add_fd(epoll.get(), [this] { on_ready(); });
    if (!added) return tl::unexpected(added.error());
    ready = std::move(*added);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, this);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_TIMERDATA, this);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, most_idle_connections);
    return {};
}

// The certificate is checked against the name in the URL. With Tls::server_name that is this name, and the connection
// still goes to the URL's host.
Status HttpClient::Core::resolve() {
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
    add_line(connect_to, server.tls.server_name + ":" + part(CURLUPART_PORT) + ":" + place);
    base = part(CURLUPART_SCHEME) + "://" + server.tls.server_name + ":" + part(CURLUPART_PORT);
    if (auto path = part(CURLUPART_PATH); path != "/") base += path;
    return {};
}

int HttpClient::Core::on_socket(CURL* /*easy*/, curl_socket_t socket, int wanted, void* core, void* known) {
    auto& self = *static_cast<Core*>(core);
    if (wanted == CURL_POLL_REMOVE) {
        (void)epoll_ctl(self.epoll.get(), EPOLL_CTL_DEL, socket, nullptr);
        return 0;
    }
    epoll_event event{};
    event.data.fd = socket;
    if ((wanted & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
    if ((wanted & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
    const int operation = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    // An error would end all requests, and each later one. Without it this one runs into its timeout.
    (void)epoll_ctl(self.epoll.get(), operation, socket, &event);
    (void)curl().multi_assign(self.multi.get(), socket, core);
    return 0;
}

int HttpClient::Core::on_timer(CURLM* /*multi*/, long milliseconds, void* core) {
    auto& self = *static_cast<Core*>(core);
    if (milliseconds < 0) {
        self.timer.disarm();
    } else {
        self.timer.arm_in(std::chrono::milliseconds(milliseconds));
    }
    return 0;
}

void HttpClient::Core::on_ready() const {
    std::array<epoll_event, 8> events{};
    const int count = epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; i++) {
        const auto& event = events.at(static_cast<std::size_t>(i));
        int what = 0;
        if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
        if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
        if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
        int running = 0;
        (void)curl().multi_socket_action(multi.get(), event.data.fd, what, &running);
    }
    finish_calls();
}

void HttpClient::Core::finish_calls() const {
    int left = 0;
    while (const auto* message = curl().multi_info_read(multi.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        void* own = nullptr;
        (void)curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &own);
        (void)curl().multi_remove_handle(multi.get(), message->easy_handle);  // `message` is gone
        finish(*static_cast<Call*>(own), code);
    }
}

// `call` is not used after on_done: its owner may end it there.
void HttpClient::Core::finish(Call& call, CURLcode code) const {
    const auto on_done = std::move(call.on_done);
    call.on_data = {};
    (void)curl().easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &call.reply.status);
    curl_off_t wait = 0;
    if (curl().easy_getinfo(call.easy.get(), CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0) {
        call.reply.retry_after = std::chrono::seconds(wait);
    }
    if (call.refused) return on_done(tl::unexpected(std::move(*call.refused)));
    if (code == CURLE_OK) return on_done(std::move(call.reply));
    const std::string detail = call.fault[0] != '\0' ? call.fault.data() : curl().easy_strerror(code);
    const bool untrusted = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    on_done(fail(untrusted ? ErrorKind::invalid : ErrorKind::unreachable, server.url, excerpt(detail, 200),
                 untrusted ? "check the authority that is trusted for it, its name and this machine's clock" : ""));
}

// The empty line ends the headers.
std::size_t HttpClient::Core::on_header(char* data, std::size_t size, std::size_t count, void* call) {
    const std::string_view line(data, size * count);
    return line == "\r\n" && !hand_on(*static_cast<Call*>(call), {}) ? 0 : line.size();
}

std::size_t HttpClient::Core::on_body(char* data, std::size_t size, std::size_t count, void* call) {
    const std::string_view piece(data, size * count);
    return hand_on(*static_cast<Call*>(call), piece) ? piece.size() : 0;
}

// False: the request ends.
bool HttpClient::Core::hand_on(Call& call, std::string_view piece) {
    long status = 0;
    (void)curl().easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status >= 300) {
        auto& body = call.reply.body;
        body.append(piece.substr(0, most_of_a_refusal - std::min(most_of_a_refusal, body.size())));
        return true;
    }
    if (auto taken = call.on_data(piece); !taken) call.refused = taken.error();
    return !call.refused;
}

void HttpClient::Core::set_tls_of(CURL* easy) {
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

Status HttpClient::Core::configure(Call& call, const HttpRequest& request) {
    call.easy.reset(curl().easy_init());
    auto* easy = call.easy.get();
    if (easy == nullptr) return fail(ErrorKind::exhausted, server.url, "no memory for a request");
    add_line(call.headers, "Accept: application/json");
    add_line(call.headers, "Expect:");
    if (!request.content_type.empty()) add_line(call.headers, "Content-Type: " + request.content_type);
    if (!request.bearer_token.empty()) add_line(call.headers, "Authorization: Bearer " + request.bearer_token);
    (void)curl().easy_setopt(easy, CURLOPT_PRIVATE, &call);
    (void)curl().easy_setopt(easy, CURLOPT_URL, (base + request.path).c_str());
    if (connect_to) (void)curl().easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to.get());
    (void)curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl().easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // A name server that does not answer must not hold up the lane: the thread that asks it is not waited for.
    (void)curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_USERAGENT, "evictd/" EVICTD_VERSION);
    (void)curl().easy_setopt(easy, CURLOPT_HTTPHEADER, call.headers.get());
    (void)curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, call.fault.data());
    (void)curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl().easy_setopt(easy, CURLOPT_HEADERDATA, &call);
    (void)curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl().easy_setopt(easy, CURLOPT_WRITEDATA, &call);
    (void)curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // Beside a connection that is being made: whether it takes both requests is known once it is open.
    (void)curl().easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, keepalive_seconds);
    (void)curl().easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, keepalive_seconds);
    (void)curl().easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket_made);
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(request.timeout).count();
    (void)curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout));
    set_tls_of(easy);
    if (request.method != "GET") {
        call.body = request.body;
        (void)curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
        (void)curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
        (void)curl().easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.c_str());
    }
    return {};
}

Status is_client_usable() { return load_curl(); }

HttpClient::HttpClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::make(sys::Loop& loop, HttpServerAddress server) {
    if (auto loaded = load_curl(); !loaded) return tl::unexpected(loaded.error());
    auto core = std::make_unique<Core>(loop, std::move(server));
    if (auto opened = core->open(); !opened) return tl::unexpected(opened.error());
    if (auto resolved = core->resolve(); !resolved) return tl::unexpected(resolved.error());
    return std::unique_ptr<HttpClient>(new HttpClient(std::move(core)));
}

Result<HttpClient::CallPtr> HttpClient::start(const HttpRequest& request, OnData on_data, OnDone on_done) {
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

void HttpClient::CancelCall::operator()(Call* call) const {
    if (call->easy) (void)curl().multi_remove_handle(call->core->multi.get(), call->easy.get());
    delete call;  // NOLINT(cppcoreguidelines-owning-memory): this is CallPtr's deleter
}

std::uint64_t HttpClient::started() const { return core_->started; }

void HttpClient::set_tls(Tls tls) {
    core_->server.tls.trusted = std::move(tls.trusted);
    core_->server.tls.certificate = std::move(tls.certificate);
    core_->server.tls.key = std::move(tls.key);
}

}  // namespace evictd::kube
