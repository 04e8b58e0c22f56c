#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What a developer runs before a commit: format, clang-tidy and the unit tests of what changed. Not instead of make test.
# usage: check.sh [COMMIT]     what changed since then (HEAD)     env: BUILD JOBS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
build=${BUILD:-build}
begin=$SECONDS
unknown="git does not say what changed (run: make test)"
named=$(repository diff --name-only --diff-filter=d "${1:-HEAD}" 2> /dev/null) || die "$unknown"
new=$(repository ls-files --others --exclude-standard 2> /dev/null) || die "$unknown"
mapfile -t changed < <(sort -u <<< "$named"$'\n'"$new" | grep .)
[ ${#changed[@]} -gt 0 ] || { echo "check: nothing changed since ${1:-HEAD}"; exit 0; }

of() { # of REGEX: the changed files that match
    printf '%s\n' "${changed[@]}" | grep -E "$1" || true
}
mapfile -t formatted < <(of '\.(c|h|cpp|hpp)$')
mapfile -t agent < <(of '^agent/.*\.cpp$')
mapfile -t folders < <(of '^(agent|tests/unit)/[^/]+/' | sed -E 's,^(agent|tests/unit)/([^/]+)/.*,\2,' | sort -u)

[ ${#formatted[@]} -eq 0 ] || clang-format --style=file --dry-run -Werror "${formatted[@]}" || die "run: make fmt"
units=()
for folder in "${folders[@]}"; do [ ! -d "tests/unit/$folder" ] || units+=("unit_$folder"); done
tests/tools/build.sh "$build" evictd "${units[@]}"
for unit in "${units[@]}"; do
    "$build/$unit" --gtest_brief=1 || die "$unit failed"
done
[ ${#agent[@]} -eq 0 ] || tests/tools/tidy.sh "${agent[@]}"
echo "check: ${#changed[@]} changed files are fine: ${#formatted[@]} formatted, ${#agent[@]} tidy, ${#units[@]} folders' unit tests ($((SECONDS - begin)) s)"
