// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "comparison.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace evictd::bench {
namespace {

const Figure* find(const std::vector<Figure>& figures, const Figure& wanted) {
    const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& figure) {
        return figure.part == wanted.part && figure.name == wanted.name;
    });
    return found == figures.end() ? nullptr : &*found;
}

// Every figure once, as first seen.
std::vector<Figure> all_of(const std::vector<std::vector<Figure>>& base, const std::vector<std::vector<Figure>>& tree) {
    std::vector<Figure> all;
    for (const auto* side : {&tree, &base}) {
        for (const auto& round : *side) {
            for (const auto& figure : round) {
                if (find(all, figure) == nullptr) {
                    all.push_back(figure);
                }
            }
        }
    }
    return all;
}

// Why a round has no pair; empty if it has one.
std::string missing(const Figure* base, const Figure* tree) {
    if (base == nullptr || tree == nullptr) {
        return base == nullptr ? "not measured for BASE" : "not measured for the working tree";
    }
    if (!base->why.empty() || !tree->why.empty()) {
        return base->why.empty() ? "the working tree: " + tree->why : "BASE: " + base->why;
    }
    return base->unit == tree->unit ? "" : "units differ: " + base->unit + " and " + tree->unit;
}

ComparedRow row_of(const Figure& figure, const char* quantile, const std::vector<Round>& rounds) {
    ComparedRow row{
        .part = figure.part, .name = figure.name, .quantile = quantile, .unit = figure.unit, .rounds = rounds.size()};
    for (const auto& round : rounds) {
        row.base_samples += round.base.size();
        row.tree_samples += round.tree.size();
    }
    return row;
}

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::more:
            return "more";
        case Verdict::less:
            return "less";
        case Verdict::no_difference:
            return "no difference seen";
        case Verdict::too_few_rounds:
            return "too few rounds";
        case Verdict::incomparable:
            return "not compared";
    }
    return "";
}

}  // namespace

std::vector<ComparedRow> compare_rounds(const std::vector<std::vector<Figure>>& base,
                                        const std::vector<std::vector<Figure>>& tree) {
    std::vector<ComparedRow> rows;
    for (const auto& figure : all_of(base, tree)) {
        std::vector<Round> rounds;
        std::string why;
        for (std::size_t i = 0; i < std::min(base.size(), tree.size()); i++) {
            const auto* of_base = find(base[i], figure);
            const auto* of_tree = find(tree[i], figure);
            if (auto lacks = missing(of_base, of_tree); !lacks.empty()) {
                why = std::move(lacks);
                continue;
            }
            rounds.push_back({of_base->samples, of_tree->samples});
        }
        auto median = row_of(figure, "median", rounds);
        median.compared = compare_medians(rounds);
        if (median.compared.verdict == Verdict::incomparable) {
            median.why = rounds.empty() ? why : "a median is zero";
        }
        rows.push_back(std::move(median));
        auto p99 = row_of(figure, "p99", rounds);
        p99.compared = compare_p99(rounds);
        if (p99.compared.verdict != Verdict::incomparable) {
            rows.push_back(std::move(p99));
        }
    }
    return rows;
}

std::string word_for(const ComparedRow& row) {
    const bool time = row.unit == "us" || row.unit == "ms";
    if (time && row.compared.verdict == Verdict::more) {
        return "slower";
    }
    return time && row.compared.verdict == Verdict::less ? "faster" : verdict_name(row.compared.verdict);
}

std::string table_of(const std::vector<ComparedRow>& rows) {
    const auto label = [](const ComparedRow& row) { return row.part + ": " + row.name + ", " + row.quantile; };
    std::size_t longest = 0;
    for (const auto& row : rows) {
        longest = std::max(longest, label(row).size());
    }
    const int width = static_cast<int>(std::min<std::size_t>(longest, 80));
    std::array<char, 256> line{};
    (void)std::snprintf(line.data(), line.size(), "  %-*s %11s %11s %7s   %-15s  %s\n", width, "", "BASE", "tree",
                        "ratio", "95 % interval", "verdict");
    std::string table = line.data();
    for (const auto& row : rows) {
        const auto& [base, tree, ratio, interval, verdict] = row.compared;
        if (!row.why.empty()) {
            (void)std::snprintf(line.data(), line.size(), "  %-*s not compared: %s", width, label(row).c_str(),
                                row.why.c_str());
        } else {
            (void)std::snprintf(line.data(), line.size(), "  %-*s %11s %11s %7.3f   %.3f to %.3f   %s", width,
                                label(row).c_str(), say(base, row.unit).c_str(), say(tree, row.unit).c_str(), ratio,
                                interval.low, interval.high, word_for(row).c_str());
        }
        table += line.data();
        table += '\n';
    }
    return table;
}

nlohmann::ordered_json document_of(const std::vector<ComparedRow>& rows, const std::string& command) {
    nlohmann::ordered_json document{{"seed", resampling_seed}, {"resamples", resamples}};
    auto& figures = document["figures"] = nlohmann::ordered_json::array();
    for (const auto& row : rows) {
        nlohmann::ordered_json json{
            {"part", row.part}, {"name", row.name}, {"quantile", row.quantile}, {"rounds", row.rounds}};
        if (!row.why.empty()) {
            json["why"] = row.why;
        } else {
            json["unit"] = row.unit;
            json["base"] = {{"count", row.base_samples}, {"value", row.compared.base}};
            json["tree"] = {{"count", row.tree_samples}, {"value", row.compared.tree}};
            json["ratio"] = row.compared.ratio;
            json["interval"] = {row.compared.interval.low, row.compared.interval.high};
            json["verdict"] = word_for(row);
        }
        json["command"] = command + " PARTS=" + row.part;
        figures.push_back(std::move(json));
    }
    return document;
}

}  // namespace evictd::bench
