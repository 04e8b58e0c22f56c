// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/gc_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::config {

namespace {

using namespace std::chrono_literals;

constexpr std::array<std::pair<std::string_view, ReclaimedImages>, 2> reclaimed_images_words{
    {{"unused", ReclaimedImages::unused}, {"enough", ReclaimedImages::enough}}};
constexpr std::array<std::pair<std::string_view, ReclaimedLogs>, 2> reclaimed_logs_words{
    {{"off", ReclaimedLogs::off}, {"truncateRotated", ReclaimedLogs::truncate_rotated}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> routine_words{{{"off", false}, {"on", true}}};

constexpr std::array<std::pair<std::string_view, Orphans>, 3> orphans_words{
    {{"off", Orphans::off}, {"report", Orphans::report}, {"remove", Orphans::remove}}};

template <class Words, class Value>
std::string word_for(const Words& words, Value wanted) {
    for (const auto& [word, meaning] : words) {
        if (meaning == wanted) return std::string(word);
    }
    return {};
}

// A reference has at most 255 bytes for its name, 128 for its tag, or 71 for its digest. Each image is held against
// each pattern, so there must be an end to both.
constexpr std::size_t longest_pattern = 512;
constexpr std::size_t most_patterns = 256;

// A name is REGISTRY/PATH:TAG or REGISTRY/PATH@DIGEST, where a colon in REGISTRY is that of a port; an ID
// sha256:DIGITS, or its digits alone (CRI-O).
bool may_match_a_name(std::string_view pattern) {
    if (pattern.find('*') != std::string_view::npos) return true;
    constexpr auto nowhere = std::string_view::npos;
    const bool is_id = pattern.starts_with("sha256:") || (pattern.size() == 64 && pattern.find('/') == nowhere);
    if (is_id || pattern.find('?') != nowhere) return true;
    const auto slash = pattern.rfind('/');
    return slash != nowhere && pattern.find(':', slash) != nowhere;
}

}  // namespace

void read_gc_images(const Value& setting, Config& config) {
    auto& images = config.eviction.garbage.images;
    images = setting.one_of(reclaimed_images_words).value_or(images);
}

std::string show_gc_images(const Config& config) {
    return word_for(reclaimed_images_words, config.eviction.garbage.images);
}

// A pattern that is no name of an image would keep nothing, which is found out when the image is gone.
void read_gc_keep_images(const Value& setting, Config& config) {
    std::vector<std::string> patterns;
    for (const Value& element : setting.elements()) {
        const auto pattern = element.scalar();
        if (!pattern) continue;
        const bool plain = std::all_of(pattern->begin(), pattern->end(), [](char c) { return c > ' ' && c < 0x7f; });
        if (pattern->empty() || pattern->size() > longest_pattern || !plain) {
            element.refuse(in_quotes(*pattern) + " is no pattern for names of images",
                           "such as registry.example/base/*, of 1 to 512 printable characters");
        }
        patterns.push_back(*pattern);
    }
    if (patterns.size() > most_patterns) setting.refuse("more than 256 patterns", "* matches any characters");
    config.eviction.garbage.keep_images = std::move(patterns);
}

std::vector<std::string> keep_images_warnings(const Value& setting) {
    std::vector<std::string> warnings;
    for (const Value& element : setting.is_list() ? setting.elements() : std::vector<Value>{}) {
        const auto pattern = element.is_map() || element.is_list() ? std::nullopt : element.scalar();
        if (!pattern || may_match_a_name(*pattern)) continue;
        warnings.push_back(element
                               .remark(in_quotes(*pattern) + " is not the full name of an image, and may keep nothing",
                                       "such as docker.io/library/nginx:1.27, or with * for what is unknown")
                               .text());
    }
    return warnings;
}

std::string show_gc_keep_images(const Config& config) {
    std::string said;
    for (const std::string& pattern : config.eviction.garbage.keep_images) said += (said.empty() ? "" : ", ") + pattern;
    return excerpt(said);
}

void read_gc_logs(const Value& setting, Config& config) {
    auto& logs = config.eviction.garbage.logs;
    logs = setting.one_of(reclaimed_logs_words).value_or(logs);
}

std::string show_gc_logs(const Config& config) { return word_for(reclaimed_logs_words, config.eviction.garbage.logs); }

void read_gc_routine(const Value& setting, Config& config) {
    auto& routine = config.eviction.garbage.routine;
    routine = setting.one_of(routine_words).value_or(routine);
}

std::string show_gc_routine(const Config& config) { return word_for(routine_words, config.eviction.garbage.routine); }

void read_gc_orphans(const Value& setting, Config& config) {
    auto& orphans = config.eviction.garbage.orphans;
    orphans = setting.one_of(orphans_words).value_or(orphans);
}

std::string show_gc_orphans(const Config& config) { return word_for(orphans_words, config.eviction.garbage.orphans); }

// Shorter, the kubelet may still be at it: a pod that was deleted by force leaves the API server at once.
void read_gc_orphan_quarantine(const Value& setting, Config& config) {
    const auto quarantine = setting.duration();
    if (!quarantine) return;
    if (*quarantine < 1min || *quarantine > 24h) setting.refuse("out of range: " + to_string(*quarantine), "1m to 24h");
    config.eviction.garbage.orphan_quarantine = *quarantine;
}

std::string show_gc_orphan_quarantine(const Config& config) {
    return to_string(config.eviction.garbage.orphan_quarantine);
}

// Shorter, no runtime has listed what it holds; longer, the disk is full before a pod is evicted.
void read_gc_deadline(const Value& setting, Config& config) {
    const auto deadline = setting.duration();
    if (!deadline) return;
    if (*deadline < 1s || *deadline > 10min) setting.refuse("out of range: " + to_string(*deadline), "1s to 10m");
    config.eviction.garbage.deadline = *deadline;
}

std::string show_gc_deadline(const Config& config) { return to_string(config.eviction.garbage.deadline); }

}  // namespace evictd::config
