// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/step_text.hpp"

#include <algorithm>

#include "codec/text_table.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "policy/explain.hpp"
#include "replay/joined.hpp"
#include "replay/signals_text.hpp"

namespace evictd::replay {
namespace {

using codec::TextStyle;
using codec::Tone;

// Who comes after these is of no interest any more.
constexpr std::size_t places_shown = 8;
// A screen of them; the JSON line has all.
constexpr std::size_t actions_shown = 20;

class StepText {
public:
    StepText(const Scenario& scenario, const StepResult& result, const TextStyle& style)
        : scenario_(scenario), result_(result), decision_(result.decision), style_(style) {}

    [[nodiscard]] std::string quiet() const {
        return toned(clock(), Tone::bold, style_) + printable(decision_.why) + conditions(" [", "]") + "\n";
    }

    [[nodiscard]] std::string loud() const {
        std::string text = toned(clock(), Tone::bold, style_) + printable(decision_.why) + "\n" +
                           signals_text(scenario_.config.eviction, result_, style_) +
                           conditions("  conditions  ", "\n");
        if (!decision_.reclaim.empty()) {
            text += row("reclaimed", joined(decision_.reclaim, [](NodeReclaim what) { return name(what); }) + " first");
        }
        text += removed();
        for (std::size_t i = 0; i < decision_.limit_evictions.size(); ++i) {
            text += eviction(decision_.limit_evictions[i], result_.limit_failed[i]);
        }
        if (decision_.evict) text += eviction(*decision_.evict, result_.evict_failed) + ranking();
        return text + answers() + "\n";
    }

private:
    [[nodiscard]] std::string removed() const {
        std::string text;
        for (std::size_t i = 0; i < result_.removed.size() && i < actions_shown; ++i) {
            const Garbage& one = result_.removed[i];
            const std::string size = one.size ? " (" + bytes_text(one.size->value) + ")" : "";
            text += row(i == 0 ? "removed" : "", std::string(name(one.kind)) + " " + one.name + size + ": " + one.why);
        }
        if (result_.removed.size() > actions_shown) {
            text += row("", "and " + std::to_string(result_.removed.size() - actions_shown) + " more");
        }
        return text;
    }
    [[nodiscard]] std::string clock() const {
        std::string text = result_.step->at_text;
        text.resize(std::max<std::size_t>(text.size() + 2, 8), ' ');
        return text;
    }
    static std::string row(std::string key, const std::string& text) {
        key.resize(std::max<std::size_t>(key.size() + 1, 12), ' ');
        return "  " + key + printable(text) + "\n";
    }
    [[nodiscard]] std::string conditions(const std::string& before, const std::string& after) const {
        if (decision_.conditions.empty()) return {};
        const auto names = joined(decision_.conditions, [](Condition condition) { return name(condition); });
        return before + toned(names, Tone::yellow, style_) + after;
    }
    [[nodiscard]] std::string pod(PodIndex index) const { return pod_name(scenario_, index); }

    [[nodiscard]] std::string eviction(const Eviction& eviction, bool failed) const {
        const auto found = std::find_if(result_.observation.pods.begin(), result_.observation.pods.end(),
                                        [&](const ObservedPod& seen) { return seen.pod->uid == eviction.pod; });
        const std::string name = printable(found->pod->full_name());
        std::string text = "  " + toned(failed ? "FAILED    " : "EVICTED   ", Tone::red, style_) + "  " +
                           toned(name, Tone::bold, style_) + ", with " + to_string(eviction.grace_period) +
                           " of grace\n";
        return text + row("", toned_message(eviction.message));
    }
    static std::string toned_message(std::string message) {
        message.erase(message.find_last_not_of(' ') + 1);
        return message;
    }

    [[nodiscard]] std::string ranking() const {
        const Signal signal = decision_.evict->threshold.threshold.signal;
        const auto& order = decision_.ranking;
        std::string text;
        for (std::size_t i = 0; i < order.size() && i < places_shown; ++i) {
            text += row(i == 0 ? "order" : "",
                        std::to_string(i + 1) + ". " + policy::place(signal, order[i], result_.observation));
        }
        if (order.size() > places_shown) {
            text += row("", "and " + std::to_string(order.size() - places_shown) + " more");
        }
        return text;
    }

    [[nodiscard]] std::string answers() const {
        std::string text;
        for (const auto& [index, admission] : result_.admit) {
            text += row("admit", pod(index) + (admission.allowed ? ": yes" : ": no. " + admission.message));
        }
        if (result_.taint_evictions) {
            for (const auto& deletion : *result_.taint_evictions) {
                const bool done = deletion.at <= result_.step->at;
                text += row("taint", deletion.pod + (done ? " is deleted; it was due at " : " is to be deleted at ") +
                                         to_string(deletion.at));
            }
        }
        if (!result_.scale_down.empty()) {
            text += row("scale down", joined(result_.scale_down, [&](PodIndex index) { return pod(index); }));
        }
        for (const QosAnswer& answer : result_.qos) {
            const auto adjustments = joined(answer.oom_score_adj, [](const auto& container) {
                return container.first + " " + std::to_string(container.second);
            });
            text += row("qos",
                        pod(answer.pod) + " is " + std::string(name(answer.qos)) + "; oom_score_adj: " + adjustments);
        }
        for (const PodIndex index : result_.deadline_exceeded) {
            text += row("deadline", pod(index) + " was active for longer than it may be");
        }
        return text + collected() + deleted();
    }

    [[nodiscard]] std::string collected() const {
        if (!result_.gc) return {};
        const auto list = [](const std::vector<std::string>& ids) {
            return ids.empty() ? std::string("nothing") : joined(ids, [](const std::string& id) { return id; });
        };
        std::string text;
        if (result_.gc->images) text += row("gc", "images: " + list(*result_.gc->images));
        if (!result_.gc->error.empty()) text += row("", result_.gc->error);
        if (result_.gc->containers) {
            text += row("gc", "containers: " + list(result_.gc->containers->containers));
            text += row("gc", "sandboxes: " + list(result_.gc->containers->sandboxes));
        }
        if (result_.gc->logs) text += row("gc", "logs: " + list(*result_.gc->logs));
        if (result_.gc->pods) text += row("gc", "pods: " + list(*result_.gc->pods));
        if (!result_.gc->remains.empty()) text += row("gc", "remains: " + list(result_.gc->remains));
        return text;
    }

    [[nodiscard]] std::string deleted() const {
        if (!result_.deleted) return {};
        const auto& actions = result_.deleted->actions;
        std::string text = actions.empty() ? row("delete", "nothing follows") : "";
        for (std::size_t i = 0; i < actions.size() && i < actions_shown; ++i) {
            text += row(i == 0 ? "delete" : "", std::string(verb_name(actions[i].verb)) + " " +
                                                    text_of(actions[i].object) + ": " + actions[i].why);
        }
        if (actions.size() > actions_shown) {
            text += row("", "and " + std::to_string(actions.size() - actions_shown) + " more");
        }
        return result_.deleted->error.empty() ? text : text + row("", result_.deleted->error);
    }

    const Scenario& scenario_;
    const StepResult& result_;
    const Decision& decision_;
    const TextStyle& style_;
};

bool something_happens(const StepResult& result) {
    const Decision& decision = result.decision;
    const bool acts = decision.evict || !decision.limit_evictions.empty() || !decision.reclaim.empty();
    const bool turns = !decision.threshold_edges.empty() || !decision.condition_edges.empty();
    const bool answers = !result.admit.empty() || result.step->taints || !result.scale_down.empty() ||
                         !result.qos.empty() || result.gc || result.deleted || !result.deadline_exceeded.empty();
    return acts || turns || answers;
}

}  // namespace

void append_text(const Scenario& scenario, const StepResult& result, const TextStyle& style, std::string& out) {
    const StepText text(scenario, result, style);
    out += something_happens(result) ? text.loud() : text.quiet();
}

}  // namespace evictd::replay
