// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's last answer in the state directory, and what is not taken for one.
#include "app/kept_kubelet.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fakes/temp_dir.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

class KeptKubeletTest : public testing::Test {
protected:
    KeptKubeletTest() { std::filesystem::permissions(directory_.path(), std::filesystem::perms::owner_all); }
    [[nodiscard]] std::string path() const { return directory_ / "state/kubelet_config"; }
    [[nodiscard]] std::string why(const std::string& node = "n1") const {
        const auto kept = read_kept_kubelet(path(), node);
        return kept ? "" : kept.error().why;
    }
    void keep(const std::string& text = "{}\n") {
        ASSERT_TRUE(keep_kubelet(path(), "n1", {.text = text, .at = WallTime(1500000000s)}));
    }
    // What another program made of it.
    void replace(const std::string& text) { std::ofstream(path(), std::ios::trunc) << text; }
    [[nodiscard]] std::string file() const {
        std::ifstream in(path());
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fakes::TempDir directory_;
};

TEST_F(KeptKubeletTest, IsReadAsItWasReceived) {
    keep("old");
    keep("{\"kubeletconfig\":\n{}}\n\n");
    const auto kept = read_kept_kubelet(path(), "n1");
    ASSERT_TRUE(kept && *kept);
    EXPECT_EQ((*kept)->text, "{\"kubeletconfig\":\n{}}\n\n");
    EXPECT_EQ((*kept)->at, WallTime(1500000000s));
    struct stat status {};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(KeptKubeletTest, IsNoneBeforeTheFirst) {
    const auto kept = read_kept_kubelet(path(), "n1");
    ASSERT_TRUE(kept);
    EXPECT_FALSE(*kept);
}

// A state directory that was copied with a machine's image has another kubelet's thresholds.
TEST_F(KeptKubeletTest, OfAnotherNodeIsNotRead) {
    keep();
    EXPECT_EQ(why("n2"), "is of another node");
}

TEST_F(KeptKubeletTest, CutShortAnywhereIsNotRead) {
    keep("{\"kubeletconfig\":{}}");
    const auto whole = file();
    for (std::size_t length = 0; length < whole.size(); length++) {
        replace(whole.substr(0, length));
        EXPECT_NE(why(), "") << length;
    }
    replace(whole + "x");
    EXPECT_EQ(why(), "is not whole");
    replace(whole);
    EXPECT_EQ(why(), "");
}

TEST_F(KeptKubeletTest, ThatOthersMayWriteToIsNotRead) {
    keep();
    std::filesystem::permissions(path(), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
    EXPECT_NE(why(), "");
    std::filesystem::remove(path());
    keep();
    std::filesystem::permissions(directory_ / "state", std::filesystem::perms::all);
    EXPECT_EQ(why(), "others may write to it");
}

TEST_F(KeptKubeletTest, BehindALinkIsNotRead) {
    keep();
    std::filesystem::rename(path(), directory_ / "state/elsewhere");
    std::filesystem::create_symlink("elsewhere", path());
    EXPECT_NE(why(), "");
}

TEST_F(KeptKubeletTest, IsBounded) {
    const std::string large(longest_kept_kubelet, 'x');
    keep();
    EXPECT_FALSE(keep_kubelet(path(), "n1", {.text = large, .at = {}}));
    EXPECT_EQ(why(), "") << "what was kept before is still there";
    std::filesystem::resize_file(path(), longest_kept_kubelet + 1);
    EXPECT_NE(why().find("bytes"), std::string::npos) << why();
}

}  // namespace
}  // namespace evictd::app
