// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An HTTP server on loopback whose replies the test writes byte by byte: late, cut off or wrong where that is the test.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace evictd::fakes {

class HttpServer {
public:
    // One connection's end. What is sent after the client went is dropped.
    class Connection {
    public:
        Connection(HttpServer& server, int fd) : server_(server), fd_(fd) {}
        void send(std::string_view bytes) const {
            while (!bytes.empty()) {
                const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
                if (sent <= 0) return;
                bytes.remove_prefix(static_cast<std::size_t>(sent));
            }
        }
        void reply(int status, const std::string& body, const std::string& headers = "") const {
            send("HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers +
                 "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        }
        // Of unknown length: what follows is sent with chunk(). Cut off unless it ends with end().
        void begin() const { send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
        void chunk(const std::string& bytes) const {
            std::array<char, 20> size{};
            const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
            send(std::string(size.data(), static_cast<std::size_t>(digits)) + bytes + "\r\n");
        }
        void end() const { send("0\r\n\r\n"); }
        // Until the server ends, or the client has gone.
        void hold() const {
            std::array<char, 64> ignored{};
            while (!server_.ended_ && ::recv(fd_, ignored.data(), ignored.size(), 0) > 0) {}
        }

    private:
        HttpServer& server_;
        int fd_;
    };
    // Runs in the connection's thread; `path` is with its query. The connection is closed when it returns false.
    using Handler =
        std::function<bool(const std::string& method, const std::string& path, const Connection& connection)>;

    explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0) std::abort();
        (void)::getsockname(listener_, generic, &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept(); });
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer() {
        ended_ = true;
        (void)::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        close_connections();
        for (auto& worker : workers_) worker.join();
        (void)::close(listener_);
    }

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    // Cuts every connection, in the middle of whatever it is.
    void close_connections() {
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
    void serve(int fd) {
        std::string request;
        std::array<char, 4096> piece{};
        bool goes_on = true;
        while (goes_on && !ended_) {
            const auto count = ::recv(fd, piece.data(), piece.size(), 0);
            if (count <= 0) break;
            request.append(piece.data(), static_cast<std::size_t>(count));
            for (auto end = request.find("\r\n\r\n"); goes_on && end != std::string::npos;
                 end = request.find("\r\n\r\n")) {
                const auto line = request.substr(0, request.find("\r\n"));
                request.erase(0, end + 4);
                const auto method = line.substr(0, line.find(' '));
                const auto path = line.substr(method.size() + 1, line.rfind(' ') - method.size() - 1);
                goes_on = handler_(method, path, Connection(*this, fd));
            }
        }
        const std::scoped_lock lock(mutex_);
        open_.remove(fd);
        (void)::close(fd);
    }

    Handler handler_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> ended_ = false;
    std::mutex mutex_;
    std::list<int> open_;
    std::vector<std::thread> workers_;
    std::thread acceptor_;
};

}  // namespace evictd::fakes
