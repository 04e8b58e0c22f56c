// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/stage.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo/pod_process.hpp"
#include "kernel/hierarchies.hpp"
#include "kernel/proc_files.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::demo {
namespace {

constexpr const char* bpffs = "/sys/fs/bpf";
// An emulated machine needs seconds to end an agent; one that hangs longer is killed.
constexpr int agent_patience_ms = 20000;
// How long the leaking pod takes to shut down: well inside its grace period, and long enough to be seen.
constexpr std::int64_t shutdown_ms = 1200;
constexpr std::size_t errors_limit = std::size_t{1} << 20U;

}  // namespace

Stage::Stage(Plan plan, AgentPlaces places, Scratch scratch, kernel::CgroupTree tree)
    : plan_(std::move(plan)), places_(std::move(places)), scratch_(std::move(scratch)), tree_(std::move(tree)) {}

Stage::~Stage() { (void)tear_down(); }

Result<std::unique_ptr<Stage>> Stage::make(Plan plan, bool bpf) {
    auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    kernel::remove_leftover_trees(*hierarchies, is_leftover);
    remove_leftover_pins(bpffs);
    remove_leftover_directories();
    auto scratch = Scratch::make(plan.files);
    if (!scratch) {
        return tl::unexpected(scratch.error());
    }
    const std::string name = demo_name(getpid());
    auto tree = kernel::CgroupTree::make(*hierarchies, "/" + name);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    AgentPlaces places{scratch->path(), std::string(bpffs) + "/" + name, "/" + name};
    std::unique_ptr<Stage> stage(new Stage(std::move(plan), std::move(places), std::move(*scratch), std::move(*tree)));
    if (auto made = stage->make_cgroups(); !made) {
        return tl::unexpected(made.error());
    }
    if (auto written = stage->write_files(bpf); !written) {
        return tl::unexpected(written.error());
    }
    return stage;
}

Status Stage::make_cgroups() {
    std::vector<std::string> paths{std::string(pods_root), std::string(pods_root) + "/burstable",
                                   std::string(pods_root) + "/besteffort"};
    for (const auto& pod : plan_.pods) {
        paths.push_back(pod_cgroup(pod));
        paths.push_back(container_cgroup(pod));
    }
    for (const auto& path : paths) {
        if (auto created = tree_.create(path); !created) {
            return created;
        }
    }
    return tree_.limit_memory(std::string(pods_root), plan_.limit);
}

Status Stage::write_files(bool bpf) {
    for (const auto& directory : {places_.manifests(), places_.directory + "/files"}) {
        if (auto made = sys::make_directories(directory, 0700); !made) {
            return made;
        }
    }
    for (const auto& pod : plan_.pods) {
        const std::string path = places_.manifests() + "/" + pod.name_space + "-" + pod.name + ".yaml";
        if (auto written = sys::write_atomically(path, manifest(plan_, pod)); !written) {
            return written;
        }
    }
    return sys::write_atomically(places_.config(), agent_config(plan_, places_, bpf));
}

std::vector<std::string> Stage::arguments_for(const PodPlan& pod) const {
    const auto mib_of = [](Bytes bytes) { return std::to_string(bytes.value >> 20U); };
    std::vector<std::string> arguments{"pod-process", "--cgroup", tree_.root() + container_cgroup(pod), "--hold",
                                       mib_of(pod.holds)};
    if (plan_.neighbour && &pod == &plan_.pods[*plan_.neighbour]) {
        arguments.emplace_back("--open-sockets");
    }
    if (&pod != &plan_.actor_pod()) {
        return arguments;
    }
    if (plan_.scenario == Scenario::pagecache) {
        arguments.insert(arguments.end(),
                         {"--files", places_.directory + "/files", "--files-mib", mib_of(plan_.files)});
        return arguments;
    }
    if (plan_.scenario == Scenario::oomrace) {
        arguments.insert(arguments.end(),
                         {"--grow", "--up-to", mib_of(plan_.grows_to), "--processes", std::to_string(pod.processes)});
        return arguments;
    }
    if (plan_.scenario == Scenario::thrash) {
        arguments.insert(arguments.end(),
                         {"--reread", places_.directory + "/files", "--files-mib", mib_of(plan_.files)});
        return arguments;
    }
    // Never more than the pods may have together: a limit that did not hold must not cost the machine its memory.
    arguments.insert(arguments.end(), {plan_.neighbour ? "--connect" : "--grow", "--rate", mib_of({plan_.growth}),
                                       "--up-to", mib_of(plan_.limit)});
    if (plan_.pod_grace.count() > 0) {
        arguments.insert(arguments.end(), {"--shutdown-ms", std::to_string(shutdown_ms)});
    }
    return arguments;
}

Status Stage::start_pods() {
    for (const auto& pod : plan_.pods) {
        auto process = Child::start(arguments_for(pod), STDERR_FILENO, SIGKILL);
        if (!process) {
            return tl::unexpected(process.error());
        }
        pods_.push_back(std::make_unique<Actor>(Actor{.plan = &pod, .process = std::move(*process)}));
    }
    return {};
}

Result<bool> Stage::hear(Actor& actor) {
    std::array<char, 16> words{};
    const ssize_t got = ::read(actor.process.output(), words.data(), words.size());
    for (ssize_t i = 0; i < got; i++) {
        switch (words.at(static_cast<std::size_t>(i))) {
            case said_started:
                actor.started = true;
                if (auto inside = tree_.attach(container_cgroup(*actor.plan), actor.process.pid()); !inside) {
                    return tl::unexpected(inside.error());
                }
                actor.process.say(order_hold);
                break;
            case said_holding:
                actor.holding = true;
                break;
            case said_filled:
                actor.filled = true;
                break;
            case said_asked:
                actor.asked_to_end = true;
                break;
            case said_refused:
                actor.refused = true;
                break;
            case said_opened:
                actor.opened++;
                opened_meanwhile_ += &actor != &this->actor() && this->actor().refused && this->actor().opened == 0;
                break;
            case said_outside:
                return fail(ErrorKind::failed, actor.plan->full_name(), "its process is not in its cgroup",
                            "is something on this machine moving processes between cgroups?");
            case said_no_files:
                return fail(ErrorKind::failed, actor.plan->full_name(), "cannot write files in " + places_.directory,
                            "name another place with TMPDIR");
            default:
                break;
        }
    }
    return got != 0;
}

void Stage::act() {
    actor().process.say(order_act);
    if (plan_.neighbour) {
        pods_[*plan_.neighbour]->process.say(order_act);
    }
}

Status Stage::start_agent() {
    auto errors = sys::open(places_.directory + "/agent.err", O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
    if (!errors) {
        return tl::unexpected(errors.error());
    }
    auto agent = Child::start({"run", "--config", places_.config()}, errors->get(), SIGTERM);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    agent_.emplace(std::move(*agent));
    return {};
}

Result<Facts> Stage::facts() {
    Facts facts;
    const auto kills = tree_.oom_kills();
    if (!kills) {
        return tl::unexpected(kills.error());
    }
    facts.oom_kills = *kills;
    facts.actor_refused = actor().refused;
    facts.actor_opened_again = actor().refused && actor().opened > 0;
    facts.neighbour_refused = plan_.neighbour && pods_[*plan_.neighbour]->refused;
    facts.opened_meanwhile = opened_meanwhile_;
    for (const auto& pod : pods_) {
        const auto ended = pod->process.ended();
        if (!ended) {
            continue;
        }
        if (pod.get() == &actor()) {
            facts.actor_gone = true;
            facts.actor_end = describe_end(*ended);
        } else {
            facts.others_ended.push_back(pod->plan->full_name() + ", " + describe_end(*ended));
        }
    }
    return facts;
}

void Stage::stop_agent() {
    if (agent_) {
        agent_->end(SIGTERM, agent_patience_ms);
    }
}

std::string Stage::agent_errors() const {
    const auto text = sys::read_file(places_.directory + "/agent.err", errors_limit);
    constexpr std::size_t most = 2000;
    if (!text || text->empty()) {
        return "no word from it";
    }
    std::string tail = text->size() > most ? text->substr(text->size() - most) : *text;
    while (!tail.empty() && tail.back() == '\n') {
        tail.pop_back();
    }
    return tail;
}

Status Stage::tear_down() {
    if (std::exchange(torn_down_, true)) {
        return {};
    }
    stop_agent();
    tree_.thaw();  // an agent that was killed in the middle of an eviction leaves its victim frozen
    for (const auto& pod : pods_) {
        pod->process.end(SIGKILL, 0);
    }
    Status removed = tree_.remove();
    std::error_code error;
    std::filesystem::remove_all(places_.bpffs, error);  // what an agent that was killed left pinned
    if (removed && error) {
        removed = fail(ErrorKind::failed, places_.bpffs, error.message(), "remove it by hand");
    }
    return removed;
}

}  // namespace evictd::demo
