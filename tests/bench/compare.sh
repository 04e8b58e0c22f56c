#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Is the working tree slower than a commit? Builds BASE below $BUILD/compare, runs both agents in turns (base tree, tree
# base, ...) and prints each figure's ratio with its interval; the same as $BUILD/bench-compare.json. The benchmark program
# of the working tree measures both agents; what is linked into a benchmark program (decide, usage) each side measures with
# its own. BASE's sources and build are removed afterwards. As root.
# Exit: 0 compared, whatever the verdict, 2 it could not be, 130 interrupted.
# usage: compare.sh BASE     env: BUILD (build), ROUNDS (10), PARTS="latency-110 latency-1000 idle decide" (these; also
#        latency-10 latency-slow latency-busy usage), BUILD_TYPE JOBS CMAKE_ARGS (of both builds)
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=machine.sh
. "$(dirname "$0")/machine.sh"
fail() { echo "bench-compare: $*" >&2; exit 2; }

base=${1:-} rounds=${ROUNDS:-10}
[ -n "$base" ] || fail "which commit? (usage: make bench-compare BASE=COMMIT [ROUNDS=10] [PARTS=\"latency-110 ...\"])"
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "ROUNDS=$rounds is not a number of rounds"
read -ra parts <<< "${PARTS:-latency-110 latency-1000 idle decide}"
for part in "${parts[@]}"; do
    [[ " latency-10 latency-110 latency-1000 latency-slow latency-busy idle usage decide " == *" $part "* ]] ||
        fail "cannot compare '$part' (PARTS: latency-10 latency-110 latency-1000 latency-slow latency-busy idle usage decide)"
done
repository -C "$top" rev-parse --git-dir > /dev/null 2>&1 || fail "$top is not a git repository"
commit=$(commit_of "$base") || fail "no commit '$base' in $top (git log --oneline lists them; a shallow clone lacks old ones)"
build=$(realpath "${BUILD:-$top/build}") || fail "no build directory"
[ -x "$build/evictd_node_bench" ] || fail "no $build/evictd_node_bench (run: make bench-compare BASE=$base)"
out=$build/compare
mkdir -p "$out"
exec 9> "$out/lock"
flock -n 9 || fail "another bench-compare runs in $out"

running=
clean_up() {
    trap '' INT TERM HUP
    if [ -n "$running" ]; then # its own signal handlers remove its pods and agents
        kill -TERM -- "-$running" 2> /dev/null
        wait "$running" 2> /dev/null
    fi
    rm -rf -- "$out/base"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# In the background, because bash handles a signal only when what it waits for in the foreground has ended; in a process
# group, so that compilers end too.
watched() { # watched COMMAND...
    local status=0
    set -m
    "$@" 9>&- < /dev/null &
    running=$!
    set +m
    wait "$running" || status=$?
    running=
    return "$status"
}

# A copy of the commit's files instead of a git worktree: root leaves nothing in a user's .git, whatever ends it. Always in
# the same place, so that ccache knows the files of the last time.
build_base() {
    local source=$out/base targets=(evictd)
    [[ " ${parts[*]} " != *" decide "* ]] || targets+=(evictd_bench)
    [[ " ${parts[*]} " != *" usage "* ]] || targets+=(evictd_node_bench)
    rm -rf -- "$source"
    mkdir -p "$source"
    repository -C "$top" archive "$commit" | tar -x -C "$source" || fail "cannot unpack $base"
    echo "bench-compare: building ${commit:0:12} (log: $out/base-build.log)"
    watched "$source/tests/tools/build.sh" "$source/build" "${targets[@]}" > "$out/base-build.log" 2>&1 && return
    grep -nE 'error|FAILED' "$out/base-build.log" | head -n 5 >&2
    fail "BASE ${commit:0:12} does not build here (log: $out/base-build.log)"
}

own_figures() { # own_figures SIDE BUILD FILE: what each side's own programs measure
    local raw=$out/$1
    if [[ " ${parts[*]} " == *" decide "* ]]; then
        watched "$2/evictd_bench" --benchmark_filter='^decide' --benchmark_min_time=0.05 --benchmark_format=csv \
            > "$raw/decide.csv" 2> "$raw/decide.err"
        "$top/tests/bench/decide_figures.sh" < "$raw/decide.csv" >> "$3"
    fi
    if [[ " ${parts[*]} " == *" usage "* ]]; then
        rm -f "$raw/usage-asleep.csv"
        watched "$2/evictd_node_bench" "$2/evictd" "$raw" --quick usage > "$raw/usage.txt" 2>&1
        if [ -s "$raw/usage-asleep.csv" ]; then
            awk -F, 'NR > 1 { s = s "\t" $1 } END { print "usage\tBPF iterator, pods asleep\tus" s }' "$raw/usage-asleep.csv" >> "$3"
        else
            printf 'usage\tBPF iterator, pods asleep\t!\tits evictd_node_bench wrote no usage-asleep.csv\n' >> "$3"
        fi
    fi
}

turn() { # turn SIDE BUILD ROUND: adds SIDE-ROUND.tsv
    local file=$out/$1-$3.tsv part node=()
    mkdir -p "$out/$1"
    rm -f "$out/$1/figures.tsv"
    for part in "${parts[@]}"; do case $part in decide | usage) ;; *) node+=("$part") ;; esac; done
    if [ ${#node[@]} -gt 0 ]; then
        watched "$build/evictd_node_bench" "$2/evictd" "$out/$1" --turn "${node[@]}" > "$out/$1-$3.txt" 2>&1
    fi
    # Counts are no speeds: whether the right pod was evicted is in the .txt.
    { [ ! -e "$out/$1/figures.tsv" ] || awk -F '\t' '$3 != "runs"' "$out/$1/figures.tsv"; } > "$file.new"
    own_figures "$1" "$2" "$file.new"
    mv -- "$file.new" "$file"
    grep -q 'MISSED$' "$out/$1-$3.txt" 2> /dev/null && grep 'nobody else died.*MISSED\|OOM kills.*MISSED' "$out/$1-$3.txt" |
        sed "s/^ */  $1, round $3: /"
    # What fails in the first round fails in all of them.
    if [ "$3" -eq 1 ] && ! awk -F '\t' '$3 != "!" { found = 1 } END { exit !found }' "$file"; then
        fail "nothing could be measured with $2/evictd: $(head -n 1 "$file" | cut -f 1,4 | tr '\t' ' ')"
    fi
    return 0
}

main() {
    local round side begin=$SECONDS facts
    mapfile -t facts < <(echo "date=$(date -u +'%FT%TZ')"; tree_facts "tree."; echo "base.commit=$commit"
        echo "base.named=$base"; machine_facts; echo "rounds:=$rounds")
    build_base
    rm -f "$out"/{base,tree}-*.{tsv,txt} "$build/bench-compare.json"
    echo "bench-compare: BASE ${commit:0:12} ($(repository -C "$top" log -1 --format=%s "$commit")) against the working tree, $(tree_name)"
    machine_lines
    echo "  parts    ${parts[*]}; $rounds rounds in turns (base tree, tree base, ...)"
    for ((round = 1; round <= rounds; round++)); do
        if ((round % 2)); then set -- base tree; else set -- tree base; fi
        for side in "$@"; do
            turn "$side" "$([ "$side" = base ] && echo "$out/base/build" || echo "$build")" "$round"
        done
        [ "$round" -ne 1 ] || echo "  the first round took $((SECONDS - begin)) s with the build"
    done
    "$build/evictd_bench_figures" compare "$out" "$build/bench-compare.json" "make bench-compare BASE=${commit:0:12} ROUNDS=$rounds" \
        "format:=1" "${facts[@]}" "machine.load_after=$(load)" || fail "the figures cannot be compared"
    echo "  a verdict is the interval's alone; of equal programs' medians 1 in 18, of p99 1 in 14 shows one by chance"
    echo "  load $(load) at the end, $((SECONDS - begin)) s; raw results in $out, figures in $build/bench-compare.json"
}

main
