// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/disks.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/layer_reader.hpp"
#include "app/removal_log.hpp"
#include "cri/endpoint.hpp"
#include "cri/runtime.hpp"
#include "disk/filesystems.hpp"
#include "disk/pod_logs.hpp"
#include "disk/pod_remains.hpp"
#include "disk/runtime_paths.hpp"
#include "disk/surveyor.hpp"
#include "evictd/model/text.hpp"
#include "observe/runtime_inventory.hpp"
#include "reconcile/control_loop.hpp"
#include "reconcile/garbage_keeper.hpp"
#include "reconcile/pod_absence.hpp"
#include "sys/log.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::app {
namespace {

using Keeper = reconcile::ControlLoop<reconcile::GarbageKeeper>;

// containerd frees what a removed image held within a second or two; images share layers, and are smaller than it says.
constexpr Duration reclaim_patience = std::chrono::seconds(5);

// How often an answer is looked for that takes microseconds.
constexpr Duration answer_period = std::chrono::milliseconds(1);

// What nodefs, imagefs and containerfs have available together, each filesystem once. It waits for them.
std::optional<Bytes> available_on(const port::FilesystemPaths& paths) {
    Bytes available;
    std::vector<FilesystemId> counted;
    for (const auto& path : {paths.nodefs, paths.imagefs, paths.containerfs}) {
        if (path.empty()) continue;
        const auto reading = disk::read_filesystem(path);
        if (!reading) return std::nullopt;
        if (std::find(counted.begin(), counted.end(), reading->id) != counted.end()) continue;
        counted.push_back(reading->id);
        available += reading->available;
    }
    return counted.empty() ? std::nullopt : std::optional(available);
}

void log_removal(RemovalLog& log, const Garbage& one, const GarbageOutcome& outcome) {
    const auto line = log.line(one, outcome);
    if (!line) return;
    const bool is_error = outcome.status == GarbageStatus::failed || outcome.status == GarbageStatus::refused;
    is_error ? sys::log::warn(*line) : sys::log::info(*line);
}

}  // namespace

// A thread that hangs in statfs is not joined: it may call back after Disks is destroyed.
class Listener {
public:
    explicit Listener(std::function<void()> told) : told_(std::move(told)) {}
    void tell() {
        const std::scoped_lock lock(mutex_);
        if (told_) told_();
    }
    void leave() {
        const std::scoped_lock lock(mutex_);
        told_ = nullptr;
    }

private:
    sys::PiMutex mutex_;
    std::function<void()> told_;
};

// Members in the order of making. ~Disks ends the threads that use others first.
struct Disks::Parts {
    Parts(Config of, const sys::Clock& time, DiskNews told, std::shared_ptr<port::ApiServer> api,
          std::unique_ptr<port::CgroupRemains> left_cgroups)
        : config(std::move(of)),
          clock(time),
          news(std::move(told)),
          absence(std::move(api)),
          cgroups(std::move(left_cgroups)) {}

    const Config config;
    const sys::Clock& clock;
    DiskNews news;
    reconcile::PodAbsence absence;
    std::unique_ptr<port::CgroupRemains> cgroups;
    RemovalLog removal_log;  // of the keeper's thread
    std::shared_ptr<Listener> listener = std::make_shared<Listener>(news.changed);
    std::shared_ptr<cri::Endpoint> endpoint = std::make_shared<cri::Endpoint>(config.container_runtime_endpoint);
    std::optional<disk::Filesystems> filesystems;
    std::unique_ptr<disk::Surveyor> surveyor;
    mutable sys::PiMutex mutex{};
    port::FilesystemPaths paths{};  // under the mutex
    std::unique_ptr<cri::Runtime> runtime;
    std::optional<disk::PodLogs> logs;
    disk::PodRemains remains{{.pods = config.agent.cluster.pods_directory()}};
    std::optional<observe::RuntimeInventory> inventory;
    std::unique_ptr<Keeper> keeper;
    std::unique_ptr<LayerReader> layers;

    [[nodiscard]] port::FilesystemPaths known_paths() const {
        const std::scoped_lock lock(mutex);
        return paths;
    }
    [[nodiscard]] bool note_runtime_filesystems(const RuntimeFilesystems& found) {
        const auto known = disk::with_runtime(known_paths(), found);
        {
            const std::scoped_lock lock(mutex);
            paths = known;
        }
        return filesystems->set_paths(known);
    }
    [[nodiscard]] bool note_missing(const std::string& trouble) const;
    void refresh_filesystems();
    Status start_survey();
    Status start_keeper();
    Status start_layers();
    [[nodiscard]] RuntimePtr look();
    [[nodiscard]] std::vector<std::string> troubles() const;
};

Status Disks::Parts::start_survey() {
    paths.nodefs = config.agent.cluster.kubelet_root;
    filesystems.emplace(paths, clock,
                        disk::Filesystems::Options{.on_reading = [to = listener](const auto&) { to->tell(); }});
    auto made = disk::Surveyor::make(
        clock, {.directories = {.pods = config.agent.cluster.pods_directory(), .logs = config.pod_logs_dir},
                .on_survey = [changed = news.changed](const SurveyPtr&) { changed(); }});
    if (!made) return tl::unexpected(made.error());
    surveyor = std::move(*made);
    return {};
}

// The thread that looks for the runtime, too, each time that it asks for layers. What is unused is only known from when
// images were listed, so that they are as soon as the runtime is heard.
Status Disks::Parts::start_layers() {
    (void)endpoint->find();  // one that is there is known to the first look
    auto asked = cri::Runtime::make(endpoint);
    if (!asked) return tl::unexpected(asked.error());
    const auto heard = [this](const RuntimeFilesystems& found) {
        const bool taken = note_runtime_filesystems(found);
        keeper->tell([](reconcile::GarbageKeeper& its) { its.list_what_lacks(); });
        return taken;
    };
    auto made = LayerReader::make(std::move(*asked), clock,
                                  {.changed = news.changed, .filesystems = heard, .missing = [this](const auto& why) {
                                       return note_missing(why);
                                   }});
    if (!made) return tl::unexpected(made.error());
    layers = std::move(*made);
    return {};
}

bool Disks::Parts::note_missing(const std::string& trouble) const {
    if (trouble.empty()) return news.runtime("The container runtime answers again at " + endpoint->found(), {});
    return news.runtime("The container runtime does not answer: garbage and layers of containers are not known",
                        trouble);
}

// As the kubelet takes a new summary after a reclaim: what was read before it must not cost a pod its life. Waits for
// the answers, and for no longer than after which a filesystem is unknown.
void Disks::Parts::refresh_filesystems() {
    const auto begin = clock.monotonic();
    filesystems->ask();
    const auto is_older = [&](const FilesystemView& one) { return one.reading && one.reading->at < begin; };
    while (clock.monotonic() - begin <= disk::Filesystems::default_deadline) {
        const auto view = filesystems->newest();
        if (std::none_of(view.of.begin(), view.of.end(), is_older)) return;
        std::this_thread::sleep_for(answer_period);
    }
}

RuntimePtr Disks::Parts::look() {
    auto look = inventory->look();
    for (const auto& trouble : look.troubles) sys::log::warn("inventory of the container runtime: " + trouble);
    return std::move(look.runtime);
}

Status Disks::Parts::start_keeper() {
    auto asked = cri::Runtime::make(endpoint);
    if (!asked) return tl::unexpected(asked.error());
    runtime = std::move(*asked);
    logs.emplace(disk::LogDirectories{.pods = config.pod_logs_dir});
    inventory.emplace(*runtime, *logs, clock);
    auto made = Keeper::make(
        {.name = "evictd-garbage", .duty = sys::Duty::may_block}, *runtime, *logs, clock,
        reconcile::GarbageParts{
            .look = [this] { return look(); },
            .available = [this] { return available_on(known_paths()); },
            .tell_inventory = news.inventory,
            .tell =
                [this](const ReclaimOutcome& outcome) {
                    refresh_filesystems();
                    return news.reclaimed(outcome);
                },
            .on_removal = [this](const auto& one, const auto& outcome) { log_removal(removal_log, one, outcome); },
            .is_gone = [this](const PodUid& pod, const std::string& name) { return absence.is_gone(pod, name); },
            .remains = &remains,
            .cgroups = cgroups.get(),
            .dry_run = config.agent.dry_run,
            .patience = reclaim_patience});
    if (!made) return tl::unexpected(made.error());
    keeper = std::move(*made);
    return {};
}

Disks::Disks(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Disks>> Disks::make(const Config& config, const sys::Clock& clock, DiskNews news,
                                           std::shared_ptr<port::ApiServer> api,
                                           std::unique_ptr<port::CgroupRemains> cgroups) {
    std::unique_ptr<Disks> made(
        new Disks(std::make_unique<Parts>(config, clock, std::move(news), std::move(api), std::move(cgroups))));
    if (auto started = made->parts_->start_survey(); !started) return tl::unexpected(started.error());
    if (auto started = made->parts_->start_keeper(); !started) return tl::unexpected(started.error());
    if (auto started = made->parts_->start_layers(); !started) return tl::unexpected(started.error());
    return made;
}

Disks::~Disks() {
    parts_->absence.cancel();
    if (parts_->runtime) parts_->runtime->cancel();
    parts_->layers.reset();  // its thread uses the keeper and the filesystems
    parts_->keeper.reset();
    parts_->listener->leave();
}

FilesystemsView Disks::filesystems() const { return parts_->filesystems->newest(); }

observe::DiskFigures Disks::figures() const {
    return {.survey = parts_->surveyor->newest(), .layers = parts_->layers->newest()};
}

void Disks::set_filesystem_pace(Duration pace) { parts_->filesystems->set_pace(pace); }

bool Disks::set_layers_pace(Duration pace) { return parts_->layers->set_pace(pace); }

void Disks::refresh(const std::vector<PodUid>& pods) {
    for (const auto& pod : pods) parts_->surveyor->refresh(pod);
    parts_->layers->ask();
}

void Disks::want_garbage(const DesiredGarbage& desired) { parts_->keeper->want(desired); }

bool Disks::has_runtime() const { return !parts_->endpoint->found().empty(); }

RuntimeNamesPtr Disks::names() const { return parts_->layers->names(); }

void Disks::want_names() { parts_->layers->ask_names(); }

std::vector<std::string> Disks::Parts::troubles() const {
    std::vector<std::string> found;
    const auto add = [&](const std::string& trouble) {
        const bool is_said = std::find(found.begin(), found.end(), trouble) != found.end();
        if (!trouble.empty() && !is_said) found.push_back(trouble);
    };
    add(layers->trouble() + (endpoint->found().empty() ? "; no garbage is removed" : ""));
    const auto view = filesystems->newest();
    for (const auto& one : view.of) add(one.trouble);
    add(view.layout_trouble);
    const auto survey = surveyor->newest();
    if (!survey->trouble.empty()) add("disk usage: " + survey->trouble);
    if (survey->trouble.empty() && survey->hanging > 0) {
        add(fmt::format("disk usage: {} threads are blocked on a disk", survey->hanging));
    }
    return found;
}

SourceRow Disks::row() const {
    const auto troubles = parts_->troubles();
    const auto socket = parts_->endpoint->found();
    return {.hook = "disks",
            .chosen = "filesystems, survey" + (socket.empty() ? socket : ", " + socket),
            .fallback = !troubles.empty(),
            .detail = fmt::format("{}", fmt::join(troubles, "; "))};
}

}  // namespace evictd::app
