// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The wiring's configuration: the kubelet's beneath it at the start, files that change, what is applied and what not.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/wiring_parts.hpp"
#include "config/kubelet_first.hpp"
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

}  // namespace

// At the start alone, because where the pods' cgroups are cannot change later. A kubelet that does not answer yet is
// asked again by the reader.
void Wiring::Parts::adopt_kubelet_config() {
    const auto ask = takes_kubelet_config(config) ? kubelet_config_of(config, node) : nullptr;
    if (!ask) return;
    auto text = ask();
    if (!text) {
        sys::log::warn("evictd.kubelet.config: could not read the kubelet's configuration yet: " + text.error().text());
        return;
    }
    const config::KubeletText kubelet{.name = kubelet_name, .text = std::move(*text)};
    auto merged = config_source.read(kubelet);
    if (!merged) {
        sys::log::error("evictd.kubelet.config: the kubelet's configuration is not used: " + say(merged.error()));
        return;
    }
    config = std::move(*merged);
    kubelet_text = kubelet;
    if (auto own = config::load_kubelet(kubelet)) kubelet_eviction = own->eviction;
}

Status Wiring::Parts::start_config_reader() {
    const bool merges = takes_kubelet_config(config);
    ConfigReader::Needs needs{
        .read =
            [source = config_source, merges](const auto& kubelet) {
                return source.read(merges ? kubelet : std::optional<config::KubeletText>{});
            },
        .files = config.agent.watch_config ? config_source.files : std::vector<std::string>{},
        .stamp = config_source.stamp,
        .ask_kubelet = kubelet_config_of(config, node),
        .is_kubelet_heard =
            [states = states_of(pod_sources)] {
                const auto all = states();
                return std::any_of(all.begin(), all.end(), [](const PodSourceState& state) {
                    return state.name.starts_with("kubelet") && state.heard_at && state.fault.empty();
                });
            },
        .kubelet = kubelet_text,
        .merges_kubelet = merges,
        .on_kubelet =
            [this, merges](const config::KubeletText& kubelet) {
                auto own = config::load_kubelet(kubelet);
                if (!own) return sys::log::warn("the kubelet's configuration: " + say(own.error()));
                (void)loop->post([this, merges, eviction = std::move(own->eviction)] {
                    kubelet_eviction = eviction;
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

SourceRow Wiring::Parts::kubelet_row() const {
    const auto first = config::kubelet_acts_first(config.eviction, *kubelet_eviction);
    return {.hook = "kubelet's thresholds",
            .chosen = "/configz",
            .fallback = !first.empty(),
            .detail = first.empty() ? "none is reached before evictd's" : fmt::format("{}", fmt::join(first, "; "))};
}

// What the kubelet is first at, evictd does not do.
void Wiring::Parts::compare_with_kubelet() {
    publishers.board->set_agent(facts());
    const auto first = config::kubelet_acts_first(config.eviction, *kubelet_eviction);
    if (first.empty()) return;
    const auto text = fmt::format("{}", fmt::join(first, "; "));
    sys::log::warn("evictd acts only after the kubelet: " + text);
    agent->notice(Notice::signal_source_changed, "evictd acts only after the kubelet", text);
}

}  // namespace evictd::app
