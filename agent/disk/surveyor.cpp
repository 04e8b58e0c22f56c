// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/surveyor.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "disk/survey_rows.hpp"
#include "disk/walk.hpp"
#include "sys/lane.hpp"
#include "sys/log.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

// A survey is made at most that often while trees are walked: it has all pods, and each walk changes one tree.
constexpr Duration publish_period = 200ms;
// How often a survey says for how long a thread hangs.
constexpr Duration tell_period = 10s;
// For all walks together, however many threads there are. With a cold cache they wait for the disk and use less; twice
// as much would be taken from pods by walks of what is cached.
constexpr double most_cpus = 2;
// How often threads that hang are looked for.
constexpr Duration check_period = 1s;

struct FinishedWalk {
    TreeKey key;
    Result<TreeUsage> usage;
    Duration cpu;
    bool cut_off = false;
};
struct FinishedListing {
    TreeListing listing;
    MonotonicTime began;
};

// Between the workers' threads and the surveyor's. Shared: one that was left behind may deliver late.
class Inbox {
public:
    explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}
    template <class Finished>
    void put(std::vector<Finished> Inbox::*box, const Finished& finished) {
        const std::scoped_lock lock(mutex_);
        (this->*box).push_back(finished);
        if (wake_) wake_();
    }
    template <class Finished>
    [[nodiscard]] std::vector<Finished> take(std::vector<Finished> Inbox::*box) {
        const std::scoped_lock lock(mutex_);
        return std::exchange(this->*box, {});
    }
    // No more calls of `wake`.
    void close() {
        const std::scoped_lock lock(mutex_);
        wake_ = nullptr;
    }

    std::vector<FinishedWalk> walks;  // by put() and take()
    std::vector<FinishedListing> listings;

private:
    std::mutex mutex_;
    std::function<void()> wake_;
};

// Lets a walk have its share of a CPU, and no more time than `longest`.
class Pace {
public:
    Pace(Pulse& pulse, const sys::Clock& clock, double share, Duration longest)
        : pulse_(pulse),
          clock_(clock),
          share_(share),
          longest_(longest),
          cpu_(clock.thread_cpu()),
          began_(clock.monotonic()) {}

    [[nodiscard]] bool go_on() {
        pulse_.beat();
        const auto took = clock_.monotonic() - began_;
        is_over_ = took > longest_;
        if (is_over_) return false;
        const auto used = std::chrono::duration<double>(clock_.thread_cpu() - cpu_) / share_;
        const auto ahead = std::chrono::duration_cast<Duration>(used) - took;
        if (share_ < 1 && ahead > shortest_sleep) std::this_thread::sleep_for(std::min<Duration>(ahead, longest_sleep));
        return !pulse_.is_cancelled();
    }
    [[nodiscard]] bool is_over() const { return is_over_; }

private:
    static constexpr Duration shortest_sleep = 5ms;
    static constexpr Duration longest_sleep = 100ms;  // it may be cancelled meanwhile
    Pulse& pulse_;
    const sys::Clock& clock_;
    double share_;
    Duration longest_;
    bool is_over_ = false;
    Duration cpu_;
    MonotonicTime began_;
};

Result<TreeUsage> walk_tree(const PodDirectories& directories, const TreePlace& place, const sys::Clock& clock,
                            Pace& pace) {
    const auto began = clock.monotonic();
    auto root = open_tree(directories, place);
    if (!root) return tl::unexpected(root.error());
    WalkOptions options;
    if (place.kind == TreeKind::pod_logs) options.depth = Depth::one_directory;
    auto usage = walk(std::move(*root), options, [&](std::uint64_t /*entries*/) { return pace.go_on(); });
    usage.began = began;
    usage.ended = clock.monotonic();
    if (pace.is_over()) usage.trouble = "it was not walked to its end in the time that a walk may take";
    return usage;
}

}  // namespace

// All in the surveyor's thread, but for what is said to be thread-safe.
class Surveyor::Core {
public:
    Core(const sys::Clock& clock, Options options)
        : clock_(clock), options_(std::move(options)), workers_(clock, options_.workers) {}

    void begin(sys::Lane& lane);
    void end() { inbox_->close(); }  // thread-safe
    void turn();
    void refresh(const PodUid& pod);
    [[nodiscard]] SurveyPtr newest() const;  // thread-safe

private:
    void take_results(MonotonicTime now);
    void start_listing(MonotonicTime now);
    void start_walks(MonotonicTime now);
    [[nodiscard]] bool start_walk(const TreeKey& key, MonotonicTime now);
    void publish(MonotonicTime now);
    void arm(MonotonicTime now);

    const sys::Clock& clock_;
    const Options options_;
    Workers workers_;
    std::shared_ptr<Inbox> inbox_;
    sys::Lane* lane_ = nullptr;
    sys::Timer timer_;
    SurveyRows rows_;
    PulsePtr listing_;  // null: none runs
    MonotonicTime list_at_;
    std::size_t walking_ = 0;
    bool changed_ = false;
    MonotonicTime published_;
    std::size_t hanging_ = 0;
    bool was_refused_ = false;  // a thread was free and could not be had: it is tried again later
    mutable sys::PiMutex mutex_;
    SurveyPtr newest_ = std::make_shared<Survey>(Survey{{}, {}, "not listed yet"});  // under it
};

void Surveyor::Core::begin(sys::Lane& lane) {
    lane_ = &lane;
    inbox_ = std::make_shared<Inbox>([this, &lane] { (void)lane.post([this] { turn(); }); });
    list_at_ = clock_.monotonic();
}

SurveyPtr Surveyor::Core::newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
}

void Surveyor::Core::refresh(const PodUid& pod) {
    rows_.want(pod);
    turn();
}

void Surveyor::Core::take_results(MonotonicTime now) {
    for (auto& finished : inbox_->take(&Inbox::listings)) {
        listing_ = nullptr;
        rows_.take_listing(std::move(finished.listing), finished.began);
        changed_ = true;
    }
    for (const auto& finished : inbox_->take(&Inbox::walks)) {
        --walking_;
        rows_.take_result(finished.key, finished.usage, finished.cpu, now, finished.cut_off);
        changed_ = true;
    }
}

void Surveyor::Core::start_listing(MonotonicTime now) {
    if (listing_ || now < list_at_ || !workers_.has_free()) return;
    listing_ = workers_.start([inbox = inbox_, directories = options_.directories, &clock = clock_](Pulse& pulse) {
        const auto began = clock.monotonic();
        FinishedListing finished{list_trees(directories, [&pulse] { pulse.beat(); }), began};
        return [inbox, finished = std::move(finished)] { inbox->put(&Inbox::listings, finished); };
    });
    if (listing_) {
        list_at_ = now + options_.list_period;
    } else {
        was_refused_ = true;
    }
}

bool Surveyor::Core::start_walk(const TreeKey& key, MonotonicTime now) {
    const auto& row = rows_.at(key);
    const double most = std::min(1.0, most_cpus / static_cast<double>(options_.workers.threads));
    const double share = row.is_wanted ? most : std::min(most, options_.walk_share);
    const auto longest = longest_walk_of(row, options_.longest_walk);
    auto pulse = workers_.start([inbox = inbox_, directories = options_.directories, &clock = clock_, key,
                                 place = row.place, share, longest](Pulse& its_pulse) {
        const auto cpu = clock.thread_cpu();
        Pace pace(its_pulse, clock, share, longest);
        FinishedWalk finished{key, walk_tree(directories, place, clock, pace), clock.thread_cpu() - cpu};
        finished.cut_off = pace.is_over();
        return [inbox, finished = std::move(finished)] { inbox->put(&Inbox::walks, finished); };
    });
    if (!pulse) return false;
    rows_.start(key, std::move(pulse), now);
    ++walking_;
    return true;
}

void Surveyor::Core::start_walks(MonotonicTime now) {
    while (workers_.has_free()) {
        const auto next = rows_.next(options_.budget);
        if (!next || next->due > now) return;
        if (!start_walk(*next->key, now)) {
            was_refused_ = true;
            return;
        }
    }
}

void Surveyor::Core::publish(MonotonicTime now) {
    if (!changed_ || (walking_ > 0 && now - published_ < publish_period)) return;
    changed_ = false;
    published_ = now;
    auto survey = rows_.survey(now, listing_ && listing_->hangs(), {workers_.hanging(), workers_.is_stuck()});
    {
        const std::scoped_lock lock(mutex_);
        newest_ = survey;
    }
    if (options_.on_survey) options_.on_survey(survey);
}

void Surveyor::Core::arm(MonotonicTime now) {
    auto due = listing_ ? now + check_period : list_at_;
    if (walking_ > 0) due = std::min(due, now + (changed_ ? publish_period : check_period));
    if (const auto next = rows_.next(options_.budget); next && workers_.has_free()) due = std::min(due, next->due);
    (void)lane_->arm(timer_, std::max(due, now + (was_refused_ ? check_period : Duration(1ms))), [this] { turn(); });
}

void Surveyor::Core::turn() {
    const auto now = clock_.monotonic();
    take_results(now);
    workers_.check();
    const auto hanging = workers_.hanging();
    // Also while it lasts: for how long is part of it.
    if (std::exchange(hanging_, hanging) != hanging || (hanging > 0 && now - published_ > tell_period)) changed_ = true;
    was_refused_ = false;
    start_listing(now);
    start_walks(now);
    publish(now);
    arm(now);
}

Surveyor::Surveyor(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<Surveyor>> Surveyor::make(const sys::Clock& clock, Options options) {
    std::unique_ptr<Surveyor> made(new Surveyor(std::make_unique<Core>(clock, std::move(options))));
    auto lane = sys::Lane::make("evictd-survey", sys::Loop::default_queue, Duration::zero());
    if (!lane) return tl::unexpected(lane.error());
    made->core_->begin(**lane);
    made->lane_ = std::move(*lane);
    (void)made->lane_->post([core = made->core_.get()] { core->turn(); });
    return made;
}

Surveyor::~Surveyor() {
    if (lane_) core_->end();
}

SurveyPtr Surveyor::newest() const { return core_->newest(); }

void Surveyor::refresh(const PodUid& pod) {
    (void)lane_->post([core = core_.get(), pod] { core->refresh(pod); });
}

}  // namespace evictd::disk
