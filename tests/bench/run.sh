#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The numbers, as one report on stdout; raw results and the report stay in $BUILD/bench. As root, on an otherwise quiet
# machine: the report says how quiet it was. Exit: 0 all targets met, 1 one was missed, 2 it could not be measured.
# usage: run.sh     env: BUILD (build), BENCH_QUICK=1 (every part shortened: shows that it works, not what it costs),
#        PARTS="latency-110 latency-1000 latency-slow latency-busy usage idle scale cost spike races pagecache decide" (some of them),
#        KEEP=1 (the picture and the table of scale go into tests/bench)
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
[ "$(id -u)" -eq 0 ] || die "needs root to load BPF and to make cgroups (sudo make bench)"
build=$(realpath "${BUILD:-$top/build}") || die "no build (run: make build)"
for program in evictd evictd_bench evictd_node_bench; do
    [ -x "$build/$program" ] || die "no $build/$program (run: make bench)"
done
out=$build/bench
mkdir -p "$out"
quick=() spikes=20 races=50 fills=50 seconds=0.5
[ "${BENCH_QUICK:-0}" != 1 ] || quick=(--quick) spikes=3 races=3 fills=2 seconds=0.05

read -ra parts <<< "${PARTS:-}"
wanted() { [ ${#parts[@]} -eq 0 ] || [[ " ${parts[*]} " == *" $1 "* ]]; }

# What stands in the one program, which knows its parts' names and refuses others.
node_parts() {
    local part chosen=()
    for part in ${parts[@]+"${parts[@]}"}; do
        case $part in spike | races | pagecache | decide) ;; *) chosen+=("$part") ;; esac
    done
    [ ${#parts[@]} -eq 0 ] || [ ${#chosen[@]} -gt 0 ] || return 0
    "$build/evictd_node_bench" "$build/evictd" "$out" ${quick[@]+"${quick[@]}"} ${chosen[@]+"${chosen[@]}"}
}

# `head` is what main said of the machine before the first part began.
picture() {
    printf '%s\n' "$head" | "$top/tests/bench/scale/picture.sh" "$out/scale.csv" "$out" || return 2
    [ "${KEEP:-0}" != 1 ] || cp -- "$out/scale.svg" "$out/scale.md" "$top/tests/bench/"
    echo "  the picture: $out/scale.svg"
}

head_lines() {
    echo "evictd $("$build/evictd" --version | tr -cd '0-9.'): measured $(date -u +'%F %H:%M UTC')${quick[0]:+, shortened}"
    echo "  kernel   $(uname -r)"
    echo "  CPU      $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    echo "  memory   $(($(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1024)) MiB, huge pages$(
        sed 's/.*\[\(.*\)\].*/: \1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
    echo "  load     $(cut -d ' ' -f 1-3 /proc/loadavg) before it began"
}

# The demo as a user runs it; its exit status says whether the right pod, and only it, went.
spike() {
    local right=0 oom=0 i
    printf '\n%s\n' "evictd demo --scenario spike, $spikes times"
    : > "$out/spike.jsonl"
    for ((i = 0; i < spikes; i++)); do
        "$build/evictd" demo --scenario spike -o json > "$out/spike.last" 2>> "$out/spike.err" && right=$((right + 1))
        grep -q '"reason":"OOMKilling"' "$out/spike.last" && oom=$((oom + 1))
        cat "$out/spike.last" >> "$out/spike.jsonl"
    done
    rm -f "$out/spike.last"
    told "its first eviction, crossing seen to SIGKILL, median" "$(totals | sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] " us" }')"
    judged "the right pod, and only it" "$right of $spikes" all $((right == spikes))
    judged "kernel OOM kills" "$oom" 0 $((oom == 0))
    [ "$right" -eq "$spikes" ] && [ "$oom" -eq 0 ]
}
totals() { sed -n 's/.*"reason":"Evicted".*"total":\([0-9]*\).*/\1/p' "$out/spike.jsonl"; }
told() { printf '  %-58s %12s\n' "$1" "$2"; }
judged() { printf '  %-58s %12s   %-14s %s\n' "$1" "$2" "$3" "$([ "$4" -eq 1 ] && echo met || echo MISSED)"; }

# Races that the kernel's OOM killer wins by construction: whom does it take? And whom by itself?
races() {
    local right=0 other=0 controls=$((races / 10 + 1)) i
    printf '\n%s\n' "evictd demo --scenario oomrace, $races times"
    : > "$out/races.jsonl"
    for ((i = 0; i < races; i++)); do
        "$build/evictd" demo --scenario oomrace -o json >> "$out/races.jsonl" 2>> "$out/races.err" && right=$((right + 1))
    done
    for ((i = 0; i < controls; i++)); do
        "$build/evictd" demo --scenario oomrace --no-steering -o json >> "$out/races.jsonl" 2>> "$out/races.err" &&
            other=$((other + 1))
    done
    judged "lost races in which the kernel took the pod ranked first" "$right of $races" all $((right == races))
    judged "without steering it took the biggest process" "$other of $controls" all $((other == controls))
    [ "$right" -eq "$races" ] && [ "$other" -eq "$controls" ]
}

# Pods that fill memory with page cache, near every threshold: whoever goes, goes for nothing.
pagecache() {
    local spared=0 i
    printf '\n%s\n' "evictd demo --scenario pagecache, $fills times"
    : > "$out/pagecache.jsonl"
    for ((i = 0; i < fills; i++)); do
        "$build/evictd" demo --scenario pagecache -o json > "$out/pagecache.last" 2>> "$out/pagecache.err" &&
            ! grep -q '"reason":"Evict' "$out/pagecache.last" && spared=$((spared + 1))
        cat "$out/pagecache.last" >> "$out/pagecache.jsonl"
    done
    rm -f "$out/pagecache.last"
    judged "false evictions on page cache" "$((fills - spared)) of $fills" 0 $((spared == fills))
    [ "$spared" -eq "$fills" ]
}

# One decide() by itself: what the kill path spends on thinking.
decide() {
    printf '\n%s\n' "decide(), by the number of pods, and replay"
    "$build/evictd_bench" --benchmark_min_time=$seconds --benchmark_out="$out/decide.json" --benchmark_out_format=json \
        --benchmark_format=csv 2> "$out/decide.err" | tr -d '"' |
        awk -F, '
            /^decide/ { sub("/", ", ", $1); printf "  %-58s %9.1f us\n", $1 " pods", $4 }
            /^replay/ { sub("_", " of 1,000 steps and 100 pods, as ", $1); printf "  %-58s %9.1f ms\n", $1, $4 }'
}

main() {
    local missed=0 head
    head=$(head_lines)
    echo "$head"
    node_parts || missed=$?
    if wanted scale; then picture || missed=2; fi
    if wanted spike; then spike || missed=$((missed > 1 ? missed : 1)); fi
    if wanted races; then races || missed=$((missed > 1 ? missed : 1)); fi
    if wanted pagecache; then pagecache || missed=$((missed > 1 ? missed : 1)); fi
    if wanted decide; then decide || missed=2; fi
    echo
    echo "load $(cut -d ' ' -f 1-3 /proc/loadavg) at the end; raw results in $out"
    return "$missed"
}

main | tee "$out/report.txt"
exit "${PIPESTATUS[0]}"
