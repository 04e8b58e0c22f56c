#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The numbers, as one report on stdout and as $BUILD/bench.json; raw results and the report stay in $BUILD/bench. As root,
# on an otherwise quiet machine: the report says how quiet it was. Exit: 0 all targets met, 1 one was missed, 2 something
# could not be measured, which the report and the JSON say.
# usage: run.sh     env: BUILD (build), BENCH_QUICK=1 (every part shortened: shows that it works, not what it costs),
#        PARTS="baseline latency-110 latency-1000 latency-slow latency-busy usage idle scale cost start memory-back spike races
#        pagecache decide" (some of them; latency-10 only if named),
#        KEEP=1 (the picture and the table of scale go into tests/bench)
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=machine.sh
. "$(dirname "$0")/machine.sh"
[ "$(id -u)" -eq 0 ] || die "needs root to load BPF and to make cgroups (sudo make bench)"
build=$(realpath "${BUILD:-$top/build}") || die "no build (run: make build)"
for program in evictd evictd_bench evictd_node_bench evictd_bench_figures evictd_memory_back; do
    [ -x "$build/$program" ] || die "no $build/$program (run: make bench)"
done
out=$build/bench
figures=$out/figures.tsv json=$build/bench.json
mkdir -p "$out"
: > "$figures"
rm -f "$json"
quick=() spikes=20 races=50 fills=50 starts=41 rounds=9 seconds=0.1
[ "${BENCH_QUICK:-0}" != 1 ] || quick=(--quick) spikes=3 races=3 fills=2 starts=3 rounds=2 seconds=0.01

read -ra parts <<< "${PARTS:-}"
wanted() { [ ${#parts[@]} -eq 0 ] || [[ " ${parts[*]} " == *" $1 "* ]]; }

# The parts that evictd_node_bench measures. It knows their names and refuses others.
node_parts() {
    local part chosen=()
    for part in ${parts[@]+"${parts[@]}"}; do
        case $part in start | memory-back | spike | races | pagecache | decide) ;; *) chosen+=("$part") ;; esac
    done
    [ ${#parts[@]} -eq 0 ] || [ ${#chosen[@]} -gt 0 ] || return 0
    "$build/evictd_node_bench" "$build/evictd" "$out" ${quick[@]+"${quick[@]}"} ${chosen[@]+"${chosen[@]}"}
}

figure() { # figure PART NAME UNIT SAMPLE...: for the JSON; why there is no sample is in $out/PART.err
    local IFS=$'\t'
    [ $# -gt 3 ] || { unmeasured "$1" "$2" "$(tail -n 1 "$out/$1.err" 2> /dev/null | grep . || echo "no samples")"; return; }
    echo "$*" >> "$figures"
}
unmeasured() { # unmeasured PART NAME WHY: in the report too
    printf '  %s: not measured: %s\n' "$2" "$3"
    printf '%s\t%s\t!\t%s\n' "$1" "$2" "$3" >> "$figures"
}

# `head` is what main said of the machine before the first part began.
picture() {
    printf '%s\n' "$head" | "$top/tests/bench/scale/picture.sh" "$out/scale.csv" "$out" || return 2
    [ "${KEEP:-0}" != 1 ] || cp -- "$out/scale.svg" "$out/scale.md" "$top/tests/bench/"
    echo "  the picture: $out/scale.svg"
}

head_lines() {
    echo "evictd $("$build/evictd" --version | tr -cd '0-9.'): measured $(date -u +'%F %H:%M UTC')${quick[0]:+, shortened}"
    echo "  source   $(tree_name)"
    machine_lines
}

# The demo as a user runs it; its exit status says whether the right pod, and only it, went.
spike() {
    local right=0 oom=0 i
    printf '\n%s\n' "evictd demo --scenario spike, $spikes times"
    : > "$out/spike.jsonl" && : > "$out/spike.err"
    for ((i = 0; i < spikes; i++)); do
        "$build/evictd" demo --scenario spike -o json > "$out/spike.last" 2>> "$out/spike.err" && right=$((right + 1))
        grep -q '"reason":"OOMKilling"' "$out/spike.last" && oom=$((oom + 1))
        cat "$out/spike.last" >> "$out/spike.jsonl"
    done
    rm -f "$out/spike.last"
    # shellcheck disable=SC2046  # words are wanted
    figure spike "first eviction, crossing seen to SIGKILL" us $(totals)
    figure spike "right pod, and only it, of $spikes" runs "$right"
    figure spike "kernel OOM kills, of $spikes" runs "$oom"
    [ -z "$(totals)" ] || told "its first eviction, crossing seen to SIGKILL, median" "$(totals | middle) us"
    judged "the right pod, and only it" "$right of $spikes" all $((right == spikes))
    judged "kernel OOM kills" "$oom" 0 $((oom == 0))
    [ "$right" -eq "$spikes" ] && [ "$oom" -eq 0 ]
}
totals() { sed -n 's/.*"reason":"Evicted".*"total":\([0-9]*\).*/\1/p' "$out/spike.jsonl"; }
told() { printf '  %-58s %12s\n' "$1" "$2"; }
judged() { printf '  %-58s %12s   %-14s %s\n' "$1" "$2" "$3" "$([ "$4" -eq 1 ] && echo met || echo MISSED)"; }
middle() { sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "%.4g", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
limited() { # limited WHAT NUMBER UNIT MOST: judged; fails if it is missed
    local met
    met=$(awk -v number="$2" -v most="$4" 'BEGIN { print number != "" && number + 0 <= most ? 1 : 0 }')
    judged "$1" "$2 $3" "<= $4 $3" "$met"
    [ "$met" = 1 ]
}

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
    figure races "the kernel took the pod ranked first, of $races" runs "$right"
    figure races "without steering the biggest process, of $controls" runs "$other"
    judged "lost races in which the kernel took the pod ranked first" "$right of $races" all $((right == races))
    judged "without steering it took the biggest process" "$other of $controls" all $((other == controls))
    [ "$right" -eq "$races" ] && [ "$other" -eq "$controls" ]
}

# Pods that fill memory with page cache, near every threshold: every eviction is wrong.
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
    figure pagecache "false evictions, of $fills" runs $((fills - spared))
    judged "false evictions on page cache" "$((fills - spared)) of $fills" 0 $((spared == fills))
    [ "$spared" -eq "$fills" ]
}

start() {
    local ms
    printf '\n%s\n' "exec to the first answer of evictd status, $starts times"
    : > "$out/start.us"
    STARTS=$starts SAMPLES=$out/start.us "$top/tests/bench/start.sh" "$build/evictd" > "$out/start.txt" 2> "$out/start.err"
    # shellcheck disable=SC2046  # words are wanted
    figure start "exec to the first answer of status" us $(cat "$out/start.us")
    ms=$(awk '{ print $1 / 1000 }' "$out/start.us" | middle)
    [ -n "$ms" ] || return 2
    limited "median" "$ms" ms 100
}

# The way that evictd takes (memory_back.md), and beside it what the CPUs can do at all. The pod's CPU weight is BestEffort's.
memory_back() {
    local way spinners name ms measured=0 missed=0
    printf '\n%s\n' "SIGKILL until 99 % of a BestEffort pod's memory is free: 1.4 GiB of 4K pages in one process, $rounds times"
    "$build/evictd_memory_back" limit "rounds=$rounds" > "$out/memory-back.limit" 2> "$out/memory-back.err"
    for way in early-fifo+fifo early-fifo+deadline; do # one of them is refused, but where the kernel takes both
        for spinners in 0 "$(nproc)"; do
            "$build/evictd_memory_back" processes=1 pages=4k shares=2 "spinners=$spinners" "rounds=$rounds" \
                "samples=$out/memory-back.ms" "$way" > "$out/memory-back.txt" 2>> "$out/memory-back.err" || : > "$out/memory-back.ms"
            [ "$(wc -w < "$out/memory-back.ms")" -gt 1 ] || continue
            name="as evictd kills, $([ "$spinners" = 0 ] && echo "CPUs idle" || echo "every CPU busy")"
            # shellcheck disable=SC2046  # words are wanted
            figure memory-back "$name" ms $(cut -f 2- "$out/memory-back.ms")
            ms=$(cut -f 2- "$out/memory-back.ms" | tr '\t' '\n' | middle)
            limited "$name, median" "$ms" ms 20 || missed=1
            measured=1
        done
        [ "$measured" = 0 ] || break
    done
    [ "$measured" = 1 ] || { unmeasured memory-back "as evictd kills" "$(tail -n 1 "$out/memory-back.err")"; return 2; }
    sed 's/^/  a process that frees it itself, on /' <(tail -n +2 "$out/memory-back.limit")
    return "$missed"
}

# One decide() by itself: what the kill path spends on thinking. CPU time; five times, so that the JSON has a spread.
decide() {
    local pods most us missed=0
    printf '\n%s\n' "decide(), by the number of pods, and replay"
    "$build/evictd_bench" --benchmark_min_time=$seconds --benchmark_repetitions=5 --benchmark_format=csv \
        > "$out/decide.csv" 2> "$out/decide.err" ||
        { unmeasured decide decide "evictd_bench failed: $(tail -n 1 "$out/decide.err")"; return 2; }
    "$top/tests/bench/decide_figures.sh" < "$out/decide.csv" >> "$figures"
    "$build/evictd_bench_figures" rows "$figures" decide
    while read -r pods most; do
        us=$(awk -F'\t' -v name="decide_evicting, $pods pods" '$2 == name { for (i = 4; i <= NF; i++) print $i }' "$figures" | middle)
        limited "decide_evicting, $pods pods, median" "$us" us "$most" || missed=1
    done <<< $'110 12\n1000 120\n10000 2000'
    return "$missed"
}

write_json() {
    "$build/evictd_bench_figures" json "$figures" "${quick[0]:+BENCH_QUICK=1 }make bench" "format:=1" \
        "version=$("$build/evictd" --version | tr -cd '0-9.')" "${facts[@]}" "machine.load_after=$(load)" \
        "shortened:=$([ ${#quick[@]} -gt 0 ] && echo true || echo false)" > "$json.new" && mv -- "$json.new" "$json"
}

main() {
    local missed=0 head facts
    mapfile -t facts < <(echo "date=$(date -u +'%FT%TZ')"; tree_facts ""; machine_facts)
    head=$(head_lines)
    echo "$head"
    node_parts || missed=$?
    if wanted scale; then picture || missed=2; fi
    if wanted start; then start || missed=$(($? > missed ? $? : missed)); fi
    if wanted memory-back; then memory_back || missed=$(($? > missed ? $? : missed)); fi
    if wanted spike; then spike || missed=$((missed > 1 ? missed : 1)); fi
    if wanted races; then races || missed=$((missed > 1 ? missed : 1)); fi
    if wanted pagecache; then pagecache || missed=$((missed > 1 ? missed : 1)); fi
    if wanted decide; then decide || missed=$(($? > missed ? $? : missed)); fi
    if grep -q $'\t!\t' "$figures"; then missed=2; fi
    write_json || missed=2
    echo
    echo "load $(load) at the end; raw results in $out, figures in $json"
    return "$missed"
}

main | tee "$out/report.txt"
exit "${PIPESTATUS[0]}"
