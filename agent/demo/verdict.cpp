// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "demo/oomrace.hpp"
#include "evictd/model/text.hpp"

namespace evictd::demo {
namespace {

// evictionMonitoringPeriod of the kubelet's eviction manager.
constexpr Duration kubelet_period = std::chrono::seconds(10);
// "Full of page cache": the kernel reclaims in batches and never stays at the very limit.
constexpr double full = 0.95;

void append_socket_faults(const Plan& plan, const Story& story, const Facts& facts, std::vector<std::string>& faults) {
    const auto actor = plan.actor_pod().full_name();
    const auto neighbour = plan.pods[*plan.neighbour].full_name();
    if (!facts.actor_refused) {
        faults.push_back(actor + " was never refused a socket");
    } else if (!facts.actor_opened_again) {
        faults.push_back(actor + " got no sockets again when memory was back");
    }
    for (const auto* told : {&story.shed(), &story.restored()}) {
        if (!*told || !(*told)->pod || (*told)->pod->uid != plan.actor_pod().uid) {
            faults.push_back("the agent did not report that " + actor + (told == &story.shed() ? " gets no" : " gets") +
                             " new sockets");
        }
    }
    if (facts.neighbour_refused) {
        faults.push_back("a bystander was refused a socket: " + neighbour);
    }
    if (facts.opened_meanwhile == 0) {
        faults.push_back(neighbour + " opened no sockets meanwhile");
    }
}

void append_eviction_faults(const Plan& plan, const Story& story, std::vector<std::string>& faults) {
    for (const auto& event : story.evicted()) {
        const std::string pod = pod_name(event);
        if (!plan.expects_eviction()) {
            faults.push_back(pod + " was evicted, though " +
                             (plan.neighbour ? "keeping a pod from new sockets would have been enough"
                                             : "nothing but page cache had grown"));
        } else if (!event.pod || event.pod->uid != plan.actor_pod().uid) {
            faults.push_back("the wrong pod was evicted: " + pod);
        } else if (plan.stall > 0 && event.threshold) {
            faults.push_back(pod + " was evicted for bytes, which should have been free");
        }
    }
    if (plan.expects_eviction() && story.evicted().size() != 1) {
        faults.push_back(std::to_string(story.evicted().size()) + " pods were evicted, it should have been one");
    }
}

std::vector<std::string> faults_of(const Plan& plan, const Story& story, const Facts& facts) {
    std::vector<std::string> faults;
    append_eviction_faults(plan, story, faults);
    if (plan.expects_eviction() && !facts.actor_gone) {
        faults.push_back(plan.actor_pod().full_name() + " still runs");
    }
    for (const auto& event : story.failed()) {
        faults.push_back("an eviction failed: " + event.message);
    }
    for (const auto& ended : facts.others_ended) {
        faults.push_back("a bystander ended: " + ended);
    }
    if (facts.oom_kills + story.oom_kills() > 0) {
        faults.push_back("the kernel's OOM killer was faster: it killed " +
                         std::to_string(std::max<std::uint64_t>(facts.oom_kills, story.oom_kills())));
    }
    if (plan.neighbour) {
        append_socket_faults(plan, story, facts, faults);
    }
    if (plan.scenario == Scenario::pagecache &&
        static_cast<double>(facts.most_used.value) < full * static_cast<double>(plan.limit.value)) {
        faults.push_back("the pods' cgroup was never full of page cache: " + bytes_text(facts.most_used.value) +
                         " of " + bytes_text(plan.limit.value));
    }
    return faults;
}

// How long the pod would have gone on until the kernel's OOM killer, at the pace it had up to the threshold.
std::optional<Duration> time_to_oom(const Plan& plan, const Story& story) {
    const auto took = story.crossed_after();
    Bytes held{0};
    for (const auto& pod : plan.pods) {
        held += pod.holds;
    }
    const auto taken = (plan.limit - plan.hard - held).value;
    if (!took || took->count() <= 0 || taken <= 0) {
        return std::nullopt;
    }
    return Duration{static_cast<Duration::rep>(static_cast<double>(took->count()) *
                                               static_cast<double>(plan.hard.value) / static_cast<double>(taken))};
}

std::vector<std::string> remarks_on_spike(const Plan& plan, const Story& story) {
    std::vector<std::string> remarks;
    const auto& latency = story.evicted().front().latency;
    const auto to_kill = latency.total                   ? latency.total
                         : latency.decide && latency.act ? std::optional(*latency.decide + *latency.act)
                                                         : latency.act;
    if (to_kill) {
        const bool from_kernel = latency.detect && latency.detect->count() > 0;
        remarks.push_back(
            std::string(from_kernel ? "From the crossing" : "From noticing it") +
            " to SIGKILL: " + latency_text(*to_kill) +
            (latency.empty ? "; its last process was gone " + latency_text(*latency.empty) + " later" : std::string{}) +
            ".");
    }
    std::string kubelet = "The kubelet looks every " + span_text(kubelet_period);
    if (const auto left = time_to_oom(plan, story); left && *left < kubelet_period) {
        kubelet += "; at this pod's pace the kernel's OOM killer would have come " + latency_text(*left) +
                   " after the crossing";
    }
    remarks.push_back(kubelet + ".");
    return remarks;
}

std::vector<std::string> remarks_on_thrash(const Plan& plan, const Story& story) {
    std::vector<std::string> remarks;
    if (const auto after = story.crossed_after()) {
        remarks.push_back(
            fmt::format("Tasks stalled for {} % of a second {} after it began.", plan.stall, latency_text(*after)));
    }
    const auto& latency = story.evicted().front().latency;
    if (latency.total) {
        remarks.push_back("From the closing of the window to SIGKILL: " + latency_text(*latency.total) + ".");
    }
    remarks.emplace_back(
        "The kubelet would have seen nothing: all the time more bytes were available than any threshold asks for.");
    return remarks;
}

std::vector<std::string> remarks_on_leak(const Plan& plan, const Story& story, const Facts& facts) {
    const auto& event = story.evicted().front();
    std::vector<std::string> remarks;
    for (const auto& stretch : story.stretches()) {
        if (stretch.name == "grace") {
            remarks.push_back("The soft threshold stayed crossed for " + latency_text(stretch.length) +
                              " (grace period " + span_text(plan.soft_grace) + "), then SIGTERM.");
        } else if (stretch.name == "shutdown") {
            remarks.push_back("The pod took " + latency_text(stretch.length) + " of its " + span_text(plan.pod_grace) +
                              " to shut down" +
                              (event.latency.empty ? ", and had to be killed." : ": " + facts.actor_end + "."));
        }
    }
    remarks.push_back("The kubelet looks every " + span_text(kubelet_period) +
                      ": it would have seen this leak up to that much later.");
    return remarks;
}

Verdict shed_verdict(const Plan& plan, const Story& story, const Facts& facts) {
    const auto actor = plan.actor_pod().full_name();
    Verdict verdict{.right = true,
                    .faults = {},
                    .sentence = actor + " got no new sockets while memory was short, and no pod was evicted.",
                    .remarks = {}};
    const auto told = [&](const char* what, const std::optional<codec::Event>& event) {
        if (event->latency.total) {
            verdict.remarks.push_back(what + latency_text(*event->latency.total) + ".");
        }
    };
    told("From the crossing until its sockets were refused: ", story.shed());
    told("From memory being back above the line until it got them again: ", story.restored());
    verdict.remarks.emplace_back("Its own processes saw EPERM from socket(2), and a socket when it was over.");
    verdict.remarks.push_back(
        fmt::format("{} opened more than {} sockets meanwhile and was refused none; all pods are alive.",
                    plan.pods[*plan.neighbour].full_name(), 10 * (facts.opened_meanwhile - 1)));
    return verdict;
}

}  // namespace

Verdict judge(const Plan& plan, const Story& story, const Facts& facts) {
    if (plan.scenario == Scenario::oomrace) {
        return judge_oomrace(plan, story, facts);
    }
    Verdict verdict;
    verdict.faults = faults_of(plan, story, facts);
    verdict.right = verdict.faults.empty();
    if (!verdict.right) {
        verdict.sentence = "This is not what should have happened.";
        return verdict;
    }
    if (plan.neighbour) {
        return shed_verdict(plan, story, facts);
    }
    if (!plan.expects_eviction()) {
        verdict.sentence = "No pod was evicted: unused page cache is reclaimed before any pod is evicted.";
        verdict.remarks.push_back(
            fmt::format("All {} pods are alive, with {} of {} in use; the kernel's OOM killer killed no process.",
                        plan.pods.size(), bytes_text(facts.most_used.value), bytes_text(plan.limit.value)));
        return verdict;
    }
    const auto biggest = std::max_element(plan.pods.begin(), plan.pods.end(),
                                          [](const auto& a, const auto& b) { return a.holds < b.holds; });
    verdict.sentence = plan.actor_pod().full_name() + " was evicted, and only it.";
    verdict.remarks = plan.soft                           ? remarks_on_leak(plan, story, facts)
                      : plan.scenario == Scenario::thrash ? remarks_on_thrash(plan, story)
                                                          : remarks_on_spike(plan, story);
    verdict.remarks.insert(verdict.remarks.begin(),
                           fmt::format("The other {} pods are alive, {} among them, which is bigger but critical; the "
                                       "kernel's OOM killer killed no process.",
                                       plan.pods.size() - 1, biggest->full_name()));
    return verdict;
}

}  // namespace evictd::demo
