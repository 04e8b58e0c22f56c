#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Builds every tests/fuzz/*.cpp with clang's libFuzzer, ASan and UBSan and runs each for FUZZ_SECONDS. What it finds worth
# keeping goes into build/fuzz/corpus; tests/fuzz/corpus/<name> holds the seeds and is left as it is. The agent's libraries
# are those of the unit tests with ASan: compiled once for both.
# usage: fuzz.sh [NAME...]     env: FUZZ_SECONDS (60) BUILD JOBS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need clang++ clang
cd "$top"
dir=${BUILD:-build}/fuzz
if [ $# -eq 0 ]; then
    for file in tests/fuzz/*.cpp; do [ -e "$file" ] && set -- "$@" "$(basename "$file" .cpp)"; done
fi
[ $# -gt 0 ] || die "no fuzzers in tests/fuzz"

programs=${BUILD:-build}/asan
tests/tools/build.sh "$programs" "${@/#/fuzz_}" -- "${with_asan[@]}"
mkdir -p "$dir"

jobs=${JOBS:-$(nproc)}
fuzz() { # fuzz NAME: first over what is known, then on from there
    local name=$1 program seeds log arguments runs
    program=$programs/fuzz_$name
    seeds=tests/fuzz/corpus/$name
    mkdir -p "$dir/corpus/$name"
    log=$dir/$name.log
    arguments=("-max_total_time=${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1
               "-artifact_prefix=$dir/$name-" "$dir/corpus/$name")
    [ ! -d "$seeds" ] || arguments+=("$seeds")
    if without_aslr "$program" "${arguments[@]}" > "$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        [ "${runs:-0}" -gt 0 ] || { echo "not ok fuzz: $name: not one run ($log)"; return 1; }
        echo "ok fuzz: $name: $runs runs in ${FUZZ_SECONDS:-60} s, nothing found"
    else
        echo "not ok fuzz: $name (again: $program $(find "$dir" -maxdepth 1 -name "$name-*" -newer "$program" | head -n 1))
$(tail -n 40 "$log" | sed 's/^/    /')"
        return 1
    fi
}

# Each takes its time whatever it finds: as many at once as there are cores.
failed=0 running=0
for name in "$@"; do
    if [ "$running" -eq "$jobs" ]; then
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    fi
    fuzz "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
done
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
