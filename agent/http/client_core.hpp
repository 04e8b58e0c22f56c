// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is behind Client: libcurl's handles and callbacks. For client*.cpp alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "http/client.hpp"
#include "http/curl_library.hpp"
#include "sys/fd.hpp"
#include "sys/loop.hpp"

namespace evictd::http {

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

// At the end, as a copy. False: no memory; `lines` is as it was.
[[nodiscard]] bool add_line(LinesPtr& lines, const std::string& line);

class Client::Call {
public:
    Core* core = nullptr;
    EasyPtr easy;
    LinesPtr headers;
    std::string body;  // that is sent
    std::array<char, CURL_ERROR_SIZE> fault{};
    Reply reply;
    std::optional<Error> refused;  // by OnData, or because the server does not keep within bounds
    std::size_t header_bytes = 0;  // trailers too
    bool is_accepted = false;      // the reply has begun, and is no refusal
    bool has_enough = false;       // of a refusal: the rest of it is not waited for
    OnData on_data;
    OnDone on_done;
};

struct Client::Core {
    sys::Loop& loop;
    ServerAddress server;
    std::string base;     // the URL with the name that is verified
    LinesPtr connect_to;  // where that name is; null: where the URL says
    sys::Fd epoll;
    std::unique_ptr<CURLM, MultiDelete> multi;
    sys::Source ready;
    sys::Timer timer;
    sys::Timer again;                          // there is more to be read at once
    sys::Timer limits;                         // for the first of `limited`
    std::map<Call*, MonotonicTime> limited{};  // replies that have begun, and until when they are to be known
    std::set<curl_socket_t> read_from{};       // sockets that libcurl waits for to have something to read
    std::uint64_t started = 0;
    std::uint64_t pieces = 0;  // headers and parts of bodies that libcurl has handed on

    Core(sys::Loop& of, ServerAddress address) : loop(of), server(std::move(address)) {}
    Status open();
    Status resolve();
    Status configure(Call& call, const Request& request);
    void set_connection_of(CURL* easy);
    void set_tls_of(CURL* easy);
    Status open_timers();
    void on_ready();
    void act_on(curl_socket_t socket, int what);
    void read_on(std::uint64_t before, int running);
    void finish_calls();
    void finish(Call& call, CURLcode code) const;

    // client_limits.cpp. False: the request ends.
    static bool note_header(Call& call, std::size_t size);
    static bool keep_of_refusal(Call& call, std::string_view piece);
    void limit(Call& call);
    void lift_limit(Call& call);
    void end_late_calls();

    static bool hand_on(Call& call, std::string_view piece);
    static int on_socket(CURL* easy, curl_socket_t socket, int wanted, void* core, void* known);
    static int on_timer(CURLM* multi, long milliseconds, void* core);
    static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* call);
    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* call);
};

}  // namespace evictd::http
