// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What libbpf says while an object is loaded: which program the kernel refused, and the verifier's last line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <bpf/libbpf.h>

namespace evictd::kernel {

struct Refusal {
    std::string program;
    std::string why;  // one line
};

// The program that made libbpf give up, out of its warnings; none: it was not a program's fault.
[[nodiscard]] std::optional<Refusal> refusal_in(std::string_view warnings);
// The last line that says something: of the verifier's log, if there is one, and not its statistics.
[[nodiscard]] std::string last_line(std::string_view warnings);

// Takes libbpf's warnings of this thread while it lives; nothing of them is printed.
class LibbpfLog {
public:
    LibbpfLog();
    ~LibbpfLog();
    LibbpfLog(const LibbpfLog&) = delete;
    LibbpfLog& operator=(const LibbpfLog&) = delete;

    [[nodiscard]] const std::string& text() const { return text_; }

private:
    [[gnu::format(printf, 2, 0)]] static int print(libbpf_print_level level, const char* format, va_list arguments);

    std::string text_;
    libbpf_print_fn_t before_;
};

}  // namespace evictd::kernel
