// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who reads us: a terminal of some width, a pipe that may close, a file on a disk that may be full; and how a verb that
// goes on for ever ends when its reader has had enough.
#pragma once

#include <string>
#include <string_view>

#include "codec/text_style.hpp"
#include "evictd/model/result.hpp"

namespace evictd::command {

// True where colour belongs: on a terminal, and without NO_COLOR.
[[nodiscard]] bool wants_colour(int fd);

// As wide as the terminal behind `fd` is now; coloured and in line-drawing characters only where it shows them.
[[nodiscard]] codec::TextStyle style_of(int fd);
// Lines of the terminal behind `fd`; 0: it is none.
[[nodiscard]] int rows_of(int fd);

// All of it to stdout. An error: the disk is full, or the like. A reader that is gone ends the program, see below.
[[nodiscard]] Status print(std::string_view text);

// From now on Ctrl-C, SIGTERM and a reader that closed the pipe end the program at once with exit code 0, after
// `last_words` (which must live as long as the program) went to stdout. Also while nothing is printed.
void end_quietly(std::string_view last_words);

}  // namespace evictd::command
