// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Connect, ask, read. An answer that is an error becomes one.
#include "publish/status_client.hpp"

#include <array>
#include <cerrno>

#include <sys/socket.h>
#include <sys/time.h>

#include "publish/unix_address.hpp"

namespace evictd::publish {
namespace {

// The agent answers within 200 ms; one that takes this long hangs, or was stopped.
constexpr timeval answer_timeout{5, 0};
// A status document of 1,000 pods is half a megabyte.
constexpr std::size_t answer_limit = std::size_t{64} << 20U;

tl::unexpected<Error> unreachable(const std::string& path, std::string why) {
    return fail(ErrorKind::unreachable, "agent at " + path, std::move(why),
                "start it with 'evictd run', or name its socket");
}

tl::unexpected<Error> connect_error(const std::string& path, int error_number) {
    switch (error_number) {
        case ENOENT:
            return unreachable(path, "no agent is running");
        case ECONNREFUSED:
            return unreachable(path, "nothing listens there: the agent has ended, or this is not its socket");
        case EAGAIN:
            return unreachable(path, "it does not answer");
        case EACCES:
        case EPERM:
            return fail(ErrorKind::not_permitted, "agent at " + path, "only root may ask it", "use sudo");
        default: {
            auto error = sys::fail_errno("agent at " + path, error_number).value();
            error.kind = ErrorKind::unreachable;
            return tl::unexpected(error);
        }
    }
}

tl::unexpected<Error> read_error(int error_number) {
    return fail(ErrorKind::unreachable, "agent", error_number == EAGAIN ? "it does not answer" : "it went away",
                "see its log");
}

tl::unexpected<Error> cut_off() {
    return fail(ErrorKind::unreachable, "agent", "closed the connection before its answer was complete", "try again");
}

// One recv(2) to the end of `into`. 0 at the end of the stream.
Result<std::size_t> receive(int socket, std::string& into) {
    std::array<char, 16384> chunk{};
    while (true) {
        const ssize_t got = ::recv(socket, chunk.data(), chunk.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        // The agent closed without reading all that we sent: what it answered was read before.
        if (got < 0 && errno == ECONNRESET) return 0;
        if (got < 0) return read_error(errno);
        into.append(chunk.data(), static_cast<std::size_t>(got));
        return static_cast<std::size_t>(got);
    }
}

}  // namespace

Result<StatusClient> StatusClient::connect(const std::string& path) {
    const auto address = unix_address(path);
    if (!address) return tl::unexpected(address.error());
    sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return sys::fail_errno("status socket", errno);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &answer_timeout, sizeof(answer_timeout));
    if (::connect(socket.get(), generic(*address), sizeof(*address)) != 0) return connect_error(path, errno);
    return StatusClient(std::move(socket));
}

Status StatusClient::send(const codec::StatusRequest& request) {
    const std::string line = codec::to_json_line(request) + "\n";
    std::size_t sent = 0;
    while (sent < line.size()) {
        const ssize_t put = ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        // It hung up before it read us: its reason, if it gave one, is there to be read.
        if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
        if (put < 0) return read_error(errno);
        sent += static_cast<std::size_t>(put);
    }
    return {};
}

Result<std::string> StatusClient::ask(const codec::StatusRequest& request) {
    if (auto asked = send(request); !asked) return tl::unexpected(asked.error());
    return hear();
}

Result<std::string> StatusClient::hear() {
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &answer_timeout, sizeof(answer_timeout));
    std::string answer;
    while (answer.empty() || answer.back() != '\n') {
        const auto got = receive(socket_.get(), answer);
        if (!got) return tl::unexpected(got.error());
        if (*got == 0 || answer.size() > answer_limit) return cut_off();
    }
    answer.pop_back();
    if (auto error = codec::error_from_json(answer)) return tl::unexpected(std::move(*error));
    return answer;
}

Status StatusClient::stream(const codec::StatusRequest& request,
                            const std::function<bool(std::string_view line)>& on_line) {
    if (auto asked = send(request); !asked) return asked;
    std::string text;
    while (true) {
        const auto got = receive(socket_.get(), text);
        if (!got) return tl::unexpected(got.error());
        std::size_t start = 0;
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
            const std::string_view line = std::string_view(text).substr(start, end - start);
            if (line.empty()) return {};  // its end
            // Only a line that looks like one is parsed for being an error: events begin with "v" and "time".
            if (line.find(R"("error":{)") != std::string_view::npos) {
                if (auto error = codec::error_from_json(line)) return tl::unexpected(std::move(*error));
            }
            if (!on_line(line)) return {};
            start = end + 1;
        }
        text.erase(0, start);
        if (*got == 0) {
            if (request.follow) return fail(ErrorKind::unreachable, "agent", "it ended", "start it with 'evictd run'");
            return cut_off();
        }
        if (text.size() > answer_limit) return fail(ErrorKind::unreachable, "agent", "its answer has no end");
    }
}

}  // namespace evictd::publish
