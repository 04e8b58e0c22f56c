// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keys that were not asked for, and lists with nothing to say, are left out; `evict` and `ranking` are null instead.
#include "replay/step_json.hpp"

#include "evictd/model/quantity.hpp"
#include "policy/deadline.hpp"
#include "replay/json_writer.hpp"

namespace evictd::replay {
namespace {

class StepLine {
public:
    StepLine(const Scenario& scenario, const StepResult& result, std::string& out)
        : scenario_(scenario), result_(result), json_(out) {}

    void write() {
        json_.open('{');
        field("at", result_.step->at_text);
        write_thresholds();
        names("conditions", result_.decision.conditions);
        if (!result_.decision.reclaim.empty()) names("reclaim", result_.decision.reclaim);
        write_removed();
        write_eviction();
        write_ranking();
        write_answers();
        write_gc();
        write_deleted();
        write_limit_evictions();
        write_shed();
        write_deadlines();
        field("why", result_.decision.why);
        json_.close('}');
    }

private:
    void field(std::string_view key, std::string_view text) {
        json_.key(key);
        json_.text(text);
    }
    template <class Range>
    void names(std::string_view key, const Range& range) {
        json_.key(key);
        json_.list(range, [&](const auto& element) { json_.text(name(element)); });
    }
    void texts(std::string_view key, const std::vector<std::string>& range) {
        json_.key(key);
        json_.list(range, [&](const std::string& text) { json_.text(text); });
    }
    [[nodiscard]] std::string name_of(PodIndex pod) const { return pod_name(scenario_, pod); }
    [[nodiscard]] std::string name_of(const PodUid& uid) const {
        for (const auto& observed : result_.observation.pods) {
            if (observed.pod->uid == uid) return observed.pod->full_name();
        }
        return uid.value;
    }

    void write_thresholds() {
        json_.key("thresholds_met");
        json_.list(result_.decision.thresholds_met, [&](const MetThreshold& met) {
            json_.open('{');
            field("signal", name(met.threshold.signal));
            field("kind", met.threshold.hard() ? "hard" : "soft");
            json_.close('}');
        });
    }

    void write_removed() {
        if (result_.removed.empty()) return;
        json_.key("removed");
        json_.list(result_.removed, [&](const Garbage& garbage) {
            json_.open('{');
            field("kind", name(garbage.kind));
            field("id", garbage.id);
            json_.close('}');
        });
    }

    void write_eviction() {
        json_.key("evict");
        const auto& evict = result_.decision.evict;
        if (!evict) return json_.null();
        json_.open('{');
        field("pod", name_of(evict->pod));
        field("signal", name(evict->threshold.threshold.signal));
        json_.key("grace_period_seconds");
        json_.number(std::chrono::duration_cast<std::chrono::seconds>(evict->grace_period).count());
        field("message", evict->message);
        write_failed(result_.evict_failed);
        json_.close('}');
    }

    void write_failed(bool failed) {
        if (!failed) return;
        json_.key("failed");
        json_.boolean(true);
    }

    void write_ranking() {
        json_.key("ranking");
        if (!result_.decision.evict) return json_.null();
        json_.list(result_.decision.ranking,
                   [&](const RankedPod& ranked) { json_.text(result_.observation.pods[ranked.pod].pod->full_name()); });
    }

    void write_admissions() {
        json_.key("admit");
        json_.open('{');
        for (const auto& [pod, admission] : result_.admit) {
            json_.key(name_of(pod));
            json_.open('{');
            json_.key("allowed");
            json_.boolean(admission.allowed);
            if (!admission.allowed) {
                field("reason", admission.reason);
                field("message", admission.message);
            }
            json_.close('}');
        }
        json_.close('}');
    }

    void write_qos() {
        json_.key("qos");
        json_.open('{');
        for (const QosAnswer& answer : result_.qos) {
            json_.key(name_of(answer.pod));
            json_.open('{');
            field("class", name(answer.qos));
            json_.key("oom_score_adj");
            json_.open('{');
            for (const auto& [container, adj] : answer.oom_score_adj) {
                json_.key(container);
                json_.number(adj);
            }
            json_.close('}');
            json_.close('}');
        }
        json_.close('}');
    }

    void write_answers() {
        if (!result_.admit.empty()) write_admissions();
        if (result_.taint_evictions) {
            json_.key("taint_evictions");
            json_.list(*result_.taint_evictions, [&](const TaintDeletion& deletion) {
                json_.open('{');
                field("pod", deletion.pod);
                field("at", to_string(deletion.at));
                json_.close('}');
            });
        }
        if (!result_.scale_down.empty()) {
            json_.key("scale_down");
            json_.list(result_.scale_down, [&](PodIndex pod) { json_.text(name_of(pod)); });
        }
        if (!result_.qos.empty()) write_qos();
    }

    void write_gc() {
        if (!result_.gc) return;
        json_.key("gc");
        json_.open('{');
        if (result_.gc->images) texts("images", *result_.gc->images);
        if (result_.gc->containers) {
            texts("containers", result_.gc->containers->containers);
            texts("sandboxes", result_.gc->containers->sandboxes);
        }
        if (result_.gc->logs) texts("logs", *result_.gc->logs);
        if (result_.gc->pods) {
            texts("pods", *result_.gc->pods);
            texts("remains", result_.gc->remains);
        }
        if (!result_.gc->error.empty()) field("error", result_.gc->error);
        json_.close('}');
    }

    void write_deleted() {
        if (!result_.deleted) return;
        json_.key("deleted");
        json_.list(result_.deleted->actions, [&](const policy::GraphAction& action) {
            json_.open('{');
            field("action", verb_name(action.verb));
            field("object", text_of(action.object));
            field("why", action.why);
            json_.close('}');
        });
        if (!result_.deleted->error.empty()) field("deleted_error", result_.deleted->error);
    }

    void write_limit_evictions() {
        const auto& evictions = result_.decision.limit_evictions;
        if (evictions.empty()) return;
        json_.key("limit_evictions");
        json_.open('[');
        for (std::size_t i = 0; i < evictions.size(); ++i) {
            json_.open('{');
            field("pod", name_of(evictions[i].pod));
            field("message", evictions[i].message);
            write_failed(result_.limit_failed[i]);
            json_.close('}');
        }
        json_.close(']');
    }

    void write_shed() {
        if (result_.decision.shed.empty()) return;
        json_.key("shed_sockets");
        json_.list(result_.decision.shed, [&](const ShedPod& shed) { json_.text(shed.pod_name); });
    }

    void write_deadlines() {
        if (result_.deadline_exceeded.empty()) return;
        json_.key("deadline_exceeded");
        json_.list(result_.deadline_exceeded, [&](PodIndex pod) {
            json_.open('{');
            field("pod", name_of(pod));
            field("message", policy::deadline_message);
            json_.close('}');
        });
    }

    const Scenario& scenario_;
    const StepResult& result_;
    JsonWriter json_;
};

}  // namespace

void append_json(const Scenario& scenario, const StepResult& result, std::string& out) {
    StepLine(scenario, result, out).write();
    out += '\n';
}

}  // namespace evictd::replay
