// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A declared tree of cgroups behind the ports: what each uses, whose it is, what was done to it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evictd/port/cgroups.hpp"

namespace evictd::fakes {

class FakePodCgroup final : public port::PodCgroup {
public:
    FakePodCgroup(CgroupId id, std::string path) : id_(id), path_(std::move(path)) {}

    [[nodiscard]] CgroupId id() const override { return id_; }
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] Result<std::vector<pid_t>> processes() const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        ++listings;
        return std::vector<pid_t>{};
    }
    Status each_batch(port::Listing /*listing*/,
                      const std::function<bool(const port::ProcessBatch&)>& visit) const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        ++listings;
        (void)visit({{}, [] { return std::vector<pid_t>{}; }});
        return {};
    }
    [[nodiscard]] Result<bool> holds_us() const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        return ours;
    }
    [[nodiscard]] bool surely_empty() const override { return !is_populated; }
    [[nodiscard]] Result<std::int64_t> tasks() const override {
        auto counted = counted_tasks;
        if (after_tasks) after_tasks();
        return counted;
    }
    [[nodiscard]] Result<bool> populated() const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        return is_populated;
    }
    [[nodiscard]] Result<HeldMemory> held_memory() const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        return held;
    }
    [[nodiscard]] Result<bool> drop_cache() const override {
        ++cache_drops;
        return true;
    }
    [[nodiscard]] bool can_kill() const override { return true; }
    [[nodiscard]] Status kill() const override {
        if (removed) return fail(ErrorKind::vanished, path_, "removed");
        ++kills;
        return {};
    }
    [[nodiscard]] bool can_freeze() const override { return false; }
    [[nodiscard]] Status freeze() const override { return {}; }
    [[nodiscard]] Status thaw() const override { return {}; }

    bool removed = false;
    bool ours = false;
    bool is_populated = true;
    Result<std::int64_t> counted_tasks = 0;
    std::function<void()> after_tasks;
    HeldMemory held;
    mutable int kills = 0;
    mutable int cache_drops = 0;
    mutable int listings = 0;

private:
    CgroupId id_;
    std::string path_;
};

// One line of a declared tree: `FakeCgroup{.id = 3, .level = 2, .usage = 10_MiB, .pod = "uid-a"}`. Parents come first.
struct FakeCgroup {
    std::uint64_t id = 0;
    std::int32_t level = 0;
    Bytes usage;
    std::optional<Bytes> limit;
    Bytes inactive_file;
    Bytes active_file;
    Bytes anon;
    std::int32_t processes = 0;
    std::string pod;                  // the uid, where it is a pod's
    std::optional<bool> populated{};  // none: as `processes` of it and of what is below it say
    bool dying = false;
    bool whole = false;
    std::optional<PodStall> stall{};
};

// The first line is the pods' root.
class FakeCgroupTree final : public port::Cgroups, public port::UsageSource {
public:
    FakeCgroupTree() = default;
    explicit FakeCgroupTree(std::vector<FakeCgroup> lines) { declare(std::move(lines)); }

    void declare(std::vector<FakeCgroup> lines) {
        lines_ = std::move(lines);
        for (const auto& line : lines_) {
            if (!line.pod.empty() && !handles_.contains(line.id)) {
                handles_[line.id] = std::make_shared<FakePodCgroup>(CgroupId{line.id}, path_of(line));
            }
        }
    }
    [[nodiscard]] std::shared_ptr<FakePodCgroup> handle(std::uint64_t id) const { return handles_.at(id); }
    [[nodiscard]] FakeCgroup& line(std::uint64_t id) {
        return *std::find_if(lines_.begin(), lines_.end(), [&](const FakeCgroup& line) { return line.id == id; });
    }
    [[nodiscard]] static std::string path_of(const FakeCgroup& line) { return "/kubepods/pod" + line.pod; }

    Status read(std::vector<port::CgroupUsage>& rows, port::Pass pass) override {
        passes_asked.push_back(pass);
        if (before_read) before_read();
        rows.clear();
        if (!broken.empty()) return fail(ErrorKind::failed, "usage", broken);
        if (lines_.empty()) return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
        for (auto at = lines_.begin(); at != lines_.end(); ++at) {
            const auto& line = *at;
            rows.push_back({.id = {line.id},
                            .level = line.level,
                            .usage = line.usage,
                            .limit = line.limit,
                            .inactive_file = line.inactive_file,
                            .active_file = line.active_file,
                            .anon = line.anon,
                            .processes = line.processes,
                            .stall = line.stall,
                            .populated = line.populated.value_or(has_processes(at)),
                            .dying = line.dying,
                            .whole = line.whole});
        }
        return {};
    }

    [[nodiscard]] std::optional<port::NodeMemoryReading> node_memory() const override { return node; }
    [[nodiscard]] std::optional<port::RootCount> timer_count() const override { return timer; }
    [[nodiscard]] Result<std::optional<port::RootCount>> controller_count() override {
        ++controller_reads;
        if (on_controller_read) on_controller_read();
        return controller;
    }

    [[nodiscard]] Bytes uncounted_cache() override { return uncounted; }

    [[nodiscard]] Result<port::PodsRoot> find_pods_root() override {
        if (!root_unknown.empty()) return fail(ErrorKind::failed, "pods' cgroup", root_unknown);
        if (lines_.empty()) return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
        return port::PodsRoot{"/kubepods", CgroupId{lines_.front().id}, 1};
    }
    Status each_pod(const std::function<void(port::FoundPod)>& visit) const override {
        for (const auto& line : lines_) {
            if (!line.pod.empty() && unlisted.empty()) visit({PodUid{line.pod}, handles_.at(line.id)});
        }
        return unlisted.empty() ? Status{} : fail(ErrorKind::failed, "pods' cgroup", unlisted);
    }
    [[nodiscard]] std::optional<port::FoundPod> pod_at(const std::string& path,
                                                       std::optional<CgroupId> /*id*/) const override {
        for (const auto& line : lines_) {
            if (!line.pod.empty() && path_of(line) == path)
                return port::FoundPod{PodUid{line.pod}, handles_.at(line.id)};
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string trouble() const override { return trouble_text; }

    std::string trouble_text;
    std::string root_unknown;  // why it cannot be said whether there is a pods' root; empty: it can
    std::string unlisted;      // why pods cannot be listed; empty: they can
    std::function<void()> before_read;
    std::vector<port::Pass> passes_asked;         // a pass each
    std::string broken;                           // why no pass can be read; empty: it can
    std::optional<port::NodeMemoryReading> node;  // without its total
    std::optional<port::RootCount> timer;
    Result<std::optional<port::RootCount>> controller = std::optional<port::RootCount>{};
    Bytes uncounted;
    int controller_reads = 0;
    std::function<void()> on_controller_read;  // what the kernel adds up for it

private:
    [[nodiscard]] bool has_processes(std::vector<FakeCgroup>::const_iterator at) const {
        bool any = at->processes > 0;
        for (auto below = at + 1; below != lines_.end() && below->level > at->level; ++below) {
            any = any || below->processes > 0;
        }
        return any;
    }

    std::vector<FakeCgroup> lines_;
    std::map<std::uint64_t, std::shared_ptr<FakePodCgroup>> handles_;
};

}  // namespace evictd::fakes
