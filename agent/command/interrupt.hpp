// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Ctrl-C in a verb that is to finish what it has begun and say what it did.
#pragma once

namespace evictd::command {

// From now on the first Ctrl-C or SIGTERM is noted, and a second one ends the program at once.
void note_interrupts();
[[nodiscard]] bool is_interrupted();

}  // namespace evictd::command
