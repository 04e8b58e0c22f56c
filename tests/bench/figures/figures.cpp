// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "figures.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace evictd::bench {
namespace {

constexpr const char* not_measured = "!";

// The file's own separators; the texts are error messages of any kind.
std::string one_field(std::string text) {
    for (char& c : text) {
        c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
    }
    return text;
}

std::string number(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.9g", value);
    return text.data();
}

}  // namespace

std::string line_of(const Figure& figure) {
    std::string line = one_field(figure.part) + '\t' + one_field(figure.name) + '\t';
    if (!figure.why.empty()) {
        return line + not_measured + '\t' + one_field(figure.why);
    }
    line += one_field(figure.unit);
    for (const double sample : figure.samples) {
        line += '\t' + number(sample);
    }
    return line;
}

Result<Figure> figure_from(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '\t');) {
        fields.push_back(field);
    }
    if (fields.size() < 4) {
        return fail(ErrorKind::invalid, line, "not a figure (expected part, name, unit and samples)");
    }
    Figure figure{fields[0], fields[1], fields[2], {}, {}};
    if (figure.unit == not_measured) {
        figure.unit.clear();
        figure.why = fields[3];
        return figure;
    }
    for (std::size_t i = 3; i < fields.size(); i++) {
        char* end = nullptr;
        const double sample = std::strtod(fields[i].c_str(), &end);
        if (end == fields[i].c_str() || *end != '\0' || !std::isfinite(sample)) {
            return fail(ErrorKind::invalid, figure.part + ", " + figure.name, "not a number: " + fields[i]);
        }
        figure.samples.push_back(sample);
    }
    return figure;
}

Result<std::vector<Figure>> read_figures(const std::string& file) {
    std::ifstream lines(file);
    if (!lines) {
        return fail(ErrorKind::failed, file, "cannot be opened");
    }
    std::vector<Figure> figures;
    for (std::string line; std::getline(lines, line);) {
        auto figure = figure_from(line);
        if (!figure) {
            return tl::unexpected(figure.error());
        }
        figures.push_back(std::move(*figure));
    }
    return figures;
}

nlohmann::ordered_json document_of(const std::vector<Figure>& figures, const std::string& command) {
    auto measured = nlohmann::ordered_json::array();
    auto unmeasured = nlohmann::ordered_json::array();
    for (const auto& figure : figures) {
        nlohmann::ordered_json json{{"part", figure.part}, {"name", figure.name}};
        if (!figure.why.empty()) {
            json["why"] = figure.why;
        } else {
            const auto spread = spread_of(figure.samples);
            json["unit"] = figure.unit;
            json["count"] = figure.samples.size();
            json["median"] = spread.median;
            json["p99"] = nullptr;
            if (figure.samples.size() >= enough_for_p99) {
                json["p99"] = spread.p99;
            }
            json["min"] = spread.min;
            json["max"] = spread.max;
        }
        json["command"] = command + " PARTS=" + figure.part;
        (figure.why.empty() ? measured : unmeasured).push_back(std::move(json));
    }
    return {{"figures", std::move(measured)}, {"unmeasured", std::move(unmeasured)}};
}

std::string say_microseconds(double microseconds) {
    std::array<char, 32> text{};
    if (microseconds < 1000) {
        (void)std::snprintf(text.data(), text.size(), "%.*f us", microseconds < 10 ? 2 : 0, microseconds);
    } else {
        (void)std::snprintf(text.data(), text.size(), "%.2f ms", microseconds / 1000);
    }
    return text.data();
}

std::string say(double value, const std::string& unit) {
    if (unit == "us") {
        return say_microseconds(value);
    }
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), value < 1000 ? "%.3g" : "%.0f", value);
    return text.data() + (unit.empty() ? "" : " " + unit);
}

}  // namespace evictd::bench
