#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# From exec to the first answer of `evictd status`, that command included. Each agent is started STARTS times, in turns with the
# others, and asked as soon as its socket is there. It has no pods, and touches nothing. At SCHED_FIFO 1, so that ordinary
# processes do not take the CPUs. Prints one line for each agent: the median and the first and third quartile. With two agents
# also the differences of the pairs. As root.
# usage: start.sh [EVICTD...]     (build/evictd)     env: STARTS (41), SAMPLES (a file for the microseconds of the first agent)
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
[ $# -gt 0 ] || set -- "$top/build/evictd"
starts=${STARTS:-41}
for agent in "$@"; do [ -x "$agent" ] || die "no program $agent"; done
[ "$(id -u)" -eq 0 ] || die "needs root"

work=$(mktemp -d "${TMPDIR:-/tmp}/evictd-start.XXXXXX")
bpffs=/sys/fs/bpf/$(basename "$work" | tr . -)
pid=
end_agent() {
    [ -n "$pid" ] || return 0
    kill "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
    pid=
}
trap 'end_agent; rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/pods" "$work/state"
cat > "$work/config.yaml" << END
evictionHard: {memory.available: 1Mi}
cgroupRoot: /$(basename "$bpffs")-none
evictd:
  dryRun: true
  socketPath: $work/evictd.sock
  statePath: $work/state
  bpffsPath: $bpffs
  podManifestPath: $work/pods
  eventLog: {path: $work/events.jsonl, stdout: false}
END

mkfifo "$work/silence" && exec {silence}<> "$work/silence"
start() { # start EVICTD: how long in $took, in microseconds
    local began tries=0
    rm -f "$work/evictd.sock"
    began=${EPOCHREALTIME//[!0-9]/}
    "$1" run --config "$work/config.yaml" > "$work/out" 2>&1 &
    pid=$!
    until [ -S "$work/evictd.sock" ]; do # without a process that would take the agent's time
        if ! kill -0 "$pid" 2> /dev/null || [ $((tries++)) -ge 10000 ]; then die "$1 does not start: $(tail -n 1 "$work/out")"; fi
        read -rt 0.001 -u "$silence"
    done
    "$1" status --socket "$work/evictd.sock" > /dev/null || die "$1 does not answer: $(tail -n 1 "$work/out")"
    took=$((${EPOCHREALTIME//[!0-9]/} - began))
    end_agent
}
chrt -f -p 1 $$ || die "no real-time priority here"
for ((turn = 0; turn < starts; turn++)); do
    for ((i = 0; i < $#; i++)); do
        number=$(((turn + i) % $#)) # another one begins each turn
        start "${*:number + 1:1}"
        echo "$took" >> "$work/took.$number"
    done
done
[ -z "${SAMPLES:-}" ] || cp -- "$work/took.0" "$SAMPLES"
quartiles() { sort -n "$1" | awk '{ v[NR] = $1 / 1000 } END { printf "%.1f (%.1f to %.1f)", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)] }'; }
for ((number = 0; number < $#; number++)); do echo "${*:number + 1:1}: $(quartiles "$work/took.$number") ms"; done
if [ $# -eq 2 ]; then
    paste "$work/took.0" "$work/took.1" | awk '{ print $1 - $2 }' > "$work/difference"
    echo "first minus second, pair by pair: $(quartiles "$work/difference") ms"
fi
