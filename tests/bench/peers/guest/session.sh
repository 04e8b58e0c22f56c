#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The guest's part of the comparison: plays the plan, run by run, and sends what was seen to the host, raw. It judges nothing.
# Of a run nothing is left when the next begins. A plan's line: ID CONTENDER CASE ROUND.
set -uo pipefail
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=pods.sh
. "$here/pods.sh"
# shellcheck source-path=SCRIPTDIR source=contenders.sh
. "$here/contenders.sh"
report=/dev/vport1p1
[ -e "$report" ] || report=$(echo /dev/vport*p1)
tracer=/sys/kernel/tracing/instances/peers
settle=1 # s between "everybody is ready" and the quiet samples
export PATH=/run/peers-bin:$PATH

say() { echo "peers: $*"; }

prepare() {
    mkdir -p /run/peers-bin "$tracer"
    cp /peers/bin/* /run/peers-bin/
    echo 1000 > "$tracer/buffer_size_kb"
    echo mono > "$tracer/trace_clock" # CLOCK_MONOTONIC, the observer's
    echo '(sig == 9 || sig == 15) && comm == "vm_load"' > "$tracer/events/signal/signal_generate/filter"
    echo 1 > "$tracer/events/signal/signal_generate/enable"
    echo 1 > "$tracer/events/oom/mark_victim/enable"
}

versions() {
    echo "@@ run versions"
    echo "kernel $(uname -r)"
    dpkg-query -W -f='${Package} ${Version}\n' earlyoom oomd systemd-oomd nohang python3 systemd
    evictd --version | sed 's/^evictd */evictd /'
    echo "memory $((capacity / mib)) MiB"
    echo "@@ end versions"
}

oom_kills() { sed -n 's/^oom_kill //p' /proc/vmstat; }

# Daemon's cost while nothing happens, with all pods there.
idle() { # idle SECONDS
    local before after
    [ -n "$daemon" ] || return 0
    before=$(cpu_ns "$daemon")
    sleep "$1"
    after=$(cpu_ns "$daemon")
    echo "idle_s $1"
    echo "idle_cpu_ns $((after - before))"
}

grow() { # grow LIMIT-MS PATIENCE-MS: the run proper
    local before oom cpu=0
    oom=$(oom_kills)
    [ -z "$daemon" ] || before=$(cpu_ns "$daemon")
    : > "$tracer/trace"
    peers_observer --out /run/peers.csv --pod "$hog_cgroup" --go "$loads/go" --trace "$tracer" --kill "$slice/cgroup.kill" \
        --processes "$hog_processes" --limit-ms "$1" --patience-ms "$2" || echo "error observer"
    [ -z "$daemon" ] || cpu=$(($(cpu_ns "$daemon") - before))
    echo "oom_kills $(($(oom_kills) - oom))"
    [ -z "$daemon" ] || echo "cpu_ns $cpu"
}

play() { # play CONTENDER CASE
    local limit=15000 # ms; the poller's period, the growth before, and the kernel's dying
    local patience=3000 # ms; without busy CPUs the slowest right answer took a third of it
    make_pods "$2" || return 1
    start "$1" || return 1
    if [ "$2" = busy ]; then
        limit=30000 patience=12000
        work || return 1
    fi
    sleep "$settle"
    [ -z "$daemon" ] || echo "rss_idle_kib $(status_kib "$daemon" VmRSS)"
    if [ "$2" = idle ]; then
        idle 11
    else
        who_is_who
        grow "$limit" "$patience"
        [ -z "$daemon" ] || echo "rss_most_kib $(status_kib "$daemon" VmHWM)"
        [ "$1" != evictd ] || sed -n '/"Evict/s/^/event /p' /run/evictd-events.jsonl # its own account, for whoever doubts
        cat /run/peers.csv
    fi
}

run() { # run ID CONTENDER CASE ROUND
    local status=0 begin=$SECONDS
    contender=$2
    rm -f /run/peers.csv
    : > "$out"
    play "$2" "$3" > /run/peers.report || status=$?
    if [ "$status" -eq 0 ]; then
        {
            echo "@@ run $1"
            echo "contender $2"
            echo "case $3"
            echo "round $4"
            cat /run/peers.report
            echo "@@ end $1"
        } > "$report"
    else # nothing was measured: the host has it played again
        say "$1 failed, and this is the last that $2 said:"
        tail -n 20 "$out" | while IFS= read -r line; do say "    $line"; done
    fi
    stop "$2"
    end_pods
    say "$1 $((SECONDS - begin)) s"
}

main() {
    local id name what round
    say "up after $(cut -d ' ' -f 1 /proc/uptime) s"
    prepare
    versions > "$report"
    while read -r id name what round <&3; do run "$id" "$name" "$what" "$round"; done 3< /peers/plan
    say "done"
}
contender="" daemon=""
main
