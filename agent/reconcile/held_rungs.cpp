// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/held_rungs.hpp"

#include <optional>
#include <sstream>

#include "reconcile/ledger_file.hpp"

namespace evictd::reconcile {
namespace {

constexpr const char* rungs_head = "evictd rungs 1";

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

std::string what_was_done(const HeldRung& held) {
    return held.kind == RungKind::freeze
               ? "thawed " + held.place.path
               : "set memory.high of " + held.place.path + " back to " + limit_text(held.before);
}

}  // namespace

std::string held_text(const std::vector<HeldRung>& held, const std::string& boot) {
    std::ostringstream text;
    text << rungs_head << "\nboot " << boot << '\n';
    for (const auto& rung : held) {
        text << name(rung.kind) << ' ' << rung.place.id.value << ' ' << rung.ours.value << ' ' << rung.before.value
             << ' ' << rung.place.path << '\n';
    }
    return text.str();
}

HeldLedger held_from(const std::string& text, const std::string& boot) {
    HeldLedger ledger;
    const auto note = [&](const std::string& fault) { ledger.fault = ledger.fault.empty() ? fault : ledger.fault; };
    if (text.empty() || text.back() != '\n') {
        note("truncated");
    }
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != rungs_head || !std::getline(lines, line) || !line.starts_with("boot ")) {
        note("invalid header");
        return ledger;
    }
    if (line != "boot " + boot) {
        ledger.is_of_another_boot = true;
        return ledger;
    }
    for (int number = 3; std::getline(lines, line); number++) {
        auto held = lines.eof() ? std::nullopt : held_line(line);  // without an end, a line may be half of one
        if (held) {
            ledger.held.push_back(std::move(*held));
        } else {
            note("invalid line " + std::to_string(number));
        }
    }
    return ledger;
}

std::string victims_path(const std::string& rungs_path) { return rungs_path + ".victim"; }

Status remember_held(const std::string& path, const std::vector<HeldRung>& held) {
    return write_ledger(path, held.empty() ? "" : held_text(held, boot_id()));
}

Result<HeldLedger> remembered_held(const std::string& path) {
    const auto text = read_ledger(path);
    if (!text) {
        return tl::unexpected(text.error());
    }
    return *text ? held_from(**text, boot_id()) : HeldLedger{};
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
        return "memory.high was changed to " + limit_text(*now) + " meanwhile, and is left at that";
    }
    const auto set = controls.set_limit(held.place, held.before);
    return set ? Result<std::string>("") : unless_gone(set.error());
}

namespace {

// False: it has to be tried again.
bool put_back_one(const port::PodControls& controls, const HeldRung& held, PutBack& result) {
    const auto back = put_back(controls, held);
    if (!back) {
        result.failed.push_back({back.error().kind, held.place.path, back.error().text(), ""});
        return false;
    }
    if (back->empty()) {
        result.done.push_back(what_was_done(held));
    } else {
        result.left.push_back(held.place.path + ": " + *back);
    }
    return true;
}

}  // namespace

PutBack put_back_all(const port::PodControls& controls, const std::string& path) {
    PutBack result;
    auto ledger = remembered_held(path);
    if (!ledger) {
        result.failed.push_back(ledger.error());
        return result;
    }
    std::vector<HeldRung> left;
    for (auto& held : ledger->held) {
        if (!put_back_one(controls, held, result)) {
            left.push_back(std::move(held));
        }
    }
    if (!ledger->fault.empty()) {
        const auto aside = set_aside(path);
        result.failed.push_back({ErrorKind::invalid, path, ledger->fault,
                                 aside ? "look at " + path + ".broken and at the pods' memory.high and freezers" : ""});
    }
    if (ledger->is_of_another_boot) {
        result.left.push_back(path + " is from another boot");
    }
    if (auto forgotten = remember_held(path, left); !forgotten) {
        result.failed.push_back(forgotten.error());
    }
    return result;
}

PutBack put_back_with_victims(const port::PodControls& controls, const std::string& rungs_path) {
    auto result = put_back_all(controls, rungs_path);
    result.add(put_back_all(controls, victims_path(rungs_path)));
    return result;
}

}  // namespace evictd::reconcile
