// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A gRPC server on a Unix socket whose replies the test writes: just enough of HTTP/2 for one call for each connection,
// and for what goes wrong in it. A real one is in tests/kube/newer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fakes/hpack_path.hpp"

namespace evictd::fakes {

class GrpcServer {
public:
    class Call {
    public:
        Call(GrpcServer& server, int fd) : server_(server), fd_(fd) {}
        // What was sent: gRPC's frame and the message.
        [[nodiscard]] const std::string& request() const { return request_; }
        // "/package.Service/Method".
        [[nodiscard]] const std::string& path() const { return path_; }
        void begin() const { frame(headers, end_headers, "\x88" + field("content-type", "application/grpc")); }
        // The same of an error of HTTP (500), whose text follows as data.
        void begin_error() const { frame(headers, end_headers, "\x8e" + field("content-type", "text/plain")); }
        // Bytes of messages, in frames of HTTP/2 of 16,000 bytes at most. False: the client has gone.
        bool data(std::string_view bytes) const {
            bool is_sent = true;
            for (; is_sent && !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 16'000))) {
                is_sent = frame(data_frame, 0, std::string(bytes.substr(0, 16'000)));
            }
            return is_sent;
        }
        // What `send_all` sends, in one piece: the client reads it at once.
        void at_once(const std::function<void()>& send_all) const {
            collected_ = "";
            send_all();
            const auto all = std::exchange(collected_, std::nullopt).value();
            (void)::send(fd_, all.data(), all.size(), MSG_NOSIGNAL);
        }
        void end(int status) const {
            frame(headers, end_headers | end_stream, field("grpc-status", std::to_string(status)));
            if (!collected_) hold();
        }
        // The end of the reply, of which gRPC knows nothing: as of a program in between.
        void end_without_status() const {
            frame(data_frame, end_stream, "");
            hold();
        }
        // Trailers alone, as servers refuse.
        void refuse(int status, const std::string& message) const {
            frame(headers, end_headers | end_stream,
                  "\x88" + field("content-type", "application/grpc") + field("grpc-status", std::to_string(status)) +
                      field("grpc-message", message));
            hold();
        }
        // Until the server ends, or the client has gone.
        void hold() const {
            std::array<char, 64> ignored{};
            while (!server_.ended_ && ::recv(fd_, ignored.data(), ignored.size(), 0) > 0) {}
        }

    private:
        friend class GrpcServer;
        static constexpr std::uint8_t data_frame = 0, headers = 1, settings = 4;
        static constexpr std::uint8_t end_stream = 1, end_headers = 4;
        static std::string field(const std::string& name, const std::string& value) {
            return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) +
                   value;
        }
        // False: it was not sent.
        bool frame(std::uint8_t type, std::uint8_t flags, const std::string& payload, char stream = 1) const {
            std::string bytes;
            for (const unsigned shift : {16U, 8U, 0U}) bytes += static_cast<char>(payload.size() >> shift & 0xffU);
            bytes += static_cast<char>(type);
            bytes += static_cast<char>(flags);
            bytes += std::string(3, '\0') + stream + payload;
            if (!collected_) return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
            *collected_ += bytes;
            return true;
        }
        GrpcServer& server_;
        int fd_;
        std::string request_;
        std::string path_;
        mutable std::optional<std::string> collected_{};
    };
    // Runs in the connection's thread; the connection ends with it.
    using Handler = std::function<void(const Call& call)>;

    GrpcServer(const std::string& path, Handler handler) : path_(path), handler_(std::move(handler)) {
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        (void)std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
            ::listen(listener_, 16) != 0)
            std::abort();
        acceptor_ = std::thread([this] { accept(); });
    }
    GrpcServer(const GrpcServer&) = delete;
    GrpcServer& operator=(const GrpcServer&) = delete;
    ~GrpcServer() {
        ended_ = true;
        (void)::unlink(path_.c_str());
        (void)::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        cut();
        for (auto& worker : workers_) worker.join();
        (void)::close(listener_);
    }
    // Ends every connection, in the middle of whatever it is.
    void cut() {
        const std::scoped_lock lock(mutex_);
        for (const int fd : open_) (void)::shutdown(fd, SHUT_RDWR);
    }

private:
    void accept() {
        while (!ended_) {
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) continue;
            const std::scoped_lock lock(mutex_);
            open_.push_back(fd);
            workers_.emplace_back([this, fd] { serve(fd); });
        }
    }
    static bool receive(int fd, char* into, std::size_t size) {
        while (size > 0) {
            const auto got = ::recv(fd, into, size, 0);
            if (got <= 0) return false;
            into += got;
            size -= static_cast<std::size_t>(got);
        }
        return true;
    }
    // True: a request was read to its end.
    static bool read_request(int fd, Call& call) {
        constexpr std::uint8_t has_priority = 0x20;
        constexpr std::size_t priority_size = 5;
        std::array<char, 24> preface{};
        std::array<unsigned char, 9> head{};
        if (!receive(fd, preface.data(), preface.size())) return false;
        while (receive(fd, reinterpret_cast<char*>(head.data()), head.size())) {
            std::string payload(std::size_t{head[0]} << 16U | std::size_t{head[1]} << 8U | head[2], '\0');
            if (!receive(fd, payload.data(), payload.size())) return false;
            if (head[3] == Call::data_frame) call.request_ += payload;
            if (head[3] == Call::headers) {
                call.path_ =
                    path_of(std::string_view(payload).substr((head[4] & has_priority) != 0 ? priority_size : 0));
            }
            if (head[3] <= Call::headers && (head[4] & Call::end_stream) != 0) return true;
        }
        return false;
    }
    void serve(int fd) {
        Call call(*this, fd);
        call.frame(Call::settings, 0, "", '\0');
        if (read_request(fd, call)) {
            call.frame(Call::settings, 1, "", '\0');
            handler_(call);
            (void)::shutdown(fd, SHUT_WR);  // closed with bytes unread, it would drop what was sent
            call.hold();
        }
        const std::scoped_lock lock(mutex_);
        open_.remove(fd);
        (void)::close(fd);
    }

    std::string path_;
    Handler handler_;
    int listener_ = -1;
    std::atomic<bool> ended_ = false;
    std::mutex mutex_;
    std::list<int> open_;
    std::vector<std::thread> workers_;
    std::thread acceptor_;
};

}  // namespace evictd::fakes
