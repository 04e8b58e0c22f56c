// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Intents survive a SIGKILL at each byte: whole, or not at all.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/fake_clock.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/intent_store.hpp"
#include "reconcile/intent_writer.hpp"
#include "reconcile/ledger_file.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const WallTime noted_at{1'700'000'000s + 123ns};

DesiredPodStatus sample(const std::string& uid = "0b4ab4c2-3a55-4a2f-9c53-0f7b9b7c11f0", std::int32_t attempt = 1) {
    return {.pod = {uid},
            .name_space = "default",
            .name = "web-0",
            .reason = "Evicted",
            .message = "The node was low on resource: memory.\tContainer \\ main\nwas using much. ",
            .disruption_target = true,
            .generation = 7,
            .attempt = attempt,
            .decided_at = MonotonicTime(77s),
            .detected_at = MonotonicTime(76s)};
}

std::unique_ptr<IntentFile> opened(const std::string& path) {
    auto file = IntentFile::open(path, IntentFile::Needs::nothing);
    EXPECT_TRUE(file) << (file ? "" : file.error().text());
    return file ? std::move(*file) : nullptr;
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Intents, AreReadAsTheyWereNoted) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    auto given_up = sample("uid-2", 5);
    given_up.given_up = true;
    {
        const auto file = opened(path);
        ASSERT_TRUE(file->note(sample(), noted_at));
        ASSERT_TRUE(file->note(given_up, noted_at + 1s));
    }
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const auto file = opened(path);
    EXPECT_EQ(file->torn(), 0U);
    EXPECT_EQ(file->read(), (std::vector<Intent>{{sample(), noted_at}, {given_up, noted_at + 1s}}));
    file->clear({"uid-2"}, 4);
    EXPECT_EQ(file->read().size(), 2U) << "a later attempt";
    file->clear({"uid-2"}, 5);
    EXPECT_EQ(file->read().size(), 1U);
}

TEST(Intents, AFullFileAndNamesThatAreTooLongAreRefused) {
    const fakes::TempDir temp;
    const auto file = opened(temp / "run/intents");
    auto huge = sample();
    huge.name = std::string(300, 'x');
    EXPECT_FALSE(file->note(huge, noted_at));
    EXPECT_TRUE(file->read().empty());
    huge.name = "web";
    huge.message = std::string(5000, 'm');
    ASSERT_TRUE(file->note(huge, noted_at));
    EXPECT_EQ(file->read()[0].status.message.size(), IntentFile::most_of_a_message - 1);
    for (std::size_t i = 1; i < IntentFile::slot_count; i++) {
        ASSERT_TRUE(file->note(sample("uid-" + std::to_string(i)), noted_at));
    }
    EXPECT_FALSE(file->note(sample("one-more"), noted_at));
    file->clear({"uid-7"}, 1);
    EXPECT_TRUE(file->note(sample("one-more"), noted_at));
}

// Every prefix of what noting writes, in the order in which it is written: the state, the intent, its checksum, the
// state.
TEST(Intents, OneThatIsTornAtAnyByteIsNoneAndTheOthersStay) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    ASSERT_TRUE(opened(path)->note(sample("uid-1"), noted_at));
    const auto before = bytes_of(path);
    ASSERT_TRUE(opened(path)->note(sample("uid-2"), noted_at));
    const auto after = bytes_of(path);
    std::size_t first = 0;
    while (before[first] == after[first]) first++;
    std::size_t last = before.size() - 1;
    while (before[last] == after[last]) last--;
    for (std::size_t end = first + 1; end <= last; end++) {
        auto torn = before;
        std::copy(after.begin() + static_cast<std::ptrdiff_t>(first), after.begin() + static_cast<std::ptrdiff_t>(end),
                  torn.begin() + static_cast<std::ptrdiff_t>(first));
        temp.write("run/intents", torn);
        const auto file = opened(path);
        ASSERT_EQ(file->read(), (std::vector<Intent>{{sample("uid-1"), noted_at}})) << end;
        ASSERT_EQ(file->torn(), 1U) << end;
        ASSERT_TRUE(file->note(sample("uid-3"), noted_at)) << "its slot is free again";
    }
}

TEST(Intents, OutliveAProcessThatIsKilled) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto file = IntentFile::open(path, IntentFile::Needs::nothing);
        (void)(*file)->note(sample(), noted_at);
        (void)::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(opened(path)->read().size(), 1U);
}

TEST(Intents, AFileThatIsNotOnesOwnIsSetAsideOrRefused) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    for (const std::string text : {"nonsense", "\x01", ""}) {
        temp.write("run/intents", text);
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
        const auto file = opened(path);
        EXPECT_EQ(file->set_aside(), text.empty() ? "" : path + ".broken");
        EXPECT_TRUE(file->read().empty());
    }
    temp.write("run/intents", std::string(bytes_of(path).size(), '\0'));
    EXPECT_EQ(opened(path)->set_aside(), "") << "allocated, and killed then";
    fs::permissions(path, fs::perms::owner_all | fs::perms::others_read);
    EXPECT_FALSE(IntentFile::open(path, IntentFile::Needs::nothing)) << "others may read it";
    fs::remove(path);
    fs::create_symlink(temp / "elsewhere", path);
    EXPECT_FALSE(IntentFile::open(path, IntentFile::Needs::nothing));
    EXPECT_FALSE(fs::exists(temp / "elsewhere"));
}

// evictd undo of another version.
TEST(Intents, AFileOfAnotherLayoutIsNotReadAsIntents) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    ASSERT_TRUE(opened(path)->note(sample(), noted_at));
    EXPECT_EQ(IntentFile::read_left(path).value().size(), 1U);
    const auto noted = bytes_of(path);
    for (const std::size_t at : {std::size_t{0}, sizeof(std::uint64_t)}) {
        auto other = noted;
        other[at] = static_cast<char>(other[at] + 1);
        temp.write("run/intents", other);
        EXPECT_FALSE(IntentFile::read_left(path)) << "of the head, byte " << at;
        EXPECT_EQ(bytes_of(path), other);
    }
    temp.write("run/intents", std::string(noted.size(), '\0'));
    EXPECT_TRUE(IntentFile::read_left(path).value().empty()) << "allocated, and killed then";
}

TEST(Intents, HaveOneAgentAtATime) {
    const fakes::TempDir temp;
    const auto path = temp / "run/intents";
    const auto first = opened(path);
    const auto second = IntentFile::open(path, IntentFile::Needs::nothing);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::unreachable);
}

TEST(Intents, ADiskIsRefused) {
    struct Removed {
        std::string path = "/var/tmp/evictd-intents-" + std::to_string(::getpid());
        Removed() = default;
        Removed(const Removed&) = delete;
        Removed& operator=(const Removed&) = delete;
        ~Removed() { fs::remove_all(path); }
    } const directory;
    const auto file = IntentFile::open(directory.path + "/intents");
    if (file) GTEST_SKIP() << "/var/tmp is a tmpfs here";
    EXPECT_NE(file.error().text().find("tmpfs"), std::string::npos) << file.error().text();
    EXPECT_FALSE(fs::exists(directory.path + "/intents")) << "a file is left, which undo and the next agent would read";
}

TEST(Intents, AreTextOnDisk) {
    const std::vector<Intent> intents{{sample(), noted_at}, {sample("uid-2", 3), noted_at + 1s, "boot-1"}};
    const auto text = intents_text(intents, "boot-2");
    const auto read = intents_from(text, "boot-2");
    EXPECT_EQ(read.intents, intents);
    EXPECT_EQ(read.fault, "");
    const auto first_line = text.find('\n', text.find('\n') + 1) + 1;
    for (std::size_t end = 0; end < text.size(); end++) {
        const auto cut = intents_from(std::string_view(text).substr(0, end), "boot-2");
        ASSERT_EQ(cut.intents.size(), end < first_line ? 0U : 1U) << end;
        ASSERT_EQ(cut.fault.empty(), end == text.find('\n') + 1 || end == first_line) << end;
    }
    for (std::size_t i = text.find('\n') + 1; i < first_line - 1; i++) {
        auto changed = text;
        changed[i] = changed[i] == '0' ? '1' : '0';
        ASSERT_EQ(intents_from(changed, "boot-2").intents.size(), 1U) << i;
        ASSERT_EQ(intents_from(changed, "boot-2").fault, "invalid line 2");
    }
}

TEST(Intents, TheNewestOfEachPodComesFromBothPlacesAndABrokenLedgerIsSetAside) {
    const fakes::TempDir temp;
    const auto file = opened(temp / "run/intents");
    const auto ledger = temp / "state/intents";
    ASSERT_TRUE(write_ledger(
        ledger,
        intents_text({{sample("uid-1", 1), noted_at}, {sample("uid-2", 2), noted_at}}, boot_id()) + "half a li"));
    ASSERT_TRUE(file->note(sample("uid-1", 2), noted_at + 1s));
    IntentStore store(file.get(), ledger);
    const auto left = list_intents(temp / "elsewhere/intents", ledger);
    EXPECT_EQ(left.left.size(), 2U);
    EXPECT_EQ(left.failed.size(), 1U);
    temp.write("state/intents.123.new", "half");
    const auto intents = store.recover();
    EXPECT_FALSE(fs::exists(ledger + ".123.new")) << "of a writer that was killed";
    EXPECT_EQ(intents, (std::vector<Intent>{{sample("uid-1", 2), noted_at + 1s}, {sample("uid-2", 2), noted_at}}));
    EXPECT_TRUE(fs::exists(ledger + ".broken"));
    store.apply({.unfinished = intents, .settled = {}});
    EXPECT_TRUE(file->read().empty()) << "on disk now";
    EXPECT_EQ(intents_from(read_ledger(ledger)->value(), boot_id()).intents, intents);
    store.apply({});
    EXPECT_FALSE(fs::exists(ledger));
}

TEST(Intents, TheNewestIsThatOfThisBootThenByTheMonotonicClockWhateverTheWallClockDid) {
    auto second = sample("uid-1", 2);
    second.decided_at += 1s;
    const std::vector<Intent> intents{
        {sample("uid-1", 1), noted_at + 1h}, {second, noted_at}, {sample("uid-1", 9), noted_at + 2h, "boot-1"}};
    EXPECT_EQ(newest_of_each(intents), (std::vector<Intent>{intents[1]}));
    EXPECT_EQ(newest_of_each({intents[2], intents[1], intents[0]}), (std::vector<Intent>{intents[1]}));
}

TEST(Intents, AreWrittenInAThreadOfTheirOwnTheNewestOfAll) {
    const fakes::TempDir temp;
    const auto file = opened(temp / "run/intents");
    const auto ledger = temp / "state/intents";
    ASSERT_TRUE(file->note(sample("uid-1"), noted_at));
    ASSERT_TRUE(file->note(sample("uid-2"), noted_at));
    auto writer = IntentWriter::make(IntentStore(file.get(), ledger));
    ASSERT_TRUE(writer);
    (*writer)->write({.unfinished = {{sample("uid-1"), noted_at}, {sample("uid-2"), noted_at}}, .settled = {}});
    (*writer)->write({.unfinished = {{sample("uid-2"), noted_at}}, .settled = {{{"uid-1"}, 1}}});
    writer->reset();  // what was handed over is written
    EXPECT_TRUE(file->read().empty()) << "one is on disk, one is settled";
    EXPECT_EQ(intents_from(read_ledger(ledger)->value(), boot_id()).intents,
              (std::vector<Intent>{{sample("uid-2"), noted_at}}));
}

TEST(Intents, NotingOneTakesMicroseconds) {
    const fakes::TempDir temp;
    const auto file = opened(temp / "run/intents");
    const auto began = sys::thread_cpu_time();
    constexpr int rounds = 1000;
    for (int i = 0; i < rounds; i++) {
        ASSERT_TRUE(file->note(sample(), noted_at));
        file->clear(sample().pod, 1);
    }
    const auto each = (sys::thread_cpu_time() - began) / rounds;
    RecordProperty("nanoseconds", static_cast<int>(each.count()));
    EXPECT_LT(each, 50us) << "with what it takes to clear it, and on a busy machine";
}

}  // namespace
}  // namespace evictd::reconcile
