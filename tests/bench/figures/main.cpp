// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// usage: evictd_bench_figures json FIGURES COMMAND [KEY=TEXT | KEY:=JSON]...           one JSON document
//        evictd_bench_figures rows FIGURES PART                                        its medians, and what lacks
//        evictd_bench_figures compare DIRECTORY JSON COMMAND [KEY=TEXT | KEY:=JSON]... base-1.tsv, tree-1.tsv, ...
// COMMAND: what measures the figures again, without its PARTS. A dot in KEY goes into an object.
// Exit: 0 done, 2 not.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "comparison.hpp"
#include "figures.hpp"

namespace evictd::bench {
namespace {

using Words = std::vector<std::string>;

Result<nlohmann::ordered_json> facts(const Words& words, std::size_t first) {
    auto document = nlohmann::ordered_json::object();
    for (std::size_t i = first; i < words.size(); i++) {
        const auto equals = words[i].find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail(ErrorKind::invalid, words[i], "expected KEY=TEXT or KEY:=JSON");
        }
        const bool json = words[i][equals - 1] == ':';
        std::string pointer = "/" + words[i].substr(0, json ? equals - 1 : equals);
        for (char& c : pointer) {
            c = c == '.' ? '/' : c;
        }
        const auto text = words[i].substr(equals + 1);
        auto value = json ? nlohmann::ordered_json::parse(text, nullptr, false) : nlohmann::ordered_json(text);
        if (value.is_discarded()) {
            return fail(ErrorKind::invalid, words[i], "not JSON");
        }
        document[nlohmann::ordered_json::json_pointer(pointer)] = std::move(value);
    }
    return document;
}

// What comes from the kernel and from git need not be UTF-8.
std::string text_of(const nlohmann::ordered_json& document) {
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Status write_json(const Words& words) {
    auto document = facts(words, 3);
    const auto figures = read_figures(words[1]);
    if (!document || !figures) {
        return tl::unexpected(document ? figures.error() : document.error());
    }
    document->update(document_of(*figures, words[2]));
    (void)std::fputs(text_of(*document).c_str(), stdout);
    return {};
}

Status write_rows(const Words& words) {
    const auto figures = read_figures(words[1]);
    if (!figures) {
        return tl::unexpected(figures.error());
    }
    for (const auto& figure : *figures) {
        if (figure.part == words[2]) {
            const auto said =
                figure.why.empty() ? say(spread_of(figure.samples).median, figure.unit) : "not measured: " + figure.why;
            std::printf("  %-58s %12s\n", figure.name.c_str(), said.c_str());
        }
    }
    return {};
}

Status compare(const Words& words) {
    auto document = facts(words, 4);
    if (!document) {
        return tl::unexpected(document.error());
    }
    std::vector<std::vector<Figure>> base;
    std::vector<std::vector<Figure>> tree;
    const auto file = [&](const char* side, std::size_t round) {
        return words[1] + "/" + side + "-" + std::to_string(round) + ".tsv";
    };
    for (std::size_t round = 1; std::filesystem::exists(file("tree", round)); round++) {
        auto of_base = read_figures(file("base", round));
        auto of_tree = read_figures(file("tree", round));
        if (!of_base || !of_tree) {
            return tl::unexpected(of_base ? of_tree.error() : of_base.error());
        }
        base.push_back(std::move(*of_base));
        tree.push_back(std::move(*of_tree));
    }
    const auto rows = compare_rounds(base, tree);
    document->update(document_of(rows, words[3]));
    (void)std::fputs(table_of(rows).c_str(), stdout);
    std::printf("  bootstrap of the rounds: seed %llu, %zu resamples\n",
                static_cast<unsigned long long>(resampling_seed), resamples);
    std::ofstream out(words[2]);
    out << text_of(*document) << std::flush;
    return out ? Status{} : fail(ErrorKind::failed, words[2], "cannot be written");
}

int run(const Words& words) {
    const std::string verb = words.empty() ? "" : words[0];
    Status done = fail(ErrorKind::invalid, "usage", "evictd_bench_figures json|rows|compare ... (see main.cpp)");
    if (verb == "json" && words.size() >= 3) {
        done = write_json(words);
    } else if (verb == "rows" && words.size() == 3) {
        done = write_rows(words);
    } else if (verb == "compare" && words.size() >= 4) {
        done = compare(words);
    }
    if (!done) {
        std::fprintf(stderr, "evictd_bench_figures: %s\n", done.error().text().c_str());
    }
    return done ? 0 : 2;
}

}  // namespace
}  // namespace evictd::bench

int main(int argc, char** argv) { return evictd::bench::run({argv + 1, argv + argc}); }
