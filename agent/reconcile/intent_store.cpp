// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_store.hpp"

#include <iterator>
#include <optional>
#include <utility>

#include "reconcile/ledger_file.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// The lines that can be read; `fault`: that some cannot, or the file.
std::vector<Intent> ledger_at(const std::string& path, std::optional<Error>& fault) {
    const auto text = read_ledger(path);
    if (!text) {
        fault = text.error();
        return {};
    }
    if (!*text) {
        return {};
    }
    auto ledger = intents_from(**text);
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
            sys::log::warn("intents: " + std::to_string(file_->torn()) +
                           " were not noted to their end by an agent that was killed; their pods were not");
        }
        if (!file_->set_aside().empty()) {
            sys::log::error("intents: a file that is not evictd's was moved to " + file_->set_aside());
        }
    }
    if (path_.empty()) {
        return newest_of_each(std::move(intents));
    }
    std::optional<Error> fault;
    auto from_disk = ledger_at(path_, fault);
    std::move(from_disk.begin(), from_disk.end(), std::back_inserter(intents));
    if (fault) {
        const auto aside = set_aside(path_);
        sys::log::error("intents: " + fault->text() + (aside ? "; see " + path_ + ".broken" : ""));
    }
    return newest_of_each(std::move(intents));
}

void IntentStore::keep(const std::vector<Intent>& unanswered) {
    if (path_.empty()) {
        return;
    }
    auto text = unanswered.empty() ? std::string() : intents_text(unanswered);
    if (text != written_ || failed_) {
        const auto written = write_ledger(path_, text);
        if (!written && !failed_) {
            sys::log::error("intents stay in memory, which a reboot ends: " + written.error().text());
        }
        failed_ = !written;
        if (!written) {
            return;
        }
        written_ = std::move(text);
    }
    for (const auto& intent : unanswered) {
        forget(intent.status.pod, intent.status.attempt);
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
    auto intents = ledger_at(ledger_path, fault);
    if (fault) {
        result.failed.push_back(std::move(*fault));
    }
    if (auto in_memory = IntentFile::read_left(file_path)) {
        std::move(in_memory->begin(), in_memory->end(), std::back_inserter(intents));
    } else {
        result.failed.push_back(in_memory.error());
    }
    for (const auto& [status, noted_at] : newest_of_each(std::move(intents))) {
        result.left.push_back("the API server has not confirmed that pod " + status.name_space + "/" + status.name +
                              " (" + status.pod.value + ") is " + status.reason + "; the next agent asks it to");
    }
    return result;
}

}  // namespace evictd::reconcile
