// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What holds for a garbage plan whatever the runtime lists: seeds make random inventories, with ids that occur twice,
// states that are not known, and containers that name no image, or one that is not there.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "inventory.hpp"

namespace evictd::policy::testing {
namespace {

class RandomInventory {
public:
    explicit RandomInventory(unsigned seed) : random_(seed) {
        const unsigned pods = 1 + pick(5);
        for (unsigned i = 0; i < pods; ++i) node.fates[pod(i)] = static_cast<PodFate>(pick(3));
        for (unsigned n = pick(8); n > 0; --n) add_sandbox(pods);
        for (unsigned n = pick(12); n > 0; --n) add_container(pods);
        for (unsigned n = pick(8); n > 0; --n) add_image();
        for (unsigned n = pick(4); n > 0; --n)
            node.runtime.log_directories.push_back({"ns_name_" + pod(pick(pods + 1))});
        node.request.forced = pick(4) != 0;
        node.request.rotated_logs = pick(2) == 0;
        node.config.images = pick(2) == 0 ? ReclaimedImages::unused : ReclaimedImages::enough;
        if (pick(2) == 0) node.request.missing = Bytes{pick(400)};
        if (pick(3) == 0) node.config.keep_images = {"*1"};
        if (pick(8) == 0) node.runtime.whole.containers = false;
        if (pick(8) == 0) node.runtime.whole.images = false;
        if (pick(8) == 0) node.runtime.at -= 11s;
        if (pick(3) == 0) node.request.capacity = 100_B;
    }

    Inventory node;

private:
    unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
    static std::string pod(unsigned i) { return "p" + std::to_string(i); }
    Duration ago() { return pick(5) * 1min; }

    void add_sandbox(unsigned pods) {
        node.sandbox("s" + std::to_string(pick(7)), pod(pick(pods + 1)), ago(), pick(3) == 0);
    }
    void add_container(unsigned pods) {
        const bool named = pick(5) != 0;
        const std::string image = named ? image_id(pick(7)) : pick(2) == 0 ? "" : pick(6) == 0 ? "moved:1" : "tag:2";
        auto& one = node.container("c" + std::to_string(pick(20)), pod(pick(pods + 1)), "s" + std::to_string(pick(8)),
                                   ago(), static_cast<ContainerState>(pick(4)), image);
        one.name = "n" + std::to_string(pick(2));
        if (pick(2) == 0) one.layer = RuntimeUsage{.used = Bytes{pick(100)}};
    }
    void add_image() {
        auto& one = node.image(image_id(pick(7)), pick(3) == 0 ? std::nullopt : std::optional(ago()), Bytes{pick(100)});
        one.first_detected = inventory_wall - ago();
        one.in_use = pick(3) == 0;
        one.pinned = pick(6) == 0;
        one.tags = {"tag:" + std::to_string(pick(4))};
    }

    std::mt19937_64 random_;
};

bool names_image(const RuntimeContainer& container, const RuntimeImage& image) {
    return container.image_ref == image.id ||
           std::find(image.tags.begin(), image.tags.end(), container.image_ref) != image.tags.end();
}

// Follows the plan one by one, and looks before each removal at what is left.
class Removal {
public:
    explicit Removal(const Inventory& node) : node_(node), left_(node.runtime) {}

    void follow(const GarbagePlan& plan) {
        for (const Garbage& one : plan.removals) {
            ASSERT_FALSE(one.id.empty());
            ASSERT_FALSE(one.why.empty());
            if (one.kind == GarbageKind::container) remove_container(one.id);
            if (one.kind == GarbageKind::sandbox) remove_sandbox(one.id);
            if (one.kind == GarbageKind::image) remove_image(one.id);
            if (one.kind == GarbageKind::log_directory) remove_logs(one);
        }
    }
    [[nodiscard]] const Runtime& left() const { return left_; }

private:
    void remove_container(const std::string& id) {
        for (const RuntimeContainer& one : left_.containers) {
            EXPECT_TRUE(one.id != id || one.state == ContainerState::exited) << id;
        }
        EXPECT_EQ(std::erase_if(left_.containers, [&](const auto& one) { return one.id == id; }), 1U) << id;
    }
    void remove_sandbox(const std::string& id) {
        for (const RuntimeSandbox& one : left_.sandboxes) {
            EXPECT_TRUE(one.id != id || !one.ready) << id;
        }
        for (const RuntimeContainer& one : left_.containers) EXPECT_NE(one.sandbox, id) << one.id << " is in it";
        EXPECT_EQ(std::erase_if(left_.sandboxes, [&](const auto& one) { return one.id == id; }), 1U) << id;
    }
    void remove_image(const std::string& id) {
        for (const RuntimeImage& image : left_.images) {
            if (image.id != id) continue;
            EXPECT_FALSE(image.pinned) << id;
            for (const RuntimeContainer& one : left_.containers) {
                EXPECT_FALSE(names_image(one, image)) << one.id << " uses " << id;
                EXPECT_NE(one.image_ref, "moved:1") << "it is not known what it uses";
            }
            if (!image.in_use) continue;
            // Its users were containers that said so and are gone, and all others say what they use.
            const auto& before = node_.runtime.containers;
            EXPECT_TRUE(
                std::any_of(before.begin(), before.end(), [&](const auto& one) { return names_image(one, image); }));
            for (const RuntimeContainer& one : left_.containers)
                EXPECT_TRUE(one.image_ref.starts_with("sha256:")) << one.id;
        }
        EXPECT_EQ(std::erase_if(left_.images, [&](const auto& one) { return one.id == id; }), 1U) << id;
    }
    void remove_logs(const Garbage& garbage) {
        EXPECT_EQ(node_.fates.at(garbage.pod.value), PodFate::deleted);
        for (const RuntimeContainer& one : left_.containers) EXPECT_NE(one.pod, garbage.pod.value) << one.id;
        std::erase_if(left_.log_directories, [&](const auto& one) { return one.name == garbage.id; });
    }

    const Inventory& node_;
    Runtime left_;
};

constexpr unsigned first_seed = 1;
constexpr unsigned last_seed = 10'000;

TEST(GarbageProperty, NothingInUseGoesNothingBeforeWhatDependsOnItAndNothingIsForgotten) {
    std::size_t removals = 0;
    std::size_t images = 0;
    for (unsigned seed = first_seed; seed <= last_seed && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Inventory node = RandomInventory(seed).node;
        const GarbagePlan plan = node.plan();
        const Runtime& runtime = node.runtime;
        EXPECT_EQ(plan.removals.size() + plan.kept.size(), runtime.containers.size() + runtime.sandboxes.size() +
                                                               runtime.images.size() + runtime.log_directories.size());
        for (const Garbage& one : plan.kept) EXPECT_FALSE(one.why.empty()) << one.id;
        Removal removal(node);
        removal.follow(plan);
        removals += plan.removals.size();
        for (const Garbage& one : plan.removals) images += one.kind == GarbageKind::image ? 1 : 0;
        const bool known = runtime.whole.containers && runtime.at == inventory_now;
        EXPECT_TRUE(known || plan.removals.empty());
    }
    EXPECT_GT(removals, 5'000U);  // the inventories are not all trivial
    EXPECT_GT(images, 500U);
}

TEST(GarbageProperty, ASecondPlanOverWhatIsLeftIsEmpty) {
    for (unsigned seed = first_seed; seed <= last_seed / 4 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Inventory node = RandomInventory(seed).node;
        node.request.forced = true;
        node.request.missing.reset();
        Removal removal(node);
        removal.follow(node.plan());
        node.runtime = removal.left();
        // As the runtime would say it now.
        for (RuntimeImage& image : node.runtime.images) {
            const auto& left = node.runtime.containers;
            const bool used =
                std::any_of(left.begin(), left.end(), [&](const auto& one) { return names_image(one, image); });
            image.in_use = image.in_use || used;
        }
        EXPECT_EQ(node.goes(), "");
    }
}

}  // namespace
}  // namespace evictd::policy::testing
