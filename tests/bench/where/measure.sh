#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Where the time of a tick goes: probes on the agent's functions while evictd_node_bench has it evict one hog after another,
# then counts of allocations, system calls and faults, then samples of what runs. Needs root, linux-perf, and a kernel with
# uprobes. Prints three tables; perf's files stay in DIRECTORY. The probes slow the agent: what a pair of them costs is what
# carry_out takes in ticks that kill nothing.
# usage: measure.sh 10|110|1000 DIRECTORY     env: BUILD (build)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=trace.sh
. "$(dirname "$0")/trace.sh"
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 2 ] || [[ ! $1 =~ ^(10|110|1000)$ ]]; then
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
fi
need perf linux-perf
build=$(realpath "${BUILD:-$top/build}") pods=$1
mkdir -p "$2"
out=$(realpath "$2")
group=evictd_where$$
need_uprobes
clean_up() { end_bench; remove_probes; }
trap clean_up EXIT
trap 'exit 130' INT TERM

phases=(tick look iter meminfo settle join decide carry reconcile remember publish rehearse)
symbols=(app5Agent4tickE observe8Observer4lookE kernel9UsageIter4readE kernel9ProcFiles4readEb observe10CacheCheck6settleE
    observe13observed_podsE policy6decideE act8Executor9carry_outE app5Agent9reconcileE app5Agent8rememberE
    app5Agent7publishE app5Agent13rehearse_overE)
for i in "${!phases[@]}"; do probe "${phases[i]}" "$build/evictd" "^_ZN6evictd[0-9]*${symbols[i]}" return; done
libc=$(ldd "$build/evictd" | awk '/libc\.so/ { print $3 }')
libc=$(realpath "$libc")
for name in malloc realloc; do probe "lc_$name" "$libc" "^$name@@"; done

start_bench "latency-$pods"
sleep 3 # starting is not running
echo "$pods pods, kernel $(uname -r), load $(cut -d ' ' -f 1-3 /proc/loadavg)"

record() { # record FILE SECONDS EVENT...: of the main thread; names without a colon are probes
    local file=$out/$1.data seconds=$2 event chosen=()
    shift 2
    for event in "$@"; do
        case $event in *:* | cpu-clock) ;; *) event=$group:$event ;; esac
        chosen+=(-e "$event")
    done
    perf record -q -o "$file" ${often[@]+"${often[@]}"} "${chosen[@]}" -t "$agent" -- sleep "$seconds"
}
both=() often=()
for name in "${phases[@]}"; do both+=("$name" "${name}_r"); done
record phases 14 "${both[@]}"
record counts 8 tick tick_r look_r decide_r carry_r rehearse rehearse_r lc_malloc lc_realloc \
    raw_syscalls:sys_enter exceptions:page_fault_user sched:sched_switch
often=(-F 20000) # not before: of probes it would leave some out
record samples 14 cpu-clock tick tick_r
script() { perf script -i "$out/$1.data" -F "$2" --ns 2> /dev/null | sed "s/$group://"; }
echo && echo "time of each phase, us" && script phases time,event,trace | awk -f "$here/quantile.awk" -f "$here/phases.awk"
echo && echo "counts in each phase, a tick" && script counts time,event,trace | awk -f "$here/counts.awk" | sort
echo && echo "what runs in a tick" && script samples time,event,ip,sym | awk -f "$here/samples.awk" | sort -rn | head -n 30
wait "$running" || true
running=
