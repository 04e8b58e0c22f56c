// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The wiring's configuration: the kubelet's beneath it at the start, files that change, what is applied and what not.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/kept_kubelet.hpp"
#include "app/listener.hpp"
#include "app/wiring_parts.hpp"
#include "config/kubelet_first.hpp"
#include "evictd/model/text.hpp"
#include "reconcile/ledger_file.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

constexpr auto kubelet_name = "the kubelet's /configz";

std::string say(const config::Faults& faults) {
    std::string text;
    for (const auto& fault : faults) text += (text.empty() ? "" : "; ") + fault.text();
    return text;
}

bool takes_kubelet_config(const Config& config) {
    return config.agent.cluster.kubelet_config == KubeletConfigUse::automatic;
}

bool is_kubelet_heard(const std::vector<PodSourceState>& states) {
    return std::any_of(states.begin(), states.end(), [](const PodSourceState& state) {
        return state.name.starts_with("kubelet") && state.heard_at && state.fault.empty();
    });
}

}  // namespace

// At the start alone, because where the pods' cgroups are cannot change later. A kubelet that does not answer yet is
// asked again by the reader.
void Wiring::Parts::adopt_kubelet_config() {
    if (!takes_kubelet_config(config)) return;
    const auto ask = kubelet_config_of(config, node);
    if (!ask) {
        return do_without_kubelet_config(
            "no kubelet is configured (set evictd.kubelet.url and evictd.kubelet.caFile, and an API server)");
    }
    auto text = ask();
    if (!text) return do_without_kubelet_config(text.error().text());
    const auto faults = take_kubelet_config({.name = kubelet_name, .text = std::move(*text)});
    if (!faults.empty()) do_without_kubelet_config(say(faults));
}

// None: it is in force, beneath evictd's own files.
config::Faults Wiring::Parts::take_kubelet_config(const config::KubeletText& kubelet) {
    auto own = config::load_kubelet(kubelet);
    auto merged = config_source.read(kubelet);
    if (!own || !merged) return own ? merged.error() : own.error();
    config = std::move(*merged);
    kubelet_text = kubelet;
    kubelet_eviction = own->eviction;
    return {};
}

// What it answered last, also before a reboot; else its default for memory. An agent without a threshold would protect
// nothing, just while the kubelet does not either.
void Wiring::Parts::do_without_kubelet_config(const std::string& why) {
    kubelet_unknown = why;
    if (!take_kept_kubelet_config()) {
        kubelet_instead = "memory.available<100Mi, its default, holds unless evictd's own file has evictionHard";
        if (auto merged = config_source.read(config::unknown_kubelet())) {
            config = std::move(*merged);
        } else {
            kubelet_instead = "evictd's defaults hold, because its own file " + say(merged.error());
        }
    }
    sys::log::warn("evictd.kubelet.config: the kubelet's configuration is not known; until it answers, " +
                   kubelet_instead + ": " + kubelet_unknown);
}

bool Wiring::Parts::take_kept_kubelet_config() {
    const auto path = kept_kubelet_path(config.agent);
    auto kept = read_kept_kubelet(path, node);
    if (!kept) {
        kubelet_unknown += "; what it answered last cannot be used: " + kept.error().text();
        return false;
    }
    if (!*kept) return false;
    const auto received = rfc3339((*kept)->at);
    const auto faults =
        take_kubelet_config({.name = "the kubelet's /configz of " + received, .text = std::move((*kept)->text)});
    if (!faults.empty()) {
        kubelet_unknown += "; what it answered last cannot be used: " + say(faults);
        return false;
    }
    is_kubelet_kept = true;
    const auto age = std::max(Duration::zero(), Duration(started_at - (*kept)->at));
    kubelet_instead = "what it answered at " + received + " holds (" + span_text(age) + " old at the start)";
    return true;
}

// Null where this agent does not hold the state directory, as in a dry run. Called in the reader's thread.
std::function<void(const std::string& text)> Wiring::Parts::kubelet_keeper() const {
    if (!state_claim) return {};
    reconcile::remove_unfinished(kept_kubelet_path(config.agent));
    return [path = kept_kubelet_path(config.agent), node = node](const std::string& text) {
        const auto kept = keep_kubelet(path, node, {.text = text, .at = sys::SystemClock().wall()});
        if (kept) return;
        sys::log::warn("the kubelet's configuration is not kept for the next start: " + kept.error().text());
    };
}

Status Wiring::Parts::start_config_reader() {
    const bool merges = takes_kubelet_config(config);
    ConfigReader::Needs needs{
        .read =
            [source = config_source, merges](const auto& kubelet) {
                if (!merges) return source.read({});
                return source.read(kubelet ? *kubelet : config::unknown_kubelet());
            },
        .files = config.agent.watch_config ? config_source.files : std::vector<std::string>{},
        .stamp = config_source.stamp,
        .ask_kubelet = kubelet_config_of(config, node),
        .is_kubelet_heard = [states = states_of(pod_sources)] { return is_kubelet_heard(states()); },
        .kubelet_listener = [port = port_of(config.agent.cluster.kubelet_url)] { return listener_on(port); },
        .kubelet = kubelet_text,
        .is_kubelet_kept = is_kubelet_kept,
        .merges_kubelet = merges,
        .keep_kubelet = merges ? kubelet_keeper() : nullptr,
        .on_kubelet =
            [this, merges](const config::KubeletText& kubelet) {
                auto own = config::load_kubelet(kubelet);
                if (!own) return sys::log::warn("the kubelet's configuration: " + say(own.error()));
                (void)loop->post([this, merges, eviction = std::move(own->eviction)] {
                    kubelet_eviction = eviction;
                    kubelet_unknown.clear();
                    if (!merges) compare_with_kubelet();  // else once it is in force
                });
            },
        .deliver =
            [this](config::ConfigOutcome outcome) {
                (void)loop->post([this, kept = std::move(outcome)] { apply(kept); });
            },
    };
    auto made = ConfigReader::make(std::move(needs));
    if (!made) return tl::unexpected(made.error());
    config_reader = std::move(*made);
    if (kubelet_eviction) compare_with_kubelet();
    return {};
}

// A bad config is refused as a whole and the old one stays. What needs a restart is said, each time until it comes.
void Wiring::Parts::apply(const config::ConfigOutcome& fresh) {
    if (!fresh) {
        const auto faults = say(fresh.error());
        sys::log::error("the new configuration is refused, the old one stays: " + faults);
        agent->notice(Notice::config_rejected, "The new configuration is refused, the old one stays in force", faults);
        return;
    }
    for (Config* kept : {&config, &configured}) {
        const auto before = std::exchange(kept->eviction, fresh->eviction);
        kept->eviction.ladder = before.ladder;  // the guard was set, or not, at the start
        kept->eviction.pod_statuses = before.pod_statuses;
        kept->eviction.soft_eviction_api = before.soft_eviction_api;
        kept->eviction.node_status = before.node_status;
    }
    for (const auto& warning : fresh->warnings) sys::log::warn(warning);
    want_stalls();
    publishers.board->set_agent(facts());  // before the look that is decided by it
    agent->set_config(config.eviction);
    const auto waiting = config::different_settings(configured, *fresh);
    agent->notice(Notice::config_reloaded,
                  waiting.empty()
                      ? "The configuration was read again and is in force"
                      : fmt::format("The configuration was read again and is in force, except for what needs "
                                    "a restart: {}",
                                    fmt::join(waiting, ", ")));
    if (kubelet_eviction) compare_with_kubelet();
}

std::vector<std::string> Wiring::Parts::kubelet_first() const {
    return config::kubelet_acts_first(
        config.eviction, *kubelet_eviction,
        [this](Signal signal) -> std::optional<Amount> { return agent ? agent->capacity_of(signal) : std::nullopt; });
}

SourceRow Wiring::Parts::kubelet_row() const {
    constexpr auto hook = "kubelet's thresholds";
    if (!kubelet_unknown.empty()) {
        return {.hook = hook,
                .chosen = is_kubelet_kept ? "/configz, kept" : "",
                .fallback = true,
                .detail = "not known; until it answers, " + kubelet_instead + ": " + kubelet_unknown};
    }
    const auto first = kubelet_first();
    return {.hook = hook,
            .chosen = "/configz",
            .fallback = !first.empty(),
            .detail = first.empty() ? "none is reached before evictd's" : fmt::format("{}", fmt::join(first, "; "))};
}

// What the kubelet is first at, evictd does not do.
void Wiring::Parts::compare_with_kubelet() {
    publishers.board->set_agent(facts());
    const auto first = kubelet_first();
    if (first.empty()) return;
    const auto text = fmt::format("{}", fmt::join(first, "; "));
    sys::log::warn("evictd acts only after the kubelet: " + text);
    agent->notice(Notice::signal_source_changed, "evictd acts only after the kubelet", text);
}

}  // namespace evictd::app
