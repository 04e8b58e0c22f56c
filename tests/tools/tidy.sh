#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the agent, a process for each CPU. The compilation database is the build's (BPF's header is in it).
# usage: tidy.sh [FILE...]     env: BUILD JOBS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need clang-tidy clang-tidy
cd "$top"
build=${BUILD:-build}
[ -r "$build/compile_commands.json" ] || die "no $build/compile_commands.json (run: make build)"
[ $# -gt 0 ] || mapfile -d '' -t files < <(find agent -name '*.cpp' -print0 | sort -z)
[ $# -eq 0 ] || files=("$@")

# A header's fault is reported with every file that includes it: each once is enough.
once() {
    awk '/^[^ ].*:[0-9]+:[0-9]+: (error|warning):/ { shown = !seen[$0]++ } shown'
}

# The database speaks g++; clang may not know every warning it names.
begin=$SECONDS
if printf '%s\0' "${files[@]}" | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" \
    clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2> /dev/null | once; then
    echo "tidy: ${#files[@]} files, nothing to say ($((SECONDS - begin)) s)"
else
    die "see above (${#files[@]} files, $((SECONDS - begin)) s)"
fi
