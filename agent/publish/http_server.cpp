// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The library's own epoll set is one descriptor of our loop: no thread of the library, no thread for a connection, and
// the loop's proof of life covers it. What the library cannot do (a deadline for a whole connection, room for the
// newest) is done by shutting a connection's socket, which the library then sees as the client's end.
#include "publish/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "publish/http_address.hpp"
#include "publish/http_connections.hpp"
#include "publish/microhttpd_library.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/lane.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

// How many more than HttpLimits::connections the library accepts, until the next turn made room; then it lets the
// others wait. Both together are not more than twice HttpLimits::of_one_address: all that a flood has accepted in one
// turn then fits beside an honest client that was accepted with it.
constexpr std::size_t headroom = 16;
// While there are connections: how often deadlines are looked at. The library also listens again only when it is run.
constexpr Duration look_over = std::chrono::milliseconds(250);
// However long a turn took. Without timers, how long the lane sleeps at a stretch: its end waits for that.
constexpr Duration longest_rest = std::chrono::milliseconds(250);

MHD_Result send(MHD_Connection* connection, HttpAnswer answer) {
    auto* response =
        microhttpd().create_response_from_buffer(answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    (void)microhttpd().add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
    (void)microhttpd().add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)microhttpd().add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)microhttpd().add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)microhttpd().add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const auto queued = microhttpd().queue_response(connection, answer.status, response);
    microhttpd().destroy_response(response);
    return queued;
}

}  // namespace

struct HttpServer::Core {
    Core(HttpPlace where, HttpPages served, HttpLimits limited)
        : place(std::move(where)), pages(std::move(served)), limits(limited), connections(limited) {}
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;
    ~Core() {
        if (lane) {
            (void)lane->post([this] { stop(); });
            lane->close();
        }
        stop();  // where the lane never began, or dropped it
    }

    HttpPlace place;
    HttpPages pages;
    HttpLimits limits;
    sys::SystemClock clock;
    std::atomic<int> port = 0;  // 0: not listening yet
    // Why it does not listen; empty: nothing was told. This and all below is start()'s, and from begin() on the lane's.
    std::string told;
    MHD_Daemon* daemon = nullptr;  // null: not listening yet
    HttpConnections connections;
    std::exception_ptr thrown;  // by a page: kept while the library's C is on the stack
    bool had_connections = false;
    bool unfinished = false;  // the library has more to do, without hearing from a client
    sys::Source ready;        // none: it rests
    sys::Timer timer;
    sys::Timer again;                 // to listen
    MonotonicTime begin_at{};         // without timers: the next try
    std::unique_ptr<sys::Lane> lane;  // last: its thread must be gone first

    Status start();
    Status listen();
    void begin();
    Status make_timers();
    void try_to_listen();
    Status watch();
    void report(const Status& listening);
    void on_timer();
    void turn();
    void stop() {
        ready.reset();
        timer = {};
        again = {};
        stop_library();
    }
    void stop_library() {
        port = 0;
        if (daemon != nullptr) microhttpd().stop_daemon(std::exchange(daemon, nullptr));
    }

    [[nodiscard]] HttpAnswer answer(std::string_view method, const std::string& path) const;

    static void on_connection(void* core, MHD_Connection* connection, void** /*context*/,
                              MHD_ConnectionNotificationCode what);
    static MHD_Result on_request(void* core, MHD_Connection* connection, const char* url, const char* method,
                                 const char* version, const char* upload, std::size_t* upload_size, void** context);
};

// The first try is made here, so that an address that is none fails the start, and the rest is the lane's.
Status HttpServer::Core::start() {
    if (auto loaded = load_microhttpd(); !loaded) return loaded;
    auto listening = listen();
    if (!listening && listening.error().kind == ErrorKind::invalid) return listening;
    auto made =
        sys::Lane::make("evictd-http", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!made) return tl::unexpected(made.error());
    report(listening);
    lane = std::move(*made);
    (void)lane->post([this] { begin(); });
    return {};
}

Status HttpServer::Core::listen() {
    auto listener = listen_on(place.address);
    if (!listener) return tl::unexpected(listener.error());
    const auto idle = std::chrono::ceil<std::chrono::seconds>(limits.idle).count();
    const auto most = limits.connections + headroom;
    daemon = microhttpd().start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, on_request, this, MHD_OPTION_LISTEN_SOCKET,
                                       listener->get(), MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned int>(most),
                                       MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned int>(idle),
                                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory, MHD_OPTION_NOTIFY_CONNECTION,
                                       on_connection, this, MHD_OPTION_END);
    if (daemon == nullptr) return fail(ErrorKind::failed, "evictd.httpAddress", "the HTTP library does not start");
    port = port_of(*listener);
    (void)listener->release();  // the library's now
    return {};
}

// Without timers no request would be answered for long, so it does not listen. Nothing but the lane's own sleep then
// calls for the next try; only a machine without memory is like that.
void HttpServer::Core::begin() {
    if (begin_at <= clock.monotonic()) {
        const auto timers = make_timers();
        if (timers) return daemon != nullptr ? try_to_listen() : again.arm_in(place.retry);
        stop_library();
        report(timers);
        begin_at = clock.monotonic() + place.retry;
    }
    std::this_thread::sleep_for(std::min(place.retry, longest_rest));
    (void)lane->post([this] { begin(); });
}

Status HttpServer::Core::make_timers() {
    auto made = lane->loop().add_timer([this] { on_timer(); });
    if (!made) return tl::unexpected(made.error());
    auto retry = lane->loop().add_timer([this] { try_to_listen(); });
    if (!retry) return tl::unexpected(retry.error());
    timer = std::move(*made);
    again = std::move(*retry);
    return {};
}

void HttpServer::Core::try_to_listen() {
    auto listening = daemon == nullptr ? listen() : Status{};
    if (listening) listening = watch();
    report(listening);
    if (listening) return;
    stop_library();
    again.arm_in(place.retry);
}

Status HttpServer::Core::watch() {
    const auto* info = microhttpd().get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    auto added = lane->loop().add_fd(info->epoll_fd, [this] { turn(); });
    if (!added) return tl::unexpected(added.error());
    ready = std::move(*added);
    return {};
}

// Each reason once, and that it has passed.
void HttpServer::Core::report(const Status& listening) {
    const auto why = listening ? std::string() : listening.error().text();
    if (std::exchange(told, why) != why) place.tell(listening);
}

// The end of a rest, or time to look over the connections.
void HttpServer::Core::on_timer() {
    if (!ready) {
        try_to_listen();
        if (!ready) return;
        if (!unfinished) {
            // Also once after the last: only when it runs does the library listen again after it was full.
            if (had_connections) timer.arm_in(look_over);
            return;
        }
    }
    turn();
}

// Rests after its work: what comes meanwhile waits in the kernel.
void HttpServer::Core::turn() {
    const auto begun = clock.monotonic();
    had_connections = !connections.empty();
    (void)microhttpd().run(daemon);
    had_connections = had_connections || !connections.empty();
    connections.make_room();
    connections.shut_late(begun);
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
    MHD_UNSIGNED_LONG_LONG soon = 0;
    unfinished = microhttpd().get_timeout(daemon, &soon) == MHD_YES && soon == 0;
    ready.reset();
    timer.arm_in(std::min(longest_rest, limits.rest * (clock.monotonic() - begun)));
}

HttpAnswer HttpServer::Core::answer(std::string_view method, const std::string& path) const {
    const auto page = pages.find(path);
    if (page == pages.end()) return {.status = MHD_HTTP_NOT_FOUND, .body = "no such page\n"};
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
        return {.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "GET and HEAD only\n"};
    return page->second();
}

void HttpServer::Core::on_connection(void* core, MHD_Connection* connection, void** /*context*/,
                                     MHD_ConnectionNotificationCode what) {
    auto& self = *static_cast<Core*>(core);
    try {
        if (what == MHD_CONNECTION_NOTIFY_STARTED) return self.connections.add(connection, self.clock.monotonic());
        self.connections.remove(connection);
    } catch (...) {
        self.thrown = std::current_exception();
    }
}

// Called when the headers are there. An answer then is the connection's last: no body is ever read.
MHD_Result HttpServer::Core::on_request(void* core, MHD_Connection* connection, const char* url, const char* method,
                                        const char* /*version*/, const char* /*upload*/, std::size_t* /*upload_size*/,
                                        void** /*context*/) {
    auto& self = *static_cast<Core*>(core);
    try {
        return send(connection, self.answer(method, url));
    } catch (...) {
        self.thrown = std::current_exception();
        return MHD_NO;
    }
}

HttpServer::HttpServer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return core_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::make(HttpPlace place, HttpPages pages, HttpLimits limits) {
    auto core = std::make_unique<Core>(std::move(place), std::move(pages), limits);
    if (auto started = core->start(); !started) return tl::unexpected(started.error());
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

}  // namespace evictd::publish
