// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/exit.hpp"

#include <iostream>

namespace evictd::command {

Exit exit_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::unreachable:
            return Exit::unreachable;
        case ErrorKind::not_permitted:
            return Exit::not_permitted;
        default:
            return Exit::no;
    }
}

Exit tell(const Error& error) {
    std::cerr << "evictd: " << error.text() << '\n';
    return exit_of(error.kind);
}

}  // namespace evictd::command
