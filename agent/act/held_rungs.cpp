// SPDX-License-Identifier: Apache-2.0
#include "act/held_rungs.hpp"

#include <optional>
#include <sstream>

#include "act/memory_file.hpp"
#include "sys/file.hpp"

namespace evictd::act {
namespace {

constexpr const char* head = "evictd rungs 1";
constexpr std::size_t most_text = std::size_t{1} << 20U;

std::optional<HeldRung> held_line(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    HeldRung held;
    const bool whole = words >> word >> held.place.id.value >> held.ours.value >> held.before.value &&
                       words.get() == ' ' && std::getline(words, held.place.path) && !held.place.path.empty();
    if (!whole || (word != name(RungKind::squeeze) && word != name(RungKind::freeze))) {
        return std::nullopt;
    }
    held.kind = word == name(RungKind::squeeze) ? RungKind::squeeze : RungKind::freeze;
    return held;
}

std::string limit_text(Bytes limit) { return limit == port::no_limit ? "max" : std::to_string(limit.value); }

}  // namespace

std::string held_text(const std::vector<HeldRung>& held, const std::string& boot) {
    std::ostringstream text;
    text << head << "\nboot " << boot << '\n';
    for (const auto& rung : held) {
        text << name(rung.kind) << ' ' << rung.place.id.value << ' ' << rung.ours.value << ' ' << rung.before.value
             << ' ' << rung.place.path << '\n';
    }
    return text.str();
}

std::vector<HeldRung> held_from(const std::string& text, const std::string& boot) {
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != head || !std::getline(lines, line) || line != "boot " + boot) {
        return {};
    }
    std::vector<HeldRung> all;
    while (std::getline(lines, line)) {
        if (auto held = held_line(line)) {
            all.push_back(std::move(*held));
        }
    }
    return all;
}

std::string victims_path(const std::string& rungs_path) { return rungs_path + ".victim"; }

Status remember_held(const std::string& path, const std::vector<HeldRung>& held) {
    return remember_text(path, held.empty() ? "" : held_text(held, boot_id()));
}

std::vector<HeldRung> remembered_held(const std::string& path) {
    const auto text = sys::read_file(path, most_text);
    return text ? held_from(*text, boot_id()) : std::vector<HeldRung>{};
}

Result<std::string> put_back(const port::PodControls& controls, const HeldRung& held) {
    const auto unless_gone = [](const Error& error) -> Result<std::string> {
        return error.kind == ErrorKind::vanished ? Result<std::string>("") : tl::unexpected(error);
    };
    if (held.kind == RungKind::freeze) {
        const auto thawed = controls.set_frozen(held.place, false);
        return thawed ? Result<std::string>("") : unless_gone(thawed.error());
    }
    const auto now = controls.limit(held.place);
    if (!now) {
        return unless_gone(now.error());
    }
    if (*now == held.before) {
        return std::string();
    }
    if (*now != held.ours) {
        return "memory.high was set to " + limit_text(*now) + " by somebody else, and is left so";
    }
    const auto set = controls.set_limit(held.place, held.before);
    return set ? Result<std::string>("") : unless_gone(set.error());
}

Result<int> put_back_all(const port::PodControls& controls, const std::string& path) {
    std::vector<HeldRung> left;
    std::optional<Error> trouble;
    int done = 0;
    for (auto& held : remembered_held(path)) {
        if (const auto result = put_back(controls, held)) {
            done += result->empty() ? 1 : 0;
            continue;
        } else if (!trouble) {
            trouble = result.error();
        }
        left.push_back(std::move(held));
    }
    if (const auto forgotten = remember_held(path, left); !forgotten && !trouble) {
        trouble = forgotten.error();
    }
    return trouble ? Result<int>(tl::unexpected(*trouble)) : Result<int>(done);
}

}  // namespace evictd::act
