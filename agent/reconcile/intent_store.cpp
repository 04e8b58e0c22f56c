// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_store.hpp"

#include <iterator>
#include <optional>
#include <utility>

#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// The lines that can be read; `fault`: that some cannot, or the file.
std::vector<Intent> ledger_at(const std::string& path, const std::string& boot, std::optional<Error>& fault) {
    const auto text = read_ledger(path);
    if (!text) {
        fault = text.error();
        return {};
    }
    if (!*text) {
        return {};
    }
    auto ledger = intents_from(**text, boot);
    if (!ledger.fault.empty()) {
        fault = Error{ErrorKind::invalid, path, ledger.fault, ""};
    }
    return std::move(ledger.intents);
}

}  // namespace

std::vector<Intent> IntentStore::recover() {
    std::vector<Intent> intents;
    if (file_ != nullptr) {
        intents = file_->read();
        if (file_->torn() > 0) {
            sys::log::warn("intents: ignored " + std::to_string(file_->torn()) +
                           " incomplete entries of an agent that was killed; their pods were not killed");
        }
        if (!file_->set_aside().empty()) {
            sys::log::error("intents: a file of another layout was moved to " + file_->set_aside());
        }
    }
    if (path_.empty()) {
        return newest_of_each(std::move(intents));
    }
    remove_unfinished(path_);
    std::optional<Error> fault;
    auto from_disk = ledger_at(path_, boot_, fault);
    is_another_agents_ = !from_disk.empty();
    std::move(from_disk.begin(), from_disk.end(), std::back_inserter(intents));
    if (fault) {
        const auto aside = set_aside(path_);
        sys::log::error("intents: " + fault->text() + (aside ? "; see " + path_ + ".broken" : ""));
    }
    return newest_of_each(std::move(intents));
}

void IntentStore::apply(const IntentChange& change) {
    keep(change.unfinished);
    for (const auto& [pod, attempt] : change.settled) {
        forget(pod, attempt);
    }
}

void IntentStore::keep(const std::vector<Intent>& unfinished) {
    if (path_.empty()) {
        return forget_answered(unfinished);
    }
    auto text = unfinished.empty() ? std::string() : intents_text(unfinished, boot_);
    if (text != written_ || failed_ || is_another_agents_) {
        const auto written = write_ledger(path_, text);
        if (!written && !failed_) {
            sys::log::error("intents: could not be written to disk, so a reboot would lose them: " +
                            written.error().text());
        }
        failed_ = !written;
        if (!written) {
            return forget_answered(unfinished);
        }
        written_ = std::move(text);
        is_another_agents_ = false;
    }
    for (const auto& intent : unfinished) {
        forget(intent.status.pod, intent.status.attempt);
    }
}

// In memory nothing says that it was answered: the next agent would take it for one that was not.
void IntentStore::forget_answered(const std::vector<Intent>& unfinished) {
    for (const auto& intent : unfinished) {
        if (intent.answered) {
            forget(intent.status.pod, intent.status.attempt);
        }
    }
}

void IntentStore::forget(const PodUid& pod, std::int32_t attempt) {
    if (file_ != nullptr) {
        file_->clear(pod, attempt);
    }
}

PutBack list_intents(const std::string& file_path, const std::string& ledger_path) {
    PutBack result;
    std::optional<Error> fault;
    auto intents = ledger_at(ledger_path, boot_id(), fault);
    if (fault) {
        result.failed.push_back(std::move(*fault));
    }
    if (auto in_memory = IntentFile::read_left(file_path)) {
        std::move(in_memory->begin(), in_memory->end(), std::back_inserter(intents));
    } else {
        result.failed.push_back(in_memory.error());
    }
    for (const auto& [status, noted_at, boot, answered] : newest_of_each(std::move(intents))) {
        result.left.push_back("the eviction of pod " + status.name_space + "/" + status.name + " (" + status.pod.value +
                              ") is not over; the next agent resumes it");
    }
    return result;
}

}  // namespace evictd::reconcile
