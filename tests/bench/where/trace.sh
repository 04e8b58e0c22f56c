# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# What scripts share that put probes on the agent's functions while evictd_node_bench has it evict one hog after another.
# Sourced, never run, after tests/tools/lib.sh. The caller sets build, out and group, a name for its probes.
# shellcheck disable=SC2154  # the caller sets build, out, group

events=/sys/kernel/tracing/uprobe_events
running= # evictd_node_bench
need_uprobes() {
    [ -e "$events" ] || perf list tracepoint > /dev/null 2>&1 # mounts tracefs
    [ -w "$events" ] || die "this kernel has no uprobe events"
}
remove_probes() {
    grep -o "^[pr][0-9]*:$group/[a-z_]*" "$events" | sed 's/^[pr][0-9]*:/-:/' | while read -r probe; do echo "$probe" >> "$events" || true; done
}
end_bench() {
    [ -n "$running" ] || return 0
    kill "$running" 2> /dev/null || true
    wait "$running" || true
}

probe() { # probe NAME FILE SYMBOL-REGEX [ALSO-ITS-RETURN]: the file's offsets are its addresses in what is probed here
    local at
    at=$({ nm "$2"; nm -D "$2"; } 2> /dev/null | awk -v s="$3" '$3 ~ s && $2 ~ /[Tt]/ && $3 !~ /cold/ && !n++ { print "0x" $1 }')
    [ -n "$at" ] || die "no $3 in $2"
    echo "p:$group/$1 $2:$at" >> "$events"
    [ -z "${4:-}" ] || echo "r:$group/$1_r $2:$at" >> "$events"
}

start_bench() { # start_bench PART: it runs on, in $running; its agent's main thread is $agent, whose socket is there
    "$build/evictd_node_bench" "$build/evictd" "$out" "$1" > "$out/bench.txt" 2>&1 &
    running=$!
    # shellcheck disable=SC2034  # the caller uses it
    until agent=$(pgrep -of "^$build/evictd run --config $out/agent"); do bench_runs && sleep 0.2; done
    until [ -S "$out/agent/evictd.sock" ]; do bench_runs && sleep 0.2; done
}
bench_runs() { kill -0 "$running" 2> /dev/null || { cat "$out/bench.txt" >&2 && die "evictd_node_bench has ended"; }; }
