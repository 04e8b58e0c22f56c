// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the ledger says of victims while one is frozen, and afterwards.
#include "act/victim_freeze.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "child_processes.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/held_rungs.hpp"

namespace evictd::act {
namespace {

struct VictimFreezes : testing::Test {
    [[nodiscard]] std::vector<reconcile::HeldRung> remembered() const {
        return reconcile::remembered_held(reconcile::victims_path(*path)).value_or(reconcile::HeldLedger{}).held;
    }
    fakes::TempDir directory;
    std::optional<std::string> path = directory / "rungs";
    ListedCgroup victim{[](int) { return std::vector<pid_t>{}; }};
    const reconcile::HeldRung own{RungKind::freeze, {victim.path(), victim.id()}, {}, {}};
    const reconcile::HeldRung other{RungKind::freeze, {"/kubepods/pod8", CgroupId{8}}, {}, {}};
};

TEST_F(VictimFreezes, AnotherVictimThatCouldNotBeThawedStaysWrittenDown) {
    ASSERT_TRUE(reconcile::remember_held(reconcile::victims_path(*path), {other}));
    {
        const VictimFreeze freeze(victim, path);
        EXPECT_EQ(freeze.trouble(), "");
        EXPECT_EQ(remembered(), (std::vector{other, own}));
    }
    EXPECT_EQ(remembered(), std::vector{other});
}

TEST_F(VictimFreezes, OneThatCannotBeThawedIsWrittenDownOnceUntilItIs) {
    victim.thaw_result = fail(ErrorKind::failed, victim.path(), "expected by the test");
    for (int freezes = 0; freezes < 2; freezes++) {
        const VictimFreeze freeze(victim, path);
        EXPECT_EQ(remembered(), std::vector{own});
    }
    EXPECT_EQ(remembered(), std::vector{own});
    victim.thaw_result = {};
    { const VictimFreeze freeze(victim, path); }
    EXPECT_TRUE(remembered().empty());
}

TEST_F(VictimFreezes, ALedgerThatIsNotUnderstoodIsNotOverwritten) {
    directory.write("rungs.victim", "nonsense\n");
    const VictimFreeze freeze(victim, path);
    EXPECT_NE(freeze.trouble().find("could not be written down"), std::string::npos) << freeze.trouble();
    EXPECT_EQ(victim.freezes, 0);
    EXPECT_NE(reconcile::remembered_held(reconcile::victims_path(*path)).value_or(reconcile::HeldLedger{}).fault, "");
}

}  // namespace
}  // namespace evictd::act
