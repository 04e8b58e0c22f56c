#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What the slowest evictions waited for: the kernel's trace around each eviction of `make bench PARTS=latency-PODS`. It tells
# what the host took of a virtual machine, which no program in it can win back, from the rest: see slowest.awk. Needs root,
# linux-perf, a kernel with uprobes that reports the CPU time of real-time threads (sched_stat_runtime), and for what the host
# took of a running CPU, CONFIG_PARAVIRT_TIME_ACCOUNTING. With CONFIG_IRQ_TIME_ACCOUNTING that includes interrupts. The trace
# stays in DIRECTORY.
# usage: slowest.sh 110|1000|busy DIRECTORY [SHOWN (10)]     env: BUILD (build)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=trace.sh
. "$(dirname "$0")/trace.sh"
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ] || [ $# -gt 3 ] || [[ ! $1 =~ ^(110|1000|busy)$ ]] || [[ ! ${3:-10} =~ ^[0-9]+$ ]]; then
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
fi
need perf linux-perf
build=$(realpath "${BUILD:-$top/build}")
mkdir -p "$2"
out=$(realpath "$2")
group=evictd_slow$$
need_uprobes
instance=/sys/kernel/tracing/instances/$group
watching=
clean_up() {
    end_bench
    [ -z "$watching" ] || kill "$watching" 2> /dev/null || true
    if [ -d "$instance" ]; then
        echo 0 > "$instance/tracing_on" || true
        echo 0 > "$instance/events/enable" || true
        rmdir "$instance" || true
    fi
    remove_probes
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Only rehearsals are probed: a probe costs microseconds, and none are to be in an eviction.
probe rehearse "$build/evictd" '^_ZN6evictd[0-9]*app5Agent13rehearse_overE' return
mkdir "$instance"
echo mono > "$instance/trace_clock"
echo 16384 > "$instance/buffer_size_kb"
trace() { # trace SUBSYSTEM/EVENT [FILTER]
    [ -z "${2:-}" ] || echo "$2" > "$instance/events/$1/filter"
    echo 1 > "$instance/events/$1/enable"
}
"$build/evictd_slow_memory" > "$out/slow_memory.txt" &
watching=$!
start_bench "latency-$1"
trace sched/sched_waking "pid==$agent" # not sched_wakeup: that is when the woken thread's CPU hears of it
trace sched/sched_switch "prev_pid==$agent||next_pid==$agent"
trace sched/sched_stat_runtime "pid==$agent"
trace signal/signal_generate "sig==9&&common_pid==$agent"
trace "$group/rehearse_r"
status=0
wait "$running" || status=$?
running=
kill "$watching" || die "evictd_slow_memory has ended"
watching=
echo 0 > "$instance/tracing_on"
cat "$instance/trace" > "$out/trace.txt"
! grep -q '^overrun: [1-9]' "$instance"/per_cpu/cpu*/stats || die "the trace has lost events: its buffer is too small"
grep -qm1 ': sched_stat_runtime: ' "$out/trace.txt" || die "this kernel does not report the CPU time of real-time threads"
[ "$status" -le 1 ] || { cat "$out/bench.txt" >&2 && die "evictd_node_bench ended with status $status"; }
if [ "$1" = busy ]; then what="110 pods, every CPU busy"; else what="$1 pods"; fi
echo "$what, kernel $(uname -r), $(nproc) CPUs, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
awk -v agent="$agent" -v shown="${3:-10}" -f "$here/quantile.awk" -f "$here/slowest.awk" \
    "$out/agent/events.jsonl" "$out/slow_memory.txt" "$out/trace.txt"
