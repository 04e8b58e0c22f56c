// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/child.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::demo {
namespace {

struct Pipe {
    sys::Fd read_end;
    sys::Fd write_end;
};

Result<Pipe> make_pipe() {
    int ends[2] = {-1, -1};  // NOLINT(*-avoid-c-arrays): what pipe2() wants
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return sys::fail_errno("pipe", errno);
    }
    return Pipe{sys::Fd(ends[0]), sys::Fd(ends[1])};
}

// Between fork and exec: nothing but system calls. Signals that our loop blocks are not blocked for the child.
[[noreturn]] void become(const char* program, char* const* arguments, int input, int output, int error_output,
                         int death_signal, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    (void)std::signal(SIGPIPE, SIG_DFL);
    (void)::setpgid(0, 0);  // Ctrl-C is for us to answer: we end our children in order
    (void)::prctl(PR_SET_PDEATHSIG, death_signal);
    const bool wired = ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
                       ::dup2(error_output, STDERR_FILENO) >= 0;
    if (wired && ::getppid() == parent) {  // else it died before we asked to be told
        ::execv(program, arguments);
    }
    ::_exit(127);
}

}  // namespace

Result<Child> Child::start(const std::string& program, std::vector<std::string> arguments, int error_output,
                           int death_signal) {
    auto input = make_pipe();
    auto output = make_pipe();
    if (!input || !output) {
        return tl::unexpected((input ? output : input).error());
    }
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (auto& word : arguments) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        return sys::fail_errno("fork", errno);
    }
    if (pid == 0) {
        become(program.c_str(), argv.data(), input->read_end.get(), output->write_end.get(), error_output, death_signal,
               parent);
    }
    // Not reaped yet, so the pid is the child's whatever happened to it meanwhile.
    Child child(pid, sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))), std::move(input->write_end),
                std::move(output->read_end));
    if (!child.pidfd_) {
        return sys::fail_errno("pidfd_open", errno);
    }
    (void)::fcntl(child.output(), F_SETFL, O_NONBLOCK);
    return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      status_(other.status_) {}

Child::~Child() {
    if (pid_ > 0 && !ended()) {
        end(SIGKILL, 0);
    }
}

void Child::begin() const { (void)!::write(input_.get(), "b", 1); }

std::optional<int> Child::ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
        status_ = status;
    }
    return status_;
}

void Child::end(int signal_number, int patience_ms) {
    if (ended()) {
        return;
    }
    (void)::kill(pid_, signal_number);  // not reaped, so the pid is still its own
    pollfd gone{pidfd_.get(), POLLIN, 0};
    if (signal_number != SIGKILL && ::poll(&gone, 1, patience_ms) == 0) {
        (void)::kill(pid_, SIGKILL);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    status_ = status;
}

std::string describe_end(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
        return fmt::format("killed by signal {}", WTERMSIG(wait_status));
    }
    return fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

}  // namespace evictd::demo
