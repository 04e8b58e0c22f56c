// SPDX-License-Identifier: Apache-2.0
// Whose sockets the kernel counts, whatever becomes of them, and what it is to be kept from new ones.
#include "kernel/sockets.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

const std::string pod_a = "kubepods/burstable/pod11111111-a";
const std::string pod_b = "kubepods/burstable/pod11111111-b";
const std::string pod_g = "kubepods/pod11111111-g";  // Guaranteed: no class above it
const std::string in_a = pod_a + "/container";
const std::string in_b = pod_b + "/container";
const std::string in_g = pod_g + "/container";
const std::string outside = "outside";  // in no pod; the test's root has children and on v2 holds no process

sys::Fd make_socket(int family, int type) { return sys::Fd(::socket(family, type | SOCK_CLOEXEC, 0)); }

// A letter a socket: 't' TCP, '6' TCP over IPv6, 'u' UDP, 'l' of the Unix kind; 'c' closes them all. Says 'y', 'p' if
// it is not permitted, 'n' otherwise.
void open_as_told(const Line& line) {
    std::vector<sys::Fd> open;
    for (;;) {
        const char order = line.hear();
        if (order == 'c') {
            open.clear();
            line.say('y');
            continue;
        }
        const int family = order == 'l' ? AF_UNIX : order == '6' ? AF_INET6 : AF_INET;
        auto socket = make_socket(family, order == 'u' ? SOCK_DGRAM : SOCK_STREAM);
        line.say(socket ? 'y' : errno == EPERM ? 'p' : 'n');
        if (socket) open.push_back(std::move(socket));
    }
}

char ask(const PodProcess& pod, char order) {
    pod.say(order);
    return pod.hear().value_or('?');
}

struct Sockets : WithBpf {
    void SetUp() override {
        WithBpf::SetUp();
        if (hierarchies().v2_mount().empty()) GTEST_SKIP() << "no v2 hierarchy is mounted on this machine";
        make_pods_root(std::nullopt);
        for (const auto& name : {in_a, in_b, in_g, outside}) cgroups_.make(name);
    }
    void TearDown() override {
        if (bpf_ != nullptr) {
            EXPECT_TRUE(bpf_->sockets().refuse({}, {}));
        }
        WithBpf::TearDown();
    }
    [[nodiscard]] PodSockets of(const std::string& pod) const {
        const auto all = bpf_->sockets().read();
        EXPECT_TRUE(all) << all.error().text();
        for (const auto& each : *all) {
            if (each.pod == cgroups_.id(pod)) return each;
        }
        return {};
    }
    [[nodiscard]] std::int64_t open(const std::string& pod) const { return of(pod).open; }
    [[nodiscard]] bool known(const std::string& cgroup) const { return of(cgroup).pod == cgroups_.id(cgroup); }
    // Ends of connections are closed by the kernel in its own time.
    [[nodiscard]] bool comes_to(const std::string& pod, std::int64_t wanted) const {
        return eventually([&] { return open(pod) == wanted; });
    }
    // Once its processes have ended.
    void remove_pod(const std::string& pod, const std::string& container) {
        (void)pending();  // the agent knows that it was made
        ASSERT_TRUE(eventually([&] { return cgroups_.processes(container).empty(); }));
        cgroups_.remove(container);
        cgroups_.remove(pod);
        (void)pending();  // the agent hears of it
    }
    void expect_nothing_of(CgroupId pod) const {
        const auto all = bpf_->sockets().read();
        ASSERT_TRUE(all);
        for (const auto& each : *all) EXPECT_NE(each.pod, pod);
    }
    Status refuse(const std::string& pod, Duration within = patience) {
        return bpf_->sockets().refuse(std::vector{cgroups_.id(pod)}, now() + within);
    }
};

TEST_F(Sockets, AreCountedForThePodThatMakesThem) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const PodProcess g(cgroups_, in_g, open_as_told);
    for (const char kind : std::string("tu6")) ASSERT_EQ(ask(a, kind), 'y');
    ASSERT_EQ(ask(g, 't'), 'y');
    EXPECT_EQ(open(pod_a), 3);
    EXPECT_EQ(open(pod_g), 1) << "a pod without a class cgroup";
    EXPECT_FALSE(known(in_g)) << "a container is no pod";
    EXPECT_FALSE(known("kubepods/burstable")) << "a class is no pod";
    EXPECT_EQ(open(pod_b), 0);
    ASSERT_EQ(ask(a, 'l'), 'y');
    EXPECT_EQ(open(pod_a), 3) << "what leaves the machine, not what stays in it";
    ASSERT_EQ(ask(a, 'c'), 'y');
    EXPECT_EQ(open(pod_a), 0);
    EXPECT_EQ(open(pod_g), 1);
}

// A descriptor more is no socket more, and neither is a process that inherited it, nor another pass.
TEST_F(Sockets, AreCountedOnceHoweverManyHoldThem) {
    PodProcess a(cgroups_, in_a, [](const Line& line) {
        const auto socket = make_socket(AF_INET, SOCK_STREAM);
        const sys::Fd again(::dup(socket.get()));
        const pid_t child = ::fork();
        if (child == 0) {
            ::pause();
        }
        line.say(socket && again && child > 0 ? 'y' : 'n');
        line.hear();
        ::kill(child, SIGKILL);
    });
    ASSERT_EQ(a.hear(), 'y');
    EXPECT_EQ(open(pod_a), 1);
    EXPECT_EQ(open(pod_a), 1);
    a.say('g');
}

TEST_F(Sockets, OutsideThePodsRootAreNobodys) {
    cgroups_.make("elsewhere/pod11111111-x");
    const PodProcess stranger(cgroups_, "elsewhere/pod11111111-x", open_as_told);
    ASSERT_EQ(ask(stranger, 't'), 'y');
    EXPECT_FALSE(known("elsewhere/pod11111111-x"));
}

TEST_F(Sockets, InheritedByAnotherPodsProcessAreStillTheMakers) {
    PodProcess a(cgroups_, in_a, [&](const Line& line) {
        auto socket = make_socket(AF_INET, SOCK_STREAM);
        int go[2]{};
        if (::pipe(go) != 0) return;
        if (::fork() == 0) {
            cgroups_.enter(in_b, ::getpid());
            char word = 0;
            (void)!::read(go[0], &word, 1);
            ::_exit(0);  // the last to hold it
        }
        line.say(socket ? 'm' : 'n');
        line.hear();
        socket.reset();
        line.say('c');
        line.hear();
        (void)!::write(go[1], "x", 1);
        line.hear();
    });
    ASSERT_EQ(a.hear(), 'm');
    EXPECT_EQ(open(pod_a), 1);
    a.say('g');
    ASSERT_EQ(a.hear(), 'c');
    EXPECT_EQ(open(pod_a), 1) << "its child holds it";
    a.say('g');
    EXPECT_TRUE(comes_to(pod_a, 0)) << "closed by a process of another pod";
    EXPECT_EQ(open(pod_b), 0);
}

// An address of this test alone, which no file stands for.
sockaddr_un meeting_point() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = "evictd-test-" + std::to_string(::getpid());
    std::memcpy(&address.sun_path[1], name.data(), name.size());
    return address;
}

bool send_fd(int over, int fd) {
    char letter = 'f';
    iovec part{&letter, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    return ::sendmsg(over, &message, 0) == 1;
}

int receive_fd(int over) {
    char letter = 0;
    iovec part{&letter, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    int fd = -1;
    if (::recvmsg(over, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr) {
        std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    }
    return fd;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Receives a descriptor when one comes, and lets go of it when it is told to.
PodProcess::Body hold_what_comes(const sockaddr_un& address) {
    return [&address](const Line& line) {
        const auto listener = make_socket(AF_UNIX, SOCK_STREAM);
        const bool listens =
            ::bind(listener.get(), generic(address), sizeof(address)) == 0 && ::listen(listener.get(), 1) == 0;
        line.say(listens ? 'l' : 'n');
        const sys::Fd from(::accept(listener.get(), nullptr, nullptr));
        sys::Fd got(receive_fd(from.get()));
        line.say(got ? 'h' : 'n');
        line.hear();
        got.reset();
        line.say('c');
        line.hear();
    };
}

// Makes a socket, and passes it on when it is told to.
PodProcess::Body pass_one_on(const sockaddr_un& address) {
    return [&address](const Line& line) {
        const auto to = make_socket(AF_UNIX, SOCK_STREAM);
        auto socket = make_socket(AF_INET, SOCK_DGRAM);
        line.say('m');
        line.hear();
        const bool sent =
            ::connect(to.get(), generic(address), sizeof(address)) == 0 && send_fd(to.get(), socket.get());
        socket.reset();
        line.say(sent ? 's' : 'n');
        line.hear();
    };
}

TEST_F(Sockets, PassedToAnotherPodAreStillTheMakers) {
    const auto address = meeting_point();
    PodProcess b(cgroups_, in_b, hold_what_comes(address));
    ASSERT_EQ(b.hear(), 'l');
    PodProcess a(cgroups_, in_a, pass_one_on(address));
    ASSERT_EQ(a.hear(), 'm');
    if (!hierarchies().v2) {
        EXPECT_EQ(open(pod_a), 1) << "on v1 it is whose process a pass has found holding it";
    }
    a.say('g');
    ASSERT_EQ(a.hear(), 's');
    ASSERT_EQ(b.hear(), 'h');
    EXPECT_EQ(open(pod_a), 1) << "another pod's process holds it";
    EXPECT_EQ(open(pod_b), 0);
    b.say('g');
    ASSERT_EQ(b.hear(), 'c');
    EXPECT_EQ(open(pod_a), 0);
    EXPECT_EQ(open(pod_b), 0) << "it had none to lose";
}

TEST_F(Sockets, OfAPodThatIsGoneAreTheHolders) {
    const auto address = meeting_point();
    PodProcess b(cgroups_, in_b, hold_what_comes(address));
    ASSERT_EQ(b.hear(), 'l');
    {
        const PodProcess a(cgroups_, in_a, pass_one_on(address));
        ASSERT_EQ(a.hear(), 'm');
        EXPECT_EQ(open(pod_a), 1);
        a.say('g');
        ASSERT_EQ(a.hear(), 's');
        ASSERT_EQ(b.hear(), 'h');
    }
    const auto id = cgroups_.id(pod_a);
    remove_pod(pod_a, in_a);
    EXPECT_EQ(open(pod_b), 1);
    expect_nothing_of(id);
    b.say('g');
    ASSERT_EQ(b.hear(), 'c');
    EXPECT_EQ(open(pod_b), 0);
}

// Listens on a port of its own on loopback; `accepts` how many of those that come.
PodProcess::Body serve(sys::Fd& listener, int accepts) {
    return [&listener, accepts](const Line& line) {
        listener = make_socket(AF_INET, SOCK_STREAM);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        const bool listens = ::bind(listener.get(), generic, size) == 0 && ::listen(listener.get(), 8) == 0 &&
                             ::getsockname(listener.get(), generic, &size) == 0;
        line.say(listens ? static_cast<char>(ntohs(address.sin_port) >> 8U) : 0);
        line.say(static_cast<char>(ntohs(address.sin_port) & 0xffU));
        line.hear();
        std::vector<sys::Fd> accepted;
        for (int i = 0; i < accepts; i++) accepted.emplace_back(::accept(listener.get(), nullptr, nullptr));
        line.say('a');
        line.hear();
        accepted.clear();
        listener.reset();
        line.say('c');
        line.hear();
    };
}

in_port_t port_of(const PodProcess& server) {
    const auto high = static_cast<unsigned char>(server.hear().value_or(0));
    const auto low = static_cast<unsigned char>(server.hear().value_or(0));
    return htons(static_cast<std::uint16_t>(high << 8U | low));
}

sys::Fd connect_to(in_port_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    auto client = make_socket(AF_INET, SOCK_STREAM);
    const bool connected = ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    return connected ? std::move(client) : sys::Fd();
}

TEST_F(Sockets, ConnectionsThatComeInAreTheListenersPods) {
    sys::Fd listener;
    PodProcess server(cgroups_, in_a, serve(listener, 2));
    const auto port = port_of(server);
    ASSERT_NE(port, 0);
    PodProcess client(cgroups_, in_b, [&](const Line& line) {
        auto one = connect_to(port);
        auto two = connect_to(port);
        line.say(one && two ? 'y' : 'n');
        line.hear();
        one.reset();
        two.reset();
        line.say('c');
        line.hear();
    });
    ASSERT_EQ(client.hear(), 'y');
    ASSERT_EQ(ask(server, 'g'), 'a');
    EXPECT_EQ(open(pod_a), 3);
    EXPECT_EQ(open(pod_b), 2);
    ASSERT_EQ(ask(client, 'c'), 'c');
    EXPECT_EQ(open(pod_b), 0);
    EXPECT_EQ(open(pod_a), 3) << "the other side's ends";
    ASSERT_EQ(ask(server, 'c'), 'c');
    EXPECT_EQ(open(pod_a), 0);
}

// As before an agent: no pods' root is known.
TEST_F(Sockets, ThoseOpenBeforeTheAgentCameAreCounted) {
    ASSERT_TRUE(events_->follow(std::nullopt));
    PodProcess a(cgroups_, in_a, open_as_told);
    ASSERT_EQ(ask(a, 't'), 'y');
    ASSERT_EQ(ask(a, 'u'), 'y');
    EXPECT_EQ(open(pod_a), 0);
    ASSERT_TRUE(events_->follow(cgroups_.pods_root("kubepods")));
    EXPECT_EQ(open(pod_a), 2);
}

TEST_F(Sockets, APodThatIsGoneIsForgotten) {
    {
        const PodProcess b(cgroups_, in_b, open_as_told);
        ASSERT_EQ(ask(b, 't'), 'y');
        EXPECT_EQ(open(pod_b), 1);
    }
    const auto id = cgroups_.id(pod_b);
    remove_pod(pod_b, in_b);
    expect_nothing_of(id);
}

TEST_F(Sockets, MemoryIsWhatTheirBuffersHold) {
    sys::Fd listener;
    PodProcess server(cgroups_, in_a, serve(listener, 1));
    const auto port = port_of(server);
    PodProcess client(cgroups_, in_b, [&](const Line& line) {
        const auto socket = connect_to(port);
        const std::string much(64 * 1024, 'm');
        for (int i = 0; i < 4; i++) (void)::send(socket.get(), much.data(), much.size(), MSG_DONTWAIT);
        line.say(socket ? 'y' : 'n');
        line.hear();
    });
    ASSERT_EQ(client.hear(), 'y');
    ASSERT_EQ(ask(server, 'g'), 'a');  // and reads nothing
    const auto both = [this] { return of(pod_a).memory + of(pod_b).memory; };
    EXPECT_TRUE(eventually([&] { return both() >= 64_KiB; })) << both().value;
    EXPECT_LT(both(), 16_MiB);
    if (hierarchies().v2) {
        const auto counted = [this] { return cgroups_.stat(pod_a, "sock") + cgroups_.stat(pod_b, "sock"); };
        EXPECT_TRUE(eventually([&] { return std::abs(counted() - both().value) <= (512_KiB).value; }))
            << counted() << " in memory.stat, " << both().value << " here";
    }
    ::kill(client.pid(), SIGKILL);
    ::kill(server.pid(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return both() == Bytes{0}; })) << both().value;
}

TEST_F(Sockets, WhoIsRefusedGetsNoNewOnesAndEverybodyElseDoes) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const PodProcess b(cgroups_, in_b, open_as_told);
    const PodProcess stranger(cgroups_, outside, open_as_told);
    ASSERT_EQ(ask(a, 't'), 'y');
    ASSERT_TRUE(refuse(pod_a));
    for (const char kind : std::string("tu6")) EXPECT_EQ(ask(a, kind), 'p') << kind;
    EXPECT_EQ(ask(a, 'l'), 'y') << "a Unix socket";
    EXPECT_EQ(ask(b, 't'), 'y');
    EXPECT_EQ(ask(stranger, 't'), 'y');
    EXPECT_EQ(of(pod_a).refused, 3);
    EXPECT_EQ(bpf_->sockets().refused(cgroups_.id(pod_a)), 3);
    EXPECT_EQ(open(pod_a), 1) << "what was refused is not open, what was open is";

    ASSERT_TRUE(refuse(pod_b));
    EXPECT_EQ(ask(a, 't'), 'y') << "it is another's turn";
    EXPECT_EQ(ask(b, 't'), 'p');
    ASSERT_TRUE(bpf_->sockets().refuse({}, {}));
    EXPECT_EQ(ask(b, 't'), 'y');
    EXPECT_EQ(of(pod_b).refused, 1);
    ASSERT_EQ(ask(a, 'c'), 'y');
    EXPECT_EQ(open(pod_a), 0);
}

TEST_F(Sockets, ARefusalThatIsNotRepeatedLapses) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    ASSERT_TRUE(refuse(pod_a, std::chrono::milliseconds(200)));
    EXPECT_TRUE(eventually([&] { return ask(a, 't') == 'y'; })) << "an agent that hangs keeps it from them for good";
}

// In a process of its own, with programs of its own, which is killed.
TEST_F(Sockets, AnAgentsDeathGivesThemBack) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const std::string pins = "/sys/fs/bpf/evictd-test-" + std::to_string(::getpid());
    const auto root = cgroups_.pods_root("kubepods");
    const auto victim = cgroups_.id(pod_a);
    PodProcess agent(cgroups_, outside, [&](const Line& line) {
        const auto bpf = load_bpf(pins);
        const bool shed =
            bpf && (*bpf)->follow(root) && (*bpf)->sockets().refuse(std::vector{victim}, now() + std::chrono::hours(1));
        line.say(shed ? 's' : 'n');
        line.hear();
    });
    ASSERT_EQ(agent.hear(), 's');
    EXPECT_EQ(ask(a, 't'), 'p');
    ::kill(agent.pid(), SIGKILL);
    ASSERT_TRUE(agent.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return ask(a, 't') == 'y'; }));
    { const auto next = load_bpf(pins); }  // takes away what was left pinned
}

TEST_F(Sockets, APodWhoseCgroupHasNoMemoryForThemIsNamed) {
    if (hierarchies().v2) {
        GTEST_SKIP() << "a v2 cgroup at its limit has its OOM kill, and no memory of sockets is refused before";
    }
    if (!cgroups_.write(pod_a, "memory.kmem.tcp.limit_in_bytes", "65536") ||
        !cgroups_.write(in_a, "memory.kmem.tcp.limit_in_bytes", "65536")) {
        GTEST_SKIP() << "this kernel does not limit sockets' memory by v1 cgroup";
    }
    PodProcess pod(cgroups_, in_a, [&](const Line& line) {
        line.hear();
        const auto listener = make_socket(AF_INET, SOCK_STREAM);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        (void)::bind(listener.get(), generic, size);
        (void)::listen(listener.get(), 64);
        (void)::getsockname(listener.get(), generic, &size);
        const std::string much(64 * 1024, 'm');
        std::vector<sys::Fd> open;
        for (int i = 0; i < 64; i++) {  // each holds what it was sent; at most 64 MiB in all, within the limit
            const auto& client = open.emplace_back(connect_to(address.sin_port));
            open.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
            for (int j = 0; j < 16; j++) (void)::send(client.get(), much.data(), much.size(), MSG_DONTWAIT);
        }
        line.hear();
    });
    pod.say('g');
    const auto event = wait_for<SocketMemoryShort>(
        [&](const SocketMemoryShort& memory) { return memory.cgroup == cgroups_.id(pod_a); });
    ASSERT_TRUE(event);
    const auto& memory = std::get<SocketMemoryShort>(event->kind);
    EXPECT_EQ(memory.protocol, "TCP");
    EXPECT_GT(memory.limit, memory.pressure);
    EXPECT_GT(memory.pressure, Bytes{0});
    EXPECT_FALSE(memory.of_node()) << "the machine has plenty";
}

}  // namespace
}  // namespace evictd::kernel_test
