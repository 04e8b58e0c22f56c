// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The one way an operation fails: a value. What is merely absent is an std::optional, never an Error.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace evictd {

enum class ErrorKind {
    failed,         // the operation was tried and failed
    invalid,        // what we were given is wrong
    not_permitted,  // the privilege is missing
    vanished,       // it went away while we looked: news, not a fault
    unreachable,    // a peer (agent, runtime, API server) does not answer
    exhausted,      // the machine has no descriptor, process or memory left for it: it may work in a moment
};

// Printed as `what: why (remedy)`. `what` names the thing worked on, `why` the fault, `remedy` what a person can do.
struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string what;
    std::string why;
    std::string remedy;

    [[nodiscard]] std::string text() const {
        return what + ": " + why + (remedy.empty() ? std::string{} : " (" + remedy + ")");
    }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string why,
                                                std::string remedy = {}) {
    return tl::unexpected<Error>(Error{kind, std::move(what), std::move(why), std::move(remedy)});
}

}  // namespace evictd
