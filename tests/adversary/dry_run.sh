#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A dry run under pressure: it reports what it would do and changes nothing on the node, also not what a killed agent left
# behind. Hostile pods neither make it act nor make it report without end.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
innocents 3
hostile hopper
hostile writer
hostile growing
hostile breather
groups=()
for number in 1 2 3 4; do
    make_cgroup "${pod_path[hopper]}/c1/n$number"
    groups+=("${hierarchies[0]}/${pod_path[hopper]}/c1/n$number")
done

# ---- a killed agent leaves raised scores, the ledger to put them back, and pins

settings="oomScoreAdjPolicy: off"
near() { # near MIB: so much is left above the threshold
    hard $(($(available) - $1))
}
attack hopper hop 1 80 "${groups[@]}" && hopper=$started
attack writer score 17 && writer=$started
write_config "$(near 16)"
start_agent
is_raised() { [ "$(cat "/proc/$hopper/oom_score_adj")" -eq 1000 ]; }
left_behind() {
    wait_for 10 is_raised
    kill -KILL "$agent"
    wait "$agent" 2> /dev/null
    agent=
    is_raised && grep -q . "$work"/state/*
}
check "a killed agent leaves a raised score and its ledger" left_behind

# ---- what a dry run must not change

steady=("$hopper" "$writer" "${innocent_pid[@]}")
node_state() { # limits and freezers of the pods, the processes and their scores, the ledgers
    local pid mount files=()
    for mount in "${hierarchies[@]}"; do
        for file in memory.limit_in_bytes memory.soft_limit_in_bytes memory.low memory.high memory.max freezer.state cgroup.freeze; do
            [ ! -e "$mount/${pod_path[hopper]}/$file" ] || files+=(-o -name "$file")
        done
    done
    find "${hierarchies[@]/%//$name/kubepods}" \( -false "${files[@]}" \) -exec grep -H . {} + | sort -u
    for pid in "${steady[@]}"; do
        alive "$pid" && echo "$pid has $(cat "/proc/$pid/oom_score_adj")" || echo "$pid is dead"
    done
    find "$work/state" -printf '%p %m %T@ %s\n' | sort
    cat "$work"/state/*
}
is_as_before() { # the difference, if there is one
    node_state > "$work/now" 2>&1
    diff "$work/before" "$work/now" > "$work/difference" || { sed -n '/^[<>]/s/^/    /p' "$work/difference" | head -n 8; return 1; }
}
watch_node() { # until $work/watched exists: freezes last for half a second at most
    until [ -e "$work/watched" ]; do
        is_as_before > /dev/null || [ -e "$work/changed" ] || cp "$work/difference" "$work/changed"
        sleep 0.05
    done
}
begin_watch() { rm -f "$work/watched"; watch_node & watcher=$!; }
end_watch() { # nothing changed meanwhile
    : > "$work/watched"
    wait "$watcher" 2> /dev/null
    [ ! -e "$work/changed" ] || { sed 's/^/    /' "$work/changed" | head -n 8; return 1; }
}
said() { count "\"reason\":\"$1\""; } # said REASON: how often

# ---- pressure

settings=$'dryRun: true\n  ladder: {reclaim: true, squeeze: true, freeze: true}\n  sockets: {shed: true}'
rm -f "$log"
node_state > "$work/before"
begin_watch
write_config "$(hard 4)"
start_agent
attack_begins
grows() { # 64 MiB within a second, towards a threshold that it does not reach
    reload "$(near 112)" && start_in growing "for i in {1..8}; do $ATTACKER hold 8 & sleep 0.1; done; wait"
    wait_for 10 logged '"PodReleased","message":"Dry run: .*growing'
    logged 'Dry run: .*growing would be briefly frozen'
}
check "it reports which pod it would freeze" grows
comes_and_goes() { # the threshold is crossed again and again, with 24 MiB in 10 ms
    reload "$(near 12)" && attack breather breathe 24 5 && wait_for 5 chosen hopper && stay_alive 10
}
check "it reports which pod it would evict, and the innocents live" comes_and_goes
once() { [ "$(said Evicting)" -eq 1 ] && [ "$(said Evicted)" -eq 0 ]; }
check "one pod is reported, although the pressure comes and goes" once
marked() { ! grep -qv '"dry_run":true' < <(grep -E '"reason":"(Evict|OOMScore|Pod|Sockets)' "$log"); }
check "every such event says that it is a dry run" marked
few() { echo "    $(wc -l < "$log") events"; [ "$(wc -l < "$log")" -le 100 ]; }
check "there are few events" few
check "the agent's CPU time" attack_costs
check "nothing was changed meanwhile" end_watch
no_pin() { stop_agent && [ ! -e "/sys/fs/bpf/$name" ]; }
check "it ends with 0, and no pin is left" no_pin
check "nothing was changed when it ended" is_as_before

# ---- what the killed agent left is still good

settings="oomScoreAdjPolicy: off"
write_config "$(hard 4)"
undone() { # a process that moves meanwhile may be missed, to its own cost
    kill -STOP "$hopper"
    run 0 undo --config "$work/config.yaml" && [ "$(cat "/proc/$hopper/oom_score_adj")" -eq 0 ]
    local status=$?
    kill -CONT "$hopper"
    return "$status"
}
check "undo puts back what the killed agent had raised" undone
check "the innocents live" stay_alive 1
exit "$failed"
