// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A tape in files: each can be read by itself, whatever was rotated, lost or torn before it.
#include "publish/tape_recorder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Recording : testing::Test {
    RecordPtr look(std::uint64_t number) {
        Tick tick = sample::calm();
        tick.observation.pods = pods;
        tick.number = number;
        tick.config = config;
        tick.before = std::make_shared<const State>();
        return shared(std::move(tick));
    }
    [[nodiscard]] std::unique_ptr<TapeRecorder> record(Bytes size = 1_MiB, int files = 2) const {
        return std::make_unique<TapeRecorder>(TapeOptions{path, size, files}, "0.1.0", "node-1", sample::start());
    }
    // What a reader makes of a file: "h" a header, "c" a look with config and state, "l" one without, "" nothing, "?"
    // no line of a tape.
    [[nodiscard]] static std::string kinds(const std::string& file) {
        codec::TapeReader reader;
        std::string kinds;
        for (const auto& line : lines_of(file)) {
            const auto read = reader.read(line);
            if (line.empty()) continue;
            if (!read) {
                kinds += '?';
            } else if (const auto* look = std::get_if<codec::TapeLook>(&*read)) {
                kinds += look->config && look->before ? 'c' : 'l';
            } else {
                kinds += 'h';
            }
        }
        return kinds;
    }

    fakes::TempDir directory;
    std::string path = directory / "node.tape";
    std::vector<ObservedPod> pods = sample::calm().observation.pods;
    std::shared_ptr<const EvictionConfig> config = std::make_shared<const EvictionConfig>();
};

TEST_F(Recording, BeginsWithAHeaderAndHasTheConfigurationOnce) {
    const auto recorder = record();
    for (std::uint64_t i = 1; i <= 3; ++i) recorder->publish(look(i));
    recorder->publish(notice("not a look"));
    EXPECT_EQ(kinds(path), "hcll");
    EXPECT_EQ(recorder->lost_looks(), 0U);
}

TEST_F(Recording, IsReadableByItsOwnerOnly) {
    record()->publish(look(1));
    struct stat made {};
    ASSERT_EQ(::stat(path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777U, 0600U);
}

TEST_F(Recording, ALookThatIsNotForTheTapeIsLeftOut) {
    record()->publish(shared(sample::calm()));
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Recording, AfterAGapConfigurationAndStateAreWrittenAgain) {
    const auto recorder = record();
    for (const std::uint64_t i : {1U, 2U, 5U, 6U}) recorder->publish(look(i));
    EXPECT_EQ(kinds(path), "hclhcl");
}

TEST_F(Recording, ANewConfigurationIsWrittenWithTheStateItMet) {
    const auto recorder = record();
    recorder->publish(look(1));
    config = std::make_shared<const EvictionConfig>();
    recorder->publish(look(2));
    recorder->publish(look(3));
    EXPECT_EQ(kinds(path), "hccl");
}

TEST_F(Recording, EveryFileIsCompleteInItself) {
    const auto recorder = record(8_KiB, 2);
    for (std::uint64_t i = 1; i <= 40; ++i) recorder->publish(look(i));
    for (const auto& file : {path, path + ".1"}) {
        EXPECT_THAT(kinds(file), StartsWith("hcl")) << file;
        EXPECT_TRUE(text_of(file).starts_with(codec::tape_mark));
        EXPECT_EQ(kinds(file).find('?'), std::string::npos);
        EXPECT_LE(std::filesystem::file_size(file), 8192U);
    }
    EXPECT_FALSE(std::filesystem::exists(path + ".2"));
    EXPECT_EQ(recorder->lost_looks(), 0U);
}

TEST_F(Recording, GoesOnWhereAnotherEndedInTheMiddleOfALine) {
    directory.write("node.tape", "{\"evictd_tape\":1,\"ver");
    const auto recorder = record();
    recorder->publish(look(1));
    recorder->publish(look(2));
    EXPECT_EQ(kinds(path), "?hcl");
}

TEST_F(Recording, AFullDiskLosesLooksAndTheTapeGoesOnWithoutThem) {
    std::filesystem::create_symlink("/dev/full", path);
    const auto recorder = record();
    recorder->publish(look(1));
    recorder->publish(look(2));
    EXPECT_EQ(recorder->lost_looks(), 2U);
    std::filesystem::remove(path);
    recorder->publish(look(3));
    recorder->publish(look(4));
    EXPECT_EQ(kinds(path), "hcl");
    EXPECT_EQ(recorder->lost_looks(), 2U);
}

TEST_F(Recording, AFileThatCannotBeWrittenIsKnownAtTheStart) {
    directory.write("plain", "x");
    const auto recorder = TapeRecorder::make({directory / "plain/node.tape"}, "0.1.0", "node-1", {});
    ASSERT_FALSE(recorder);
    EXPECT_THAT(recorder.error().text(), HasSubstr("recording to "));
}

TEST_F(Recording, AFileThatIsNoTapeIsNotTouched) {
    const auto make = [&] { return TapeRecorder::make({path}, "0.1.0", "node-1", {}); };
    directory.write("node.tape", "important\n");
    const auto refused = make();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("the file exists and is not a tape"));
    EXPECT_EQ(text_of(path), "important\n");
    for (const char* begun : {"", "{\"evict", "{\"evictd_tape\":1"}) {
        directory.write("node.tape", begun);
        EXPECT_TRUE(make()) << begun;
    }
}

}  // namespace
}  // namespace evictd::publish
