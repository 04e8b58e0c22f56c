// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What falls back when a kernel is not as our programs know it. They are relocated by this kernel's own BTF, which is
// that of every machine of the matrix, and by copies of it that were changed. Nothing is attached.
#include "kernel/loader.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include "fakes/temp_dir.hpp"
#include "kernel/bpf_fixture.hpp"
#include "kernel/kernel_btf.hpp"

namespace evictd::kernel_test {
namespace {

using Hooks = std::set<std::string>;

// A copy of this kernel's BTF with one member of one struct changed.
class ChangedBtf {
public:
    using Change = std::function<void(btf*, btf_member&)>;

    ChangedBtf(const char* structure, const char* member, const Change& change) : btf_(btf__load_vmlinux_btf()) {
        const int id = btf_ ? btf__find_by_name_kind(btf_.get(), structure, BTF_KIND_STRUCT) : -1;
        if (id < 0) return;
        (void)btf__add_str(btf_.get(), "evictd_test");  // from here on it may be written to
        const auto type = [&] { return btf__type_by_id(btf_.get(), static_cast<std::uint32_t>(id)); };
        for (std::uint16_t i = 0; i < btf_vlen(type()); i++) {
            if (std::strcmp(btf__name_by_offset(btf_.get(), member_of(type(), i).name_off), member) != 0) continue;
            // A change may add types, and move those that are there.
            btf_member changed = member_of(type(), i);
            change(btf_.get(), changed);
            member_of(type(), i) = changed;
            changed_ = true;
        }
    }

    // Where it was written to; empty: there is no such member here.
    std::string path() {
        std::uint32_t size = 0;
        const void* data = changed_ ? btf__raw_data(btf_.get(), &size) : nullptr;
        if (data == nullptr) return {};
        std::ofstream(path_, std::ios::binary).write(static_cast<const char*>(data), size);
        return path_;
    }

private:
    static btf_member& member_of(const btf_type* type, std::uint16_t index) {
        return btf_members(const_cast<btf_type*>(type))[index];  // NOLINT(*-const-cast): libbpf has no call for it
    }

    fakes::TempDir directory_;
    std::string path_ = directory_ / "btf";
    kernel::Btf btf_;
    bool changed_ = false;
};

void rename(btf* btf, btf_member& member) {
    member.name_off = static_cast<std::uint32_t>(btf__add_str(btf, "evictd_test_gone"));
}

// The hooks that this kernel feeds, and those of them that `loaded` does not.
Hooks fallen_back(const kernel::Choice& before, const kernel::LoadedPrograms& loaded) {
    Hooks hooks;
    for (const auto& row : before.rows) {
        if (!row.chosen.empty() && !kernel::feeds(loaded.choice, row.hook)) hooks.insert(row.hook);
    }
    return hooks;
}

std::string detail_of(const kernel::Choice& choice, const std::string& hook) {
    const auto found =
        std::find_if(choice.rows.begin(), choice.rows.end(), [&](const SourceRow& row) { return row.hook == hook; });
    return found == choice.rows.end() ? std::string() : found->detail;
}

// The programs by what the kernel calculates over their instructions, before it verifies them.
std::map<std::string, std::string> tags(const kernel::LoadedPrograms& loaded) {
    std::map<std::string, std::string> tags;
    for (const auto* candidate : loaded.choice.chosen) {
        bpf_prog_info info{};
        std::uint32_t size = sizeof(info);
        const int fd = bpf_program__fd(kernel::find_program(loaded, candidate->program));
        EXPECT_EQ(bpf_obj_get_info_by_fd(fd, &info, &size), 0) << candidate->program;
        tags[candidate->program].assign(std::begin(info.tag), std::end(info.tag));
    }
    return tags;
}

class Loader : public testing::Test {
protected:
    void SetUp() override {
        auto choice = kernel::choose_programs();
        ASSERT_TRUE(choice) << choice.error().text();
        choice_ = std::move(*choice);
    }

    kernel::Choice choice_;
};

TEST_F(Loader, OnThisKernelNothingFallsBack) {
    const auto loaded = kernel::load_programs(choice_);
    ASSERT_TRUE(loaded) << loaded.error().text();
    for (const auto& refusal : loaded->choice.refused) ADD_FAILURE() << refusal.program << ": " << refusal.why;
    EXPECT_EQ(fallen_back(choice_, *loaded), Hooks{});
    EXPECT_TRUE(loaded->together);
}

TEST_F(Loader, ByAnExcerptOfTheKernelsTypesProgramsAreRelocatedAsByAllOfThem) {
    auto without = choice_;
    without.kernel_btf.reset();
    const auto loaded = kernel::load_programs(choice_);
    const auto by_all = kernel::load_programs(without);
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_TRUE(by_all) << by_all.error().text();
    EXPECT_FALSE(by_all->together);
    EXPECT_EQ(tags(*loaded), tags(*by_all));
    EXPECT_EQ(loaded->choice.kernel_btf, nullptr) << "megabytes that nothing reads any more";
}

TEST_F(Loader, AMemberThatIsGoneCostsTheHookThatReadsItAndNoOther) {
    ChangedBtf changed("sock", "sk_wmem_queued", rename);
    const auto loaded = kernel::load_programs(choice_, changed.path());
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(fallen_back(choice_, *loaded), Hooks{"sockets"});
    ASSERT_EQ(loaded->choice.refused.size(), 1U);
    EXPECT_EQ(loaded->choice.refused.front().program, "count_sockets");
    EXPECT_EQ(loaded->choice.kernel_btf, nullptr) << "megabytes that nothing reads any more";
    EXPECT_NE(detail_of(loaded->choice, "sockets").find("sk_wmem_queued"), std::string::npos)
        << detail_of(loaded->choice, "sockets");
}

TEST_F(Loader, WithoutPageListsUsageAndTheTimerFallBackAndWhatNeedsThem) {
    ChangedBtf changed("mem_cgroup_per_node", "lru_zone_size", rename);
    const auto path = changed.path();
    ASSERT_FALSE(path.empty());
    const auto loaded = kernel::load_programs(choice_, path);
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(fallen_back(choice_, *loaded), (Hooks{"stall", "usage", "watermark"}));
    EXPECT_NE(detail_of(loaded->choice, "usage").find("mem_cgroup_per_node.lru_zone_size"), std::string::npos)
        << detail_of(loaded->choice, "usage");
    EXPECT_TRUE(kernel::feeds(loaded->choice, "oom"));
}

// Where a better candidate is refused, the next one is taken.
TEST_F(Loader, TheNextCandidateOfAHookIsTried) {
    const auto next = kernel::choose_without(choice_, {"on_mark_victim_task", "for this test"});
    if (!next) GTEST_SKIP() << "this kernel tells victims by pid";
    const auto& chosen = next->chosen;
    EXPECT_TRUE(std::none_of(chosen.begin(), chosen.end(), [](const kernel::Candidate* candidate) {
        return std::strcmp(candidate->program, "on_mark_victim_task") == 0;
    }));
    EXPECT_NE(detail_of(*next, "oom").find("for this test"), std::string::npos);
}

// In the running kernel's form, in the other one, and at another offset.
TEST_F(Loader, AnArrayInAnotherFormOrPlaceIsFound) {
    const auto deep = [](btf* btf, btf_member& member) {
        const auto* array = btf__type_by_id(btf, member.type);
        if (btf_is_array(btf__type_by_id(btf, btf_array(array)->type))) {  // it is: make it flat
            const auto inner = *btf_array(btf__type_by_id(btf, btf_array(array)->type));
            const auto outer = *btf_array(array);
            member.type = static_cast<std::uint32_t>(btf__add_array(
                btf, static_cast<int>(outer.index_type), static_cast<int>(inner.type), outer.nelems * inner.nelems));
            return;
        }
        const auto flat = *btf_array(array);
        const int inner = btf__add_array(btf, static_cast<int>(flat.index_type), static_cast<int>(flat.type), 5);
        member.type =
            static_cast<std::uint32_t>(btf__add_array(btf, static_cast<int>(flat.index_type), inner, flat.nelems / 5));
    };
    constexpr std::uint32_t moved_by = 8 * 0x1230;
    const auto move = [](btf* /*btf*/, btf_member& member) { member.offset += moved_by; };
    for (const auto& change : {ChangedBtf::Change(deep), ChangedBtf::Change(move)}) {
        ChangedBtf changed("mem_cgroup_per_node", "lru_zone_size", change);
        const auto path = changed.path();
        ASSERT_FALSE(path.empty());
        const auto loaded = kernel::load_programs(choice_, path);
        ASSERT_TRUE(loaded) << loaded.error().text();
        for (const auto& refusal : loaded->choice.refused) ADD_FAILURE() << refusal.program << ": " << refusal.why;
        EXPECT_EQ(fallen_back(choice_, *loaded), Hooks{});
        EXPECT_TRUE(loaded->together) << "the excerpt has it too";
    }
}

}  // namespace
}  // namespace evictd::kernel_test
