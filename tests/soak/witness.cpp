// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "witness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "files.hpp"

namespace evictd::soak {
namespace {

// The kubelet's own pace, less what two clocks may differ by.
constexpr double period_s = 9.5;
// Of what a victim held so much must be back before the next: the kernel gives the last of it back in batches.
constexpr double returned = 0.75;

std::string field(const std::string& line, const std::string& key, std::size_t from = 0) {
    const auto at = line.find("\"" + key + "\":\"", from);
    if (at == std::string::npos) return "";
    const auto begin = at + key.size() + 4;
    return line.substr(begin, line.find('"', begin) - begin);
}

double mib_of(const std::string& quantity) {
    char* unit = nullptr;
    const double value = std::strtod(quantity.c_str(), &unit);
    const std::string suffix(unit);
    if (suffix == "Ki") return value / 1024;
    if (suffix == "Mi") return value;
    if (suffix == "Gi") return value * 1024;
    return value / 1024 / 1024;
}

double seconds_of(const std::string& time) {  // 2026-11-23T04:11:17.809376508Z
    const auto at = time.find('T');
    if (at == std::string::npos || time.size() < at + 9) return 0;
    return std::strtod(&time[at + 1], nullptr) * 3600 + std::strtod(&time[at + 4], nullptr) * 60 +
           std::strtod(&time[at + 7], nullptr);
}

const Pod* find(const std::vector<Pod>& pods, const std::string& name) {
    const auto at = std::find_if(pods.begin(), pods.end(), [&](const Pod& pod) { return pod.name == name; });
    return at == pods.end() ? nullptr : &*at;
}

}  // namespace

std::vector<Witness::Event> Witness::unread() {
    std::vector<Event> events;
    std::istringstream lines(read_file(log_).substr(read_));
    for (std::string line; std::getline(lines, line);) {
        read_ += line.size() + 1;
        Event event{.reason = field(line, "reason"), .seconds = seconds_of(field(line, "time")), .line = line};
        if (const auto at = line.find("\"pod\":{"); at != std::string::npos) event.pod = field(line, "name", at);
        if (const auto at = line.find("\"threshold\":{"); at != std::string::npos) {
            event.available_mib = mib_of(field(line, "available", at));
        }
        events.push_back(std::move(event));
    }
    return events;
}

Words Witness::judge_victims(const std::vector<Event>& events, const std::vector<Pod>& hostile, double settled) {
    Words wrong;
    const bool growing = std::any_of(hostile.begin(), hostile.end(), [](const Pod& pod) { return pod.grows; });
    const Event* last = nullptr;
    bool last_gone = false;
    bool restarted = false;  // since then: the agent that was killed knew what is owed, and of the end of its victim
    for (const auto& event : events) {
        restarted = restarted || event.reason == "AgentStarted";
        if (last != nullptr && event.reason == "Evicted" && event.pod == last->pod) last_gone = true;
        if (event.reason != "Evicting" || (last != nullptr && last->pod == event.pod)) continue;
        const double apart = last == nullptr ? period_s : event.seconds - last->seconds;
        if (apart < period_s) {
            const Pod* victim = find(hostile, last->pod);
            const double back = event.available_mib - last->available_mib;
            const double owed = victim == nullptr ? 0 : static_cast<double>(victim->mib);
            if (apart == 0) wrong.push_back("two victims of one look: " + last->pod + " and " + event.pod);
            if (!last_gone && !restarted)
                wrong.push_back(event.pod + " was chosen while " + last->pod + " was still there");
            if (!growing && last->seconds >= settled && !restarted && back < returned * owed && back >= 0) {
                wrong.push_back(event.pod + " was chosen after " + std::to_string(apart) + " s, of " + last->pod +
                                "'s " + std::to_string(owed) + " MiB came back " + std::to_string(back));
            }
        }
        last = &event;
        last_gone = restarted = false;
    }
    return wrong;
}

Words Witness::judge(const std::vector<Pod>& innocents, const std::vector<Pod>& hostile, double settled) {
    const auto events = unread();
    Words wrong = judge_victims(events, hostile, settled);
    for (const auto& pod : innocents) {
        if (!Node::lives(pod)) wrong.push_back(pod.name + " is dead: it was within its request");
    }
    for (const auto& event : events) {
        if (event.reason == "Evicting") evictions_++;
        if ((event.reason == "Evicting" || event.reason == "OOMKilling") && find(innocents, event.pod) != nullptr) {
            wrong.push_back(event.reason + " " + event.pod + ", which was within its request");
        }
    }
    if (!wrong.empty()) {
        for (const auto& event : events) wrong.push_back("  " + event.line.substr(0, 400));
    }
    return wrong;
}

}  // namespace evictd::soak
