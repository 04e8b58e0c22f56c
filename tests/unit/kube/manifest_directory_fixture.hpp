// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A directory of manifests, and what is read from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/temp_dir.hpp"
#include "kube/manifest_directory.hpp"
#include "kube_manifests.hpp"

namespace evictd::kube {

inline const std::string without_uid = "kind: Pod\nmetadata: {name: c}\nspec: {containers: [{name: c}]}\n";

class ManifestDirectoryTest : public ::testing::Test {
protected:
    port::PodSet look() { return directory.look({}); }
    // One a line, without the directory's own path.
    [[nodiscard]] std::string texts(const std::vector<Error>& errors) const {
        std::string text;
        for (const auto& error : errors) text += (text.empty() ? "" : "\n") + error.text();
        for (const auto& own : {dir / "", dir.path().string() + ": "})
            for (auto at = text.find(own); at != std::string::npos; at = text.find(own)) text.erase(at, own.size());
        return text;
    }
    // The one rejection there is.
    std::string rejected() {
        const auto set = look();
        if (set.rejected.size() != 1) return std::to_string(set.rejected.size()) + " rejected";
        EXPECT_EQ(set.rejected[0].kind, ErrorKind::invalid);
        EXPECT_TRUE(set.unread.empty());
        return texts(set.rejected);
    }

    fakes::TempDir dir;
    ManifestDirectory directory{dir.path(), std::nullopt};
};

}  // namespace evictd::kube
