// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/play.hpp"

#include <algorithm>
#include <csignal>

#include "codec/event_json.hpp"
#include "evictd/model/text.hpp"

namespace evictd::demo {
namespace {

// All waits are for events; this only ends one that will never come. An emulated machine takes most of a minute to
// start eight processes and to load the programs.
constexpr Duration patience = std::chrono::seconds(120);
// How long a turn of the loop waits at most, and how often a picture is drawn: ten times a second is smooth.
constexpr Duration turn = std::chrono::milliseconds(25);
constexpr Duration between_pictures = std::chrono::milliseconds(100);
// For the viewer to see who is there before anything happens.
constexpr Duration calm = std::chrono::milliseconds(1500);
// Whoever else would be evicted wrongly would be by then: memory that was freed is counted again at the latest now.
constexpr Duration afterwards = std::chrono::seconds(2);
// A look on request could see the crossing before the kernel tells of it, and there would be no latency to show. A pod
// that grows at full speed is through in that time.
constexpr Duration undisturbed = std::chrono::seconds(1);

}  // namespace

Play::Play(const DemoOptions& options, sys::Loop loop) : options_(options), report_(options), loop_(std::move(loop)) {}

Result<std::unique_ptr<Play>> Play::make(const DemoOptions& options) {
    auto loop = sys::Loop::make();
    if (!loop) {
        return tl::unexpected(loop.error());
    }
    std::unique_ptr<Play> play(new Play(options, std::move(*loop)));
    (void)std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of that write
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        auto source = play->loop_.add_signal(number, [demo = play.get()] {
            demo->trouble({ErrorKind::failed, "demo", "interrupted", "everything it made is removed"});
        });
        if (!source) {
            return tl::unexpected(source.error());
        }
        play->sources_.push_back(std::make_unique<sys::Source>(std::move(*source)));
    }
    return play;
}

void Play::trouble(Error error) {
    if (!trouble_) {
        trouble_ = std::move(error);
    }
}

Result<std::vector<std::string>> Play::run(const Plan& plan) {
    auto done = set_up(plan);
    if (done) {
        done = go_through();
    }
    if (!done) {
        leaving_ = true;
        const auto removed = stage_ ? stage_->tear_down() : Status{};
        return tl::unexpected(removed ? done.error() : removed.error());
    }
    return judge_and_clear();
}

Status Play::set_up(const Plan& plan) {
    auto stage = Stage::make(plan, options_.agent, options_.bpf);
    if (!stage) {
        return tl::unexpected(stage.error());
    }
    stage_ = std::move(*stage);
    auto started = start_pods();
    return started ? start_agent() : started;
}

Status Play::listen(int fd, sys::Loop::Callback callback) {
    auto source = loop_.add_fd(fd, std::move(callback));
    if (!source) {
        return tl::unexpected(source.error());
    }
    sources_.push_back(std::make_unique<sys::Source>(std::move(*source)));
    return {};
}

Status Play::start_pods() {
    if (auto started = stage_->start_pods(); !started) {
        return started;
    }
    for (const auto& pod : stage_->pods()) {
        auto slot = std::make_unique<sys::Source>();
        auto source = loop_.add_fd(pod->process.output(),
                                   [this, actor = pod.get(), kept = slot.get()] { hear_pod(*actor, *kept); });
        if (!source) {
            return tl::unexpected(source.error());
        }
        *slot = std::move(*source);
        sources_.push_back(std::move(slot));
    }
    return wait_for("the pods take their memory", [this] {
        const auto& pods = stage_->pods();
        return std::all_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->holding; });
    });
}

void Play::hear_pod(Actor& actor, sys::Source& source) {
    const bool was_asked = actor.asked_to_end;
    const auto heard = stage_->hear(actor);
    if (!heard) {
        trouble(heard.error());
    }
    if (actor.asked_to_end && !was_asked) {
        story_.note(clock_.wall(), codec::Tone::plain,
                    "shutdown   " + actor.plan->full_name() + " takes nothing more and shuts down");
    }
    if (!heard || !*heard) {
        source.reset();
        if (!actor.holding) {
            trouble({ErrorKind::failed, actor.plan->full_name(), "its process ended before anything began", ""});
        }
    }
}

Status Play::start_agent() {
    if (auto started = stage_->start_agent(); !started) {
        return started;
    }
    link_.emplace(stage_->agent().output(), stage_->places().socket());
    auto listening = listen(stage_->agent().output(), [this] { hear_agent(); });
    if (listening) {
        listening = listen(stage_->agent().pidfd(), [this] { agent_ended(); });
    }
    if (!listening) {
        return listening;
    }
    return wait_for("the agent starts: its programs are loaded into the kernel",
                    [this] { return agent_sees_everybody(); });
}

void Play::agent_ended() {
    sources_.pop_back();  // its pidfd stays readable
    if (!leaving_) {
        const auto status = stage_->agent().ended().value_or(0);
        trouble({ErrorKind::failed, "demo", "the agent ended, " + describe_end(status) + ": " + stage_->agent_errors(),
                 "try 'evictd doctor'"});
    }
}

void Play::hear_agent() {
    link_->read([this](const std::string& line) {
        report_.record(line);
        if (const auto event = codec::event_from_json(line)) {
            story_.hear(*event);
        }
    });
}

void Play::ask_agent() {
    if (auto parts = link_->ask(report_.style())) {
        status_ = std::move(*parts);
    }
}

bool Play::agent_sees_everybody() {
    ask_agent();
    return status_ && status_->pods_measured == stage_->plan().pods.size();
}

Status Play::go_through() {
    const Plan& plan = stage_->plan();
    report_.open(scene());
    if (report_.is_live()) {
        if (auto passed = pass("all is calm", calm); !passed) {
            return passed;
        }
    }
    acted_at_ = clock_.monotonic();
    story_.begin(clock_.wall(), "begin      " + plan.headline);
    stage_->act();
    if (auto played = wait_for(what_now(plan.scenario), [this] { return is_over(); }); !played) {
        return played;
    }
    if (plan.expects_eviction() || plan.neighbour || plan.scenario == Scenario::oomrace) {
        return pass("does any other pod have to go?", afterwards);
    }
    note_full_cache();
    return pass("the cgroup is full of page cache; does any pod have to go?", afterwards);
}

bool Play::is_over() {
    const Plan& plan = stage_->plan();
    if (plan.scenario == Scenario::oomrace) {
        return story_.oom_kills() > 0 || story_.over();
    }
    // By the kernel's counter: without BPF the agent may miss the OOM kill, and no pod is left to evict.
    const auto oom_kills = stage_->oom_kills();
    if (!oom_kills) {
        trouble(oom_kills.error());
        return false;
    }
    if (story_.over() || *oom_kills > 0) {
        return true;
    }
    if (plan.neighbour) {
        return stage_->actor().opened > 0 && story_.restored();
    }
    return !plan.expects_eviction() && stage_->actor().filled && most_used_.value * 100 >= plan.limit.value * 95;
}

void Play::note_full_cache() {
    ask_agent();
    const bool known = status_ && status_->available;
    story_.note(clock_.wall(), codec::Tone::plain,
                "full       the pods use " + bytes_text(most_used_.value) + " of " +
                    bytes_text(stage_->plan().limit.value) +
                    (known ? ", and " + bytes_text(status_->available->value) +
                                 " are left all the same: unused cache counts as free"
                           : std::string{}));
}

Status Play::wait_for(const std::string& what, const std::function<bool()>& done) {
    now_ = what;
    const auto give_up = clock_.monotonic() + patience;
    while (!done()) {
        if (trouble_) {
            return tl::unexpected(*trouble_);
        }
        if (clock_.monotonic() > give_up) {
            return fail(ErrorKind::failed, "demo", "not within " + span_text(patience) + ": " + what,
                        "the agent: " + stage_->agent_errors());
        }
        if (auto turned = loop_.run_once(turn); !turned) {
            return turned;
        }
        refresh();
    }
    return trouble_ ? Status(tl::unexpected(*trouble_)) : Status{};
}

Status Play::pass(const std::string& what, Duration time) {
    const auto until = clock_.monotonic() + time;
    return wait_for(what, [this, until] { return clock_.monotonic() >= until; });
}

void Play::refresh() {
    const auto now = clock_.monotonic();
    if (const auto used = stage_->usage()) {
        charged_ = *used;
        most_used_ = std::max(most_used_, *used);
    }
    if (report_.closed()) {
        trouble({ErrorKind::failed, "stdout", "it was closed", ""});
    }
    if (report_.is_live()) {
        if (now - drawn_at_ < between_pictures) {
            return;
        }
        drawn_at_ = now;
        const bool spiking =
            stage_->plan().growth == 0 && stage_->plan().files == Bytes{} && now - acted_at_ < undisturbed;
        if (status_ && (!spiking || story_.over())) {
            ask_agent();
        }
    }
    report_.update(scene());
}

Scene Play::scene() const {
    const bool bpf = status_ && std::none_of(status_->sources.begin(), status_->sources.end(), [](const auto& source) {
                         return source.hook == "watermark" && source.fallback;
                     });
    std::string hint;
    if (status_ && !leaving_) {
        hint = bpf ? "look inside while it runs: bpftool map dump pinned " + stage_->places().bpffs + "/pods"
                   : "the agent runs without BPF: files, PSI and a timed look instead";
    }
    return {stage_->plan(), story_,   leaving_ ? "over; everything it made is removed again" : now_,
            hint,           charged_, status_};
}

Result<std::vector<std::string>> Play::judge_and_clear() {
    auto facts = stage_->facts();
    leaving_ = true;
    stage_->stop_agent();
    hear_agent();  // its last words
    const auto removed = stage_->tear_down();
    if (!facts || !removed) {
        return tl::unexpected(facts ? removed.error() : facts.error());
    }
    facts->most_used = most_used_;
    const Verdict verdict = judge(stage_->plan(), story_, *facts);
    report_.close(scene(), verdict);
    return verdict.faults;
}

}  // namespace evictd::demo
