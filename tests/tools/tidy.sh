#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# clang-tidy over the agent, a process for each CPU. The compilation database is one of single files, which the build's is
# not: what a file uses and does not include, and names that hide others, are found here.
# usage: tidy.sh [FILE...]     env: BUILD JOBS; TIDY=part: what the last commits changed, and a thirty-second of the rest
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need clang-tidy clang-tidy
cd "$top"
build=${BUILD:-build}/single
made=$(tests/tools/build.sh "$build" evictd_bpf_skeleton -- -DEVICTD_UNITY=OFF) || die "$made"

# A file takes 5 s of a CPU. A part is what the last commits changed, and of the other files those whose turn it is, by the
# number of commits: each has it within thirty-two. Without git's word, all.
part() { # part FILE...: NUL-separated
    local changed turn number=0 file
    # A commit that touches hundreds of files changes a head or a name in them.
    if ! changed=$(repository log -n 15 --name-only --format=tformat:@ 2> /dev/null | awk -v RS=@ 'NF < 200') || ! turn=$(repository rev-list --count HEAD 2> /dev/null); then
        printf '%s\0' "$@"
        return
    fi
    for file in "$@"; do
        number=$((number + 1))
        if [ $(((number + turn) % 32)) -eq 0 ] || [[ $'\n'$changed$'\n' == *$'\n'$file$'\n'* ]]; then printf '%s\0' "$file"; fi
    done
}
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -d '' -t files < <(find agent -name '*.cpp' -print0 | sort -z)
    all=${#files[@]}
    [ "${TIDY:-}" != part ] || mapfile -d '' -t files < <(part "${files[@]}")
    [ ${#files[@]} -eq "$all" ] || echo "tidy: ${#files[@]} of $all files: those that changed lately and a thirty-second of the rest (make tidy: all)"
fi

# A header's fault is reported with every file that includes it: each once is enough.
once() {
    awk '/^[^ ].*:[0-9]+:[0-9]+: (error|warning):/ { shown = !seen[$0]++ } shown'
}

# The analyzer takes the standard library's functions for opaque: to follow them is two thirds of the time of a file (22 s
# become 3 s for app/agent.cpp), and what they do is not what it is to find.
opaque=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=c++-stdlib-inlining=false)
# The database speaks g++; clang may not know every warning it names.
begin=$SECONDS
if printf '%s\0' "${files[@]}" | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" \
    clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "${opaque[@]}" 2> /dev/null | once; then
    echo "tidy: ${#files[@]} files, nothing to say ($((SECONDS - begin)) s)"
else
    die "see above (${#files[@]} files, $((SECONDS - begin)) s)"
fi
