// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/libbpf_log.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

namespace evictd::kernel {
namespace {

// A verifier's log may have megabytes; what counts stands at its end.
constexpr std::size_t kept = std::size_t{64} << 10U;

constexpr std::string_view log_begins = "-- BEGIN PROG LOAD LOG --";
constexpr std::string_view log_ends = "-- END PROG LOAD LOG --";
constexpr std::string_view program_label = "prog '";

thread_local std::string* taken = nullptr;

bool is_statistics(std::string_view line) {
    constexpr std::array<std::string_view, 4> labels{"processed ", "verification time ", "stack depth ",
                                                     "peak_states "};
    return std::any_of(labels.begin(), labels.end(), [&](std::string_view label) { return line.starts_with(label); });
}

std::string_view without_blanks(std::string_view line) {
    const auto begin = line.find_first_not_of(" \t\r");
    const auto end = line.find_last_not_of(" \t\r");
    return begin == std::string_view::npos ? std::string_view{} : line.substr(begin, end - begin + 1);
}

}  // namespace

std::string last_line(std::string_view warnings) {
    const auto end = warnings.rfind(log_ends);
    if (end != std::string_view::npos) {
        const auto begin = warnings.rfind(log_begins, end);
        const auto from = begin == std::string_view::npos ? 0 : begin + log_begins.size();
        // The line that ends the log begins with the program's name.
        const auto line = warnings.rfind('\n', end);
        warnings = warnings.substr(from, line == std::string_view::npos || line < from ? 0 : line - from);
    }
    while (!warnings.empty()) {
        const auto at = warnings.rfind('\n');
        const auto line = without_blanks(at == std::string_view::npos ? warnings : warnings.substr(at + 1));
        if (!line.empty() && !is_statistics(line)) {
            constexpr std::string_view prefix = "libbpf: ";
            return std::string(line.starts_with(prefix) ? line.substr(prefix.size()) : line);
        }
        warnings = at == std::string_view::npos ? std::string_view{} : warnings.substr(0, at);
    }
    return {};
}

// libbpf stops at the first program that fails, and names it in every line about it.
std::optional<Refusal> refusal_in(std::string_view warnings) {
    const auto label = warnings.rfind(program_label);
    if (label == std::string_view::npos) {
        return std::nullopt;
    }
    const auto name = label + program_label.size();
    const auto end = warnings.find('\'', name);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    // Without a verifier's log, the first line about it says why; what follows only says that it failed.
    const auto first = warnings.find(warnings.substr(label, end - label + 1));
    const bool has_log = warnings.find(log_ends) != std::string_view::npos;
    const auto said = has_log ? warnings : warnings.substr(first, warnings.find('\n', first) - first);
    return Refusal{.program = std::string(warnings.substr(name, end - name)), .why = last_line(said)};
}

LibbpfLog::LibbpfLog() : before_(libbpf_set_print(&LibbpfLog::print)) { taken = &text_; }

LibbpfLog::~LibbpfLog() {
    taken = nullptr;
    libbpf_set_print(before_);
}

int LibbpfLog::print(libbpf_print_level level, const char* format, va_list arguments) {
    if (level != LIBBPF_WARN || taken == nullptr) {
        return 0;
    }
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (length <= 0) {
        return 0;
    }
    std::string said(static_cast<std::size_t>(length) + 1, '\0');
    (void)std::vsnprintf(said.data(), said.size(), format, arguments);
    said.pop_back();
    *taken += said;
    if (taken->size() > kept) {
        taken->erase(0, taken->size() - kept);
    }
    return length;
}

}  // namespace evictd::kernel
