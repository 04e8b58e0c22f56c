// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which images go, and why the others stay. An image is used by what the runtime says uses it and by each container
// that names it, whatever the other of both says; only with the last of these containers it becomes unused.
#include <algorithm>
#include <utility>

#include "age.hpp"
#include "evictd/model/image_names.hpp"
#include "evictd/model/image_uses.hpp"
#include "evictd/model/quantity.hpp"
#include "garbage_parts.hpp"
#include "glob.hpp"
#include "image_gc.hpp"
#include "needed_images.hpp"

namespace evictd::policy {

namespace {

class ImagePart {
public:
    ImagePart(const GarbageLook& look, const std::unordered_set<std::string_view>& gone)
        : look_(look),
          names_(look.runtime),
          users_(find_image_users(look.runtime, gone)),
          needed_(needed_images(look)) {}

    void plan(GarbagePlan& plan) {
        const Runtime& runtime = look_.runtime;
        why_unknown_ = why_list_unknown(look_, runtime.whole.images, "images");
        if (why_unknown_.empty()) why_unknown_ = why_list_unknown(look_, runtime.whole.containers, "containers");
        why_.resize(runtime.images.size());
        for (std::size_t i = 0; i < runtime.images.size(); ++i) why_[i] = why_it_stays(i);
        choose(plan);
        std::vector<bool> goes(runtime.images.size());
        for (const std::size_t i : chosen_) {
            goes[i] = true;
            plan.removals.push_back(garbage(i, why_it_goes(runtime.images[i])));
        }
        for (std::size_t i = 0; i < runtime.images.size(); ++i) {
            if (!goes[i]) plan.kept.push_back(garbage(i, why_[i].empty() ? why_not_needed(i) : why_[i]));
        }
    }

private:
    // DeleteUnusedImages asks no pod: with "unused" what the kubelet would remove is removed.
    [[nodiscard]] static NeededImages needed_images(const GarbageLook& look) {
        const bool all = look.request.forced && look.config.images == ReclaimedImages::unused;
        return {all ? std::vector<PodPtr>{} : look.request.pods, look.runtime};
    }

    [[nodiscard]] std::string why_it_stays(std::size_t i) {
        const RuntimeImage& image = look_.runtime.images[i];
        const ImageUsers::Of& users = users_.of[i];
        if (doubtful_.contains(image.id)) return "the runtime lists its id more than once, or lists none";
        if (users.staying != nullptr) return "in use by container " + names_.of(*users.staying);
        if (may_be_named(image, look_.runtime.sandbox_image)) return "the image of sandboxes";
        const bool only_leaving = users.leaving && !users_.some_untold;
        if (image.in_use && !only_leaving) return "in use, as the runtime says";
        if (!why_unknown_.empty()) return why_unknown_;
        if (users_.unresolved != nullptr) {
            return "container " + names_.of(*users_.unresolved) + " uses an image that is not listed under its name";
        }
        if (image.pinned) return "pinned in the runtime";
        if (const auto user = needed_.user_of(image); !user.empty()) {
            return "needed by container " + user + ", which is not created yet";
        }
        for (const std::string& pattern : look_.config.keep_images) {
            const auto fits = [&](const std::string& name) { return matches(pattern, name); };
            if (fits(image.id) || std::any_of(image.tags.begin(), image.tags.end(), fits) ||
                std::any_of(image.digests.begin(), image.digests.end(), fits)) {
                return "matches keepImages \"" + pattern + "\"";
            }
        }
        return {};
    }

    // What may go, as the rules of the image GC see it. What was used until now by a container that goes is the last in
    // their order.
    [[nodiscard]] Runtime judged() const {
        Runtime runtime;
        for (std::size_t i = 0; i < why_.size(); ++i) {
            if (!why_[i].empty()) continue;
            const RuntimeImage& image = look_.runtime.images[i];
            RuntimeImage& one = runtime.images.emplace_back();
            one.id = image.id;
            one.size = std::max(image.size, Bytes{0});
            one.first_detected = image.first_detected;
            one.last_used = image.last_used;
            const WallTime just_now = look_.request.wall - Duration(1);
            if (users_.of[i].leaving) one.last_used = std::min(one.last_used.value_or(just_now), just_now);
        }
        return runtime;
    }

    void choose(GarbagePlan& plan) {
        const Runtime runtime = judged();
        if (runtime.images.empty()) return;
        const GarbageRequest& request = look_.request;
        const ImageGcPolicy& policy = look_.config.image_gc;
        ImageGcResult result = request.forced ? delete_unused_images(policy, runtime, request.wall)
                                              : collect_images(policy, runtime, request.capacity, request.available,
                                                               request.wall, request.now - look_.runtime.since);
        if (request.forced || request.capacity.value > 0) plan.error = std::move(result.error);
        std::unordered_map<std::string_view, std::size_t> position;
        for (std::size_t i = 0; i < look_.runtime.images.size(); ++i) position.emplace(look_.runtime.images[i].id, i);
        for (const std::string& id : result.removed) chosen_.push_back(position.at(id));
        if (request.forced && look_.config.images == ReclaimedImages::enough) take_enough(plan);
    }

    // Those unused for the longest time, until their sizes make up for what is missing.
    void take_enough(GarbagePlan& plan) {
        const auto missing = look_.request.missing;
        if (!missing) return;
        std::size_t taken = 0;
        Bytes freed = bytes_of(plan.removals);
        for (; taken < chosen_.size() && freed < *missing; ++taken) {
            const Bytes size = std::max(look_.runtime.images[chosen_[taken]].size, Bytes{0});
            if (__builtin_add_overflow(freed.value, size.value, &freed.value)) freed = *missing;
        }
        for (std::size_t i = taken; i < chosen_.size(); ++i) {
            why_[chosen_[i]] = "not needed: the sizes of what goes are enough for the thresholds";
        }
        plan.more = plan.more || taken < chosen_.size();
        chosen_.resize(taken);
    }

    [[nodiscard]] std::string why_it_goes(const RuntimeImage& image) const {
        if (!image.last_used) return "never used";
        const Duration unused = age(look_.request.wall, *image.last_used);
        if (unused < std::chrono::seconds(1)) return "not used any more";
        return "unused for " + to_string(std::chrono::floor<std::chrono::seconds>(unused));
    }

    [[nodiscard]] std::string why_not_needed(std::size_t i) const {
        const RuntimeImage& image = look_.runtime.images[i];
        const ImageGcPolicy& policy = look_.config.image_gc;
        if (age(look_.request.wall, image.first_detected) < policy.min_age) {
            return "younger than " + to_string(policy.min_age);
        }
        if (image.last_used && *image.last_used >= look_.request.wall) return "used right now";
        return "the images' filesystem is below its high water mark, or enough goes already";
    }

    [[nodiscard]] Garbage garbage(std::size_t i, std::string why) const {
        const RuntimeImage& image = look_.runtime.images[i];
        return {GarbageKind::image, image.id, name_for_people(image), {}, image.size, std::move(why)};
    }

    const GarbageLook& look_;
    PodNames names_;
    std::unordered_set<std::string_view> doubtful_ = ambiguous_ids(look_.runtime.images);
    std::string why_unknown_;
    ImageUsers users_;
    NeededImages needed_;
    std::vector<std::string> why_;  // it stays, by image; empty: it may go
    std::vector<std::size_t> chosen_;
};

}  // namespace

void plan_images(const GarbageLook& look, const std::unordered_set<std::string_view>& gone, GarbagePlan& plan) {
    ImagePart(look, gone).plan(plan);
}

}  // namespace evictd::policy
