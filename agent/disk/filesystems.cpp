// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/filesystems.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "evictd/model/text.hpp"
#include "sys/lane.hpp"
#include "sys/log.hpp"

namespace evictd::disk {
namespace {

// To begin, and to take another pace: each at most once.
constexpr std::size_t longest_queue = 4;

std::string in_seconds(Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

// The kubelet's root is made with its first start.
auto or_root(std::function<Result<FilesystemReading>(const std::string&)> read) {
    return [read = std::move(read)](const std::string& path) {
        auto reading = read(path);
        return reading || reading.error().kind != ErrorKind::vanished ? reading : read("/");
    };
}

}  // namespace

// One path and its thread.
class Filesystems::Asked {
public:
    static Result<AskedPtr> make(const std::string& path, const sys::Clock& clock, const Options& options,
                                 Duration pace);

    [[nodiscard]] const std::string& path() const { return state_->path; }
    [[nodiscard]] FilesystemView newest(MonotonicTime now) const;
    [[nodiscard]] std::optional<FilesystemId> id() const;
    void set_pace(Duration pace);
    void ask_soon();

private:
    // What the thread uses; it keeps it, if it is left behind.
    struct State {
        State(std::string its_path, const sys::Clock& its_clock, Options its_options, Duration its_pace)
            : path(std::move(its_path)), clock(its_clock), options(std::move(its_options)), pace(its_pace) {}
        std::string path;
        const sys::Clock& clock;
        Options options;
        std::atomic<Duration> pace;
        std::atomic<bool> is_posted = false;
        sys::Timer timer;  // the thread's

        mutable sys::PiMutex mutex;
        std::optional<MonotonicTime> asked_at;  // it has not answered yet; these three are under the mutex
        std::optional<FilesystemReading> reading;
        FilesystemView view;  // none and no trouble: not asked yet

        void ask();
    };
    static void ask_and_arm(const std::weak_ptr<State>& weak);

    std::shared_ptr<State> state_;
    std::unique_ptr<sys::Lane> lane_;  // the last member: its thread uses the above
};

Result<Filesystems::AskedPtr> Filesystems::Asked::make(const std::string& path, const sys::Clock& clock,
                                                       const Options& options, Duration pace) {
    auto asked = std::make_shared<Asked>();
    asked->state_ = std::make_shared<State>(path, clock, options, pace);
    auto lane = sys::Lane::make("evictd-statfs", longest_queue, Duration::zero(), sys::Duty::expendable);
    if (!lane) return tl::unexpected(lane.error());
    asked->lane_ = std::move(*lane);
    auto& loop = asked->lane_->loop();
    const std::weak_ptr<State> weak = asked->state_;
    (void)asked->lane_->post([weak, &loop] {
        const auto state = weak.lock();
        if (!state) return;
        // The timer holds no share: it is the state's.
        auto timer = loop.add_timer([weak] { ask_and_arm(weak); });
        if (!timer) return sys::log::error("statfs of " + state->path + ": " + timer.error().text());
        state->timer = std::move(*timer);
        ask_and_arm(weak);
    });
    return asked;
}

void Filesystems::Asked::ask_and_arm(const std::weak_ptr<State>& weak) {
    const auto state = weak.lock();
    if (!state) return;
    state->ask();
    if (state->timer) state->timer.arm_in(state->pace.load());
}

void Filesystems::Asked::State::ask() {
    {
        const std::scoped_lock lock(mutex);
        asked_at = clock.monotonic();
    }
    auto answer = options.read(path);
    {
        const std::scoped_lock lock(mutex);
        asked_at.reset();
        if (answer) reading = *answer;
        view = answer ? FilesystemView{*answer, {}} : FilesystemView{std::nullopt, answer.error().text()};
    }
    if (answer && options.on_reading) options.on_reading(*answer);
}

FilesystemView Filesystems::Asked::newest(MonotonicTime now) const {
    const std::scoped_lock lock(state_->mutex);
    const auto& asked_at = state_->asked_at;
    if (asked_at && now - *asked_at > state_->options.deadline) {
        return {std::nullopt,
                printable(state_->path) + ": statfs does not return since " + in_seconds(now - *asked_at)};
    }
    if (!state_->view.reading && state_->view.trouble.empty())
        return {std::nullopt, printable(state_->path) + ": not asked yet"};
    return state_->view;
}

// Which it is does not change while it hangs.
std::optional<FilesystemId> Filesystems::Asked::id() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->reading ? std::optional(state_->reading->id) : std::nullopt;
}

void Filesystems::Asked::set_pace(Duration pace) {
    if (state_->pace.exchange(pace) > pace) ask_soon();
}

// One that hangs is not asked a second time: what is posted waits, once.
void Filesystems::Asked::ask_soon() {
    if (state_->is_posted.exchange(true)) return;
    const std::weak_ptr<State> weak = state_;
    const bool posted = lane_->post([weak] {
        if (const auto state = weak.lock()) state->is_posted = false;
        ask_and_arm(weak);
    });
    if (!posted) state_->is_posted = false;
}

Filesystems::Filesystems(const port::FilesystemPaths& paths, const sys::Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), pace_(options_.pace) {
    (void)set_paths(paths);  // what failed is in newest()
}

Filesystems::~Filesystems() = default;

Filesystems::Row Filesystems::row_for(const std::string& path, NodeFilesystem which, const Rows& others) const {
    if (path.empty()) return {};
    for (const auto* rows : {&rows_, &others}) {
        for (const auto& row : *rows) {
            if (row.asked && row.asked->path() == path) return row;
        }
    }
    auto options = options_;
    if (which == NodeFilesystem::nodefs) options.read = or_root(options_.read);
    auto made = Asked::make(path, clock_, options, pace_);
    if (made) return {std::move(*made), {}};
    auto text = made.error().text();
    const bool is_said = rows_.at(static_cast<std::size_t>(which)).failed == text;
    if (!is_said) sys::log::error("statfs of " + printable(path) + ": " + text);
    return {nullptr, std::move(text)};
}

bool Filesystems::set_paths(const port::FilesystemPaths& paths) {
    Rows before;  // destroyed after the mutex is free: a thread that hangs is waited for
    const std::scoped_lock lock(mutex_);
    Rows rows;
    std::size_t at = 0;
    for (const auto* path : {&paths.nodefs, &paths.imagefs, &paths.containerfs}) {
        rows.at(at) = row_for(*path, static_cast<NodeFilesystem>(at), rows);
        ++at;
    }
    before = std::exchange(rows_, std::move(rows));
    return std::all_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.failed.empty(); });
}

void Filesystems::set_pace(Duration pace) {
    const std::scoped_lock lock(mutex_);
    pace_ = pace;
    for (const auto& row : rows_) {
        if (row.asked) row.asked->set_pace(pace);
    }
}

void Filesystems::ask() {
    const std::scoped_lock lock(mutex_);
    for (const auto& row : rows_) {
        if (row.asked) row.asked->ask_soon();
    }
}

FilesystemsView Filesystems::newest() const {
    FilesystemsView view;
    std::array<std::optional<FilesystemId>, node_filesystem_count> ids;
    const auto now = clock_.monotonic();
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto& [asked, failed] = rows_.at(i);
        view.of.at(i) = asked ? asked->newest(now) : FilesystemView{std::nullopt, failed};
        if (asked) ids.at(i) = asked->id();
    }
    const auto& containers = rows_.at(static_cast<std::size_t>(NodeFilesystem::containerfs));
    auto layout = layout_of(ids, containers.asked || !containers.failed.empty());
    view.layout = layout.layout;
    view.layout_trouble = std::move(layout.trouble);
    return view;
}

}  // namespace evictd::disk
