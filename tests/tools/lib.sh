# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# What the scripts share: how they fail, and where the project's top is. Sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

die() { # die WHAT...: one line on stderr, exit 1
    echo "${0##*/}: $*" >&2
    exit 1
}

need() { # need COMMAND PACKAGE: name the package now instead of failing half way
    command -v "$1" >/dev/null || die "'$1' is missing: apt-get install $2"
}

sources() { # sources: every C and C++ file of ours, NUL-separated. Not git: root may not read a user's clone through it.
    (cd "$top" && find agent bpf include tests -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0)
}

scripts() { # scripts: every shell script of ours, NUL-separated, told by its first line
    (cd "$top" && find .ci deploy tests -type f -exec grep -lZE -m1 '^(#!.*/(env )?(bash|sh|busybox sh)|# shellcheck shell=)' {} + 2>/dev/null)
}

# Git does not trust a clone that belongs to somebody else, as a user's does when root tests it.
repository() { git -c safe.directory='*' "$@"; }

turn() { # turn COUNT: a number below COUNT. The commit says which, so that a second run plays the same. Outside a repository it fails
    local commit
    commit=$(repository -C "$top" rev-parse HEAD 2> /dev/null) && echo $((16#${commit:0:6} % $1))
}

# Sanitizers want their shadow memory where a kernel with many bits of address randomisation may have put something else.
without_aslr() {
    if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

# What is sanitized is compiled by clang: in half of the time, and as a second opinion. One build serves the unit tests with
# ASan and the fuzzers.
# shellcheck disable=SC2034  # used where this is sourced
sanitized=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
# shellcheck disable=SC2034
with_asan=(-DEVICTD_SANITIZE=address -DEVICTD_FUZZ=ON "${sanitized[@]}")
# shellcheck disable=SC2034
with_tsan=(-DEVICTD_SANITIZE=thread "${sanitized[@]}")
