// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd_soak: rounds of hostile pods at random against a real agent that is killed and restarted, and what must hold
// in every one of them. A round is made by its seed alone: `--seed SEED --rounds 1` plays a failed one again.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

#include "files.hpp"
#include "node.hpp"
#include "witness.hpp"

namespace evictd::soak {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // NOLINT(*-avoid-non-const-global-variables): for the signal handler

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::size_t between(std::size_t low, std::size_t high) { return low + engine_() % (high - low + 1); }
    bool chance(std::size_t percent) { return between(1, 100) <= percent; }

private:
    std::mt19937_64 engine_;
};

struct Options {
    std::string evictd = "build/evictd";
    std::string attacker = "build/attacker";
    std::uint64_t seed = 0;
    std::uint64_t rounds = 60;
    bool verbose = false;
};

class Soak {
public:
    explicit Soak(const Options& options)
        : node_(options.evictd, options.attacker), witness_(node_.events()), verbose_(options.verbose) {}

    [[nodiscard]] bool made() const { return node_.made(); }
    bool begin() {
        for (std::size_t number = 1; number <= 3; number++) {
            Pod pod = node_.add("innocent" + std::to_string(number), 32);
            pod.innocent = true;
            const auto kinds = std::vector<Words>{{"hold", "8"}, {"main_thread", "8"}, {"many", "5", "8"}};
            node_.start(pod, kinds.at(number - 1));
            innocents_.push_back(std::move(pod));
        }
        return node_.start_agent();
    }
    Words round(std::uint64_t seed) {
        Dice dice(seed);
        Words wrong;
        std::vector<Pod> hostile;
        for (std::size_t left = 150, count = dice.between(1, 3); count > 0; count--) {
            hostile.push_back(attack(dice, std::min(left, dice.between(24, 64))));
            left -= hostile.back().mib;
        }
        const double settled = seconds_of_day();
        sleep_ms(static_cast<long>(dice.between(50, 200)));  // manifests are read
        press(dice, hostile, wrong);
        if (!node_.set_threshold(4)) wrong.emplace_back("a new configuration was not taken over");
        for (auto& pod : hostile) node_.remove(pod);
        std::error_code ignored;
        for (const auto& file : std::filesystem::directory_iterator(node_.volume()))
            std::filesystem::remove(file, ignored);
        drop_cache(node_.big_file());
        if (dice.chance(15)) restart(wrong);
        const Words seen = witness_.judge(innocents_, hostile, settled);
        wrong.insert(wrong.end(), seen.begin(), seen.end());
        return wrong;
    }
    Words end() {
        Words wrong;
        if (node_.agent_runs() && !node_.stop_agent()) wrong.emplace_back("the agent did not end with 0");
        const Words left = node_.left_behind(true);
        wrong.insert(wrong.end(), left.begin(), left.end());
        for (auto& pod : innocents_) node_.remove(pod);
        return wrong;
    }
    [[nodiscard]] std::size_t evictions() const { return witness_.evictions(); }
    [[nodiscard]] std::string agent_log() const { return read_file(node_.log()); }

private:
    Pod attack(Dice& dice, std::size_t mib) {
        Pod pod = node_.add("hostile" + std::to_string(++pods_), dice.chance(30) ? 4 : 0);
        pod.mib = mib;
        const std::string size = std::to_string(mib);
        const std::size_t kind = dice.between(0, 10);
        if (verbose_) std::cout << "  " << pod.name << " kind " << kind << ", " << size << " MiB\n" << std::flush;
        switch (kind) {
            case 0:
                node_.start(pod, {"hold", size});
                break;
            case 1:
                node_.start(pod, {"--deaf", "main_thread", size});
                break;
            case 2:
                pod.grows = true;
                node_.start(pod, {"grow", std::to_string(dice.between(20, 200))});
                break;
            case 3:
                node_.start(pod, {"many", std::to_string(dice.between(2, 100)), size});
                break;
            case 4:
                hop(pod, size);
                break;
            case 5:
                fill(pod, mib, dice.chance(50));
                break;
            case 6:
                node_.start(pod, {"read", node_.big_file()});
                node_.start(pod, {"hold", size});
                break;
            case 7:
                node_.start(pod, {"cgroups", node_.directory(pod, ""), std::to_string(dice.between(10, 200))});
                node_.start(pod, {"hold", size});
                break;
            case 8:
                node_.start(pod, {"hold", size}, ".hidden/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r");
                break;
            case 9:
                node_.start(pod, {"tables", size});
                break;
            default:
                node_.start(pod, {"chains", std::to_string(dice.between(1, 8)), size});
                break;
        }
        return pod;
    }
    void hop(Pod& pod, const std::string& size) {
        node_.start(pod, {"cgroups", node_.directory(pod, ""), "4"});
        Words words{"hop", "2", size};
        for (int number = 0; number < 4; number++) words.push_back(node_.directory(pod, "n" + std::to_string(number)));
        node_.start(pod, words);
    }
    void fill(Pod& pod, std::size_t mib, bool ends) {
        pod.returns = false;
        node_.start(pod, {"fill", node_.volume() + "/" + pod.name, std::to_string(std::min<std::size_t>(mib, 32))});
        if (!ends) node_.start(pod, {"hold", "4"});
        pod.mib = std::min<std::size_t>(mib, 32) + (ends ? 0 : 4);
    }
    // Less than the hostile pods give back: with more, an innocent pod would rightly be next.
    std::size_t missing(Dice& dice, const std::vector<Pod>& hostile) const {
        const std::size_t wanted = dice.between(4, 20);
        std::size_t held = 0;
        for (const auto& pod : hostile) held += pod.returns ? node_.held_mib(pod) : 0;
        return held == 0 ? wanted : std::max<std::size_t>(1, std::min(wanted, held / 2));
    }
    // Memory is short for a second at most, or until enough has come back; the agent may be killed in between.
    void press(Dice& dice, const std::vector<Pod>& hostile, Words& wrong) {
        const std::size_t line = node_.available_mib() + missing(dice, hostile);
        if (!node_.set_threshold(std::min(line, Node::limit_mib - 40)))
            wrong.emplace_back("a new threshold was not taken over");
        if (dice.chance(25)) {
            sleep_ms(static_cast<long>(dice.between(0, 30)));
            node_.kill_agent();
            if (dice.chance(50)) {
                if (!node_.undo()) wrong.emplace_back("undo failed after SIGKILL");
                for (const auto& left : node_.left_behind(false)) wrong.push_back("after undo: " + left);
            }
            if (!node_.start_agent()) wrong.emplace_back("the agent did not start again after SIGKILL");
        }
        for (int waited = 0; waited < 1000 && node_.available_mib() < line; waited += 10) sleep_ms(10);
        sleep_ms(static_cast<long>(dice.between(0, 100)));
    }
    void restart(Words& wrong) {
        if (!node_.stop_agent()) wrong.emplace_back("the agent did not end with 0");
        for (const auto& left : node_.left_behind(true)) wrong.push_back("after an end: " + left);
        if (!node_.start_agent()) wrong.emplace_back("the agent did not start again");
    }

    Node node_;
    Witness witness_;
    std::vector<Pod> innocents_;
    bool verbose_;
    std::size_t pods_ = 0;
};

int report(std::uint64_t seed, const Words& wrong, const Soak& soak) {
    std::cout << "not ok soak: seed " << seed << "\n";
    for (const auto& line : wrong) std::cout << "    " << line << "\n";
    const std::string log = soak.agent_log();
    std::cout << "    agent: " << log.substr(log.size() - std::min<std::size_t>(log.size(), 1500)) << "\n";
    std::cout << "    again: evictd_soak --seed " << seed << " --rounds 1 (keep it in tests/soak/seeds)\n";
    return 1;
}

int play(const Options& options) {
    Soak soak(options);
    if (!soak.made()) {
        std::cout << "skip soak: no cgroup with a memory limit can be made\n";
        return 0;
    }
    std::cout << "# seed " << options.seed << ", " << options.rounds << " rounds\n" << std::flush;
    if (!soak.begin()) return report(options.seed, {"the agent does not start"}, soak);
    for (std::uint64_t seed = options.seed; seed < options.seed + options.rounds && interrupted == 0; seed++) {
        if (options.verbose) std::cout << "round " << seed << "\n" << std::flush;
        const Words wrong = soak.round(seed);
        if (!wrong.empty()) return report(seed, wrong, soak);
    }
    const Words wrong = soak.end();
    if (!wrong.empty()) return report(options.seed, wrong, soak);
    if (interrupted != 0) return 130;
    std::cout << "ok soak: " << options.rounds << " rounds from seed " << options.seed << ", " << soak.evictions()
              << " evictions\n";
    return 0;
}

bool parse(const Words& words, Options& options) {
    for (std::size_t at = 0; at < words.size(); at++) {
        if (words[at] == "--verbose") {
            options.verbose = true;
            continue;
        }
        if (at + 1 == words.size()) return false;
        const std::string& value = words[at + 1];
        if (words[at] == "--evictd")
            options.evictd = value;
        else if (words[at] == "--attacker")
            options.attacker = value;
        else if (words[at] == "--seed")
            options.seed = std::stoull(value);
        else if (words[at] == "--rounds")
            options.rounds = std::stoull(value);
        else
            return false;
        at++;
    }
    return true;
}

void on_interrupt(int /*signal*/) { interrupted = 1; }

}  // namespace
}  // namespace evictd::soak

int main(int argc, char** argv) {
    using namespace evictd::soak;
    Options options;
    options.seed = std::random_device()();
    try {
        if (!parse(Words(argv + 1, argv + argc), options)) throw std::invalid_argument("usage");
        (void)std::signal(SIGINT, on_interrupt);
        (void)std::signal(SIGTERM, on_interrupt);
        return play(options);
    } catch (const std::exception& error) {
        std::cerr << "evictd_soak [--evictd FILE] [--attacker FILE] [--seed N] [--rounds N] [--verbose]: "
                  << error.what() << "\n";
        return 2;
    }
}
