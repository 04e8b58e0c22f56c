// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/stage.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo/load_words.hpp"
#include "kernel/hierarchies.hpp"
#include "kernel/proc_files.hpp"
#include "load/say.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::demo {
namespace {

constexpr const char* bpffs = "/sys/fs/bpf";
// An emulated machine needs seconds to end an agent; one that hangs longer is killed.
constexpr int agent_patience_ms = 20000;
constexpr std::size_t errors_limit = std::size_t{1} << 20U;

}  // namespace

Stage::Stage(Plan plan, std::string agent, AgentPlaces places, Scratch scratch, kernel::CgroupTree tree)
    : plan_(std::move(plan)),
      agent_program_(std::move(agent)),
      places_(std::move(places)),
      scratch_(std::move(scratch)),
      tree_(std::move(tree)) {}

Stage::~Stage() { (void)tear_down(); }

Result<std::unique_ptr<Stage>> Stage::make(Plan plan, std::string agent, bool bpf) {
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
    std::unique_ptr<Stage> stage(
        new Stage(std::move(plan), std::move(agent), std::move(places), std::move(*scratch), std::move(*tree)));
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

Result<std::vector<std::string>> Stage::arguments_for(const PodPlan& pod) const {
    std::vector<std::string> words{std::string(program_name), std::string(load_verb)};
    const auto load = load_words(plan_, pod, places_.directory + "/files");
    words.insert(words.end(), load.begin(), load.end());
    const auto directories = tree_.directories(container_cgroup(pod));
    if (!directories) {
        return tl::unexpected(directories.error());
    }
    for (const auto& directory : *directories) {
        words.insert(words.end(), {"--in", directory});
    }
    return words;
}

Status Stage::start_pods() {
    for (const auto& pod : plan_.pods) {
        auto arguments = arguments_for(pod);
        if (!arguments) {
            return tl::unexpected(arguments.error());
        }
        auto process = Child::start("/proc/self/exe", std::move(*arguments), STDERR_FILENO, SIGKILL);
        if (!process) {
            return tl::unexpected(process.error());
        }
        pods_.push_back(std::make_unique<Actor>(Actor{.plan = &pod, .process = std::move(*process)}));
    }
    return {};
}

Status Stage::note(Actor& actor, std::string_view word) {
    if (word == load::said_ready) {
        actor.holding = true;
    } else if (word == load::said_filled) {
        actor.filled = true;
    } else if (word == load::said_asked) {
        actor.asked_to_end = true;
    } else if (word == load::said_refused) {
        actor.refused = true;
    } else if (word == load::said_opened) {
        actor.opened++;
        opened_meanwhile_ += &actor != &this->actor() && this->actor().refused && this->actor().opened == 0;
    } else if (word == load::said_failed) {
        return fail(ErrorKind::failed, actor.plan->full_name(), "cannot write files in " + places_.directory,
                    "name another place with TMPDIR");
    }
    return {};
}

Result<bool> Stage::hear(Actor& actor) {
    Status noted;
    const bool open = actor.lines.read(actor.process.output(), [&](const std::string& line) {
        if (noted) {
            noted = note(actor, std::string_view(line).substr(0, line.find(' ')));
        }
    });
    return noted ? Result<bool>(open) : tl::unexpected(noted.error());
}

void Stage::act() {
    actor().process.begin();
    if (plan_.neighbour) {
        pods_[*plan_.neighbour]->process.begin();
    }
}

Status Stage::start_agent() {
    auto errors = sys::open(places_.directory + "/agent.err", O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
    if (!errors) {
        return tl::unexpected(errors.error());
    }
    auto agent = Child::start(agent_program_, {"evictd", "run", "--config", places_.config()}, errors->get(), SIGTERM);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    agent_.emplace(std::move(*agent));
    return {};
}

Result<Facts> Stage::facts() {
    Facts facts;
    const auto kills = oom_kills();
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
