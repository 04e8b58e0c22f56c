// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Every key that the reader knows is in the example configuration, at its place, and in the man page's CONFIGURATION.
// (That each value in the example is valid is a test of the program: tests/integration/example_config_test.sh.)
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/agent_settings.hpp"
#include "config/kubelet_settings.hpp"

namespace evictd::config {
namespace {

std::string deployed(const std::string& name) {
    const std::ifstream file(std::string(EVICTD_FIXTURES) + "/../../deploy/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> known_keys() {
    std::vector<std::string> keys;
    for (const auto& row : kubelet_settings()) keys.emplace_back(row.name);
    for (const auto& row : agent_settings()) keys.push_back("evictd." + std::string(row.name));
    return keys;
}

// "evictd.eventLog.path" and the like; what is commented out counts: prose has one blank after its #.
std::set<std::string> keys_of_example(const std::string& text) {
    static const std::regex key_line("^#?( *)([A-Za-z]+):( .*)?$");
    std::set<std::string> keys;
    std::vector<std::pair<std::size_t, std::string>> above;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (line.starts_with("# ") && !line.starts_with("#  ")) continue;
        if (!std::regex_match(line, found, key_line)) continue;
        const auto indent = static_cast<std::size_t>(found[1].length());
        while (!above.empty() && above.back().first >= indent) above.pop_back();
        above.emplace_back(indent, (above.empty() ? "" : above.back().second + ".") + found[2].str());
        keys.insert(above.back().second);
    }
    return keys;
}

// Of the man page's section: the bold word below each .TP.
std::set<std::string> keys_of_manual(const std::string& text) {
    const auto begin = text.find("\n.SH CONFIGURATION\n");
    if (begin == std::string::npos) return {};
    const std::string section = text.substr(begin + 1, text.find("\n.SH ", begin + 1) - begin);
    static const std::regex entry("\n\\.TP\n\\.BR? ([A-Za-z.\\-]+)");
    std::set<std::string> keys;
    for (std::sregex_iterator at(section.begin(), section.end(), entry), end; at != end; ++at) {
        keys.insert(std::regex_replace((*at)[1].str(), std::regex("\\\\-"), "-"));
    }
    return keys;
}

TEST(DocumentedKeys, AreAllInTheExampleConfiguration) {
    const auto documented = keys_of_example(deployed("evictd.example.yaml"));
    for (const auto& key : known_keys()) {
        EXPECT_TRUE(documented.contains(key)) << "deploy/evictd.example.yaml does not have " << key;
    }
}

// With its kind a KubeletConfiguration may have keys of the kubelet's that evictd ignores: the example has none.
TEST(DocumentedKeys, OfTheExampleAreKnown) {
    const auto known = known_keys();
    for (const auto& key : keys_of_example(deployed("evictd.example.yaml"))) {
        if (key.find('.') != std::string::npos || key == "evictd") continue;
        EXPECT_NE(std::find(known.begin(), known.end(), key), known.end()) << key << " is no key of evictd";
    }
}

TEST(DocumentedKeys, AreAllInTheManualAndNoOthers) {
    const auto documented = keys_of_manual(deployed("evictd.1"));
    const auto known = known_keys();
    for (const auto& key : known) {
        EXPECT_TRUE(documented.contains(key)) << "CONFIGURATION in deploy/evictd.1 does not have " << key;
    }
    EXPECT_EQ(documented.size(), known.size()) << "CONFIGURATION has a key that evictd does not know, or one twice";
}

TEST(DocumentedKeys, AreFoundWhereTheyAre) {
    const auto keys = keys_of_example(
        "# prose: of one blank\n#top:\n#  signal: 1\n#evictd:\n#  block:  # why\n#    key: x\n#  bpf: y\n");
    EXPECT_EQ(keys,
              (std::set<std::string>{"top", "top.signal", "evictd", "evictd.block", "evictd.block.key", "evictd.bpf"}));
    EXPECT_EQ(keys_of_manual("\n.SH CONFIGURATION\n.TP\n.B a.b\ntext\n.TP\n.BR c \" (d)\"\n.SH NEXT\n.TP\n.B e\n"),
              (std::set<std::string>{"a.b", "c"}));
}

}  // namespace
}  // namespace evictd::config
