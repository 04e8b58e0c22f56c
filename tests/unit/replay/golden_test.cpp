// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// tests/golden: NAME.yaml or NAME.json is a scenario, NAME.expected.jsonl its lines. `why` is written for people and
// may be reworded: a line without it is compared without it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

namespace fs = std::filesystem;

const fs::path golden = EVICTD_GOLDEN;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

fs::path expected_of(fs::path scenario) { return scenario.replace_extension(".expected.jsonl"); }

std::vector<fs::path> scenarios() {
    std::vector<fs::path> found;
    if (!fs::exists(golden)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(golden)) {
        const auto extension = entry.path().extension();
        if (extension == ".yaml" || extension == ".json") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, ReplaysToItsLines) {
    const auto got = play_lines(text_of(GetParam()));
    ASSERT_TRUE(fs::exists(expected_of(GetParam()))) << "there is no " << expected_of(GetParam());
    const auto expected = lines_of(text_of(expected_of(GetParam())));
    EXPECT_EQ(got.size(), expected.size()) << "steps";
    for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
        if (got[i] == expected[i]) continue;
        auto line = nlohmann::ordered_json::parse(got[i]);
        const auto wanted = nlohmann::ordered_json::parse(expected[i]);
        if (!wanted.contains("why")) line.erase("why");
        EXPECT_EQ(line.dump(), wanted.dump()) << "step " << i + 1;
    }
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
    std::string name = fs::relative(info.param, golden).replace_extension("").string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Golden, testing::ValuesIn(scenarios()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST(GoldenSet, EveryExpectationBelongsToAScenario) {
    std::set<fs::path> known;
    for (const auto& scenario : scenarios()) known.insert(expected_of(scenario));
    if (!fs::exists(golden)) return;
    for (const auto& entry : fs::recursive_directory_iterator(golden)) {
        if (entry.path().extension() != ".jsonl") continue;
        EXPECT_TRUE(known.contains(entry.path())) << entry.path() << " has no scenario";
    }
}

}  // namespace
}  // namespace evictd::replay
