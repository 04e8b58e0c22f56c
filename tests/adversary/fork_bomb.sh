#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Fork bombs against a threshold on pid.available. The machine is in no danger: the bomb's own cgroup bounds its processes and
# its memory, and the agent alone is shown a kernel.pid_max so low that the bomb may use up all that the threshold keeps free.
# env: ROUNDS (2), bombs one after the other
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=pids.sh
. "$(dirname "$0")/pids.sh"

below=300     # tasks to the line
quantity=1600 # of the threshold, so that many beyond the line; at most half of them
most=2000     # processes of a bomb: more than both
begin 1024
innocents 3
[ -e "$(pids_of innocent1)/pids.max" ] || { skip "fork bombs" "no pids controller is mounted"; exit 0; }
has_own_pid_max || { skip "fork bombs" "no mount namespaces"; exit 0; }
start_agent
not_shown() { run 0 status --socket "$work/run/evictd.sock" && ! says 'pid.available'; }
check "without a threshold on it, status does not show pid.available" not_shown
arm_line() { # the line is $below tasks away; their number is in $line
    line=$(($(running) + below))
    echo $((line + quantity)) > "$work/pid_max"
    reload "evictionHard: {allocatableMemory.available: 4Mi, pid.available: $quantity}"
}
check "a threshold on pid.available is taken" arm_line
shown() { run 0 status --socket "$work/run/evictd.sock" && says 'pid.available'; }
check "status shows the signal" shown
unharmed() { sleep 0.5 && ! logged '"reason":"Evict(ing|ed)"' && innocents_live; }
check "a line that is not crossed evicts nobody" unharmed

is_known() { run 0 status --socket "$work/run/evictd.sock" && says "default/$1 "; }
bomb() { # bomb POD
    local begun ended=1
    hostile "$1" && wait_for 10 is_known "$1" || return 1
    bound "$1" "$most" || return 1
    count_tasks_beside
    begun=${EPOCHREALTIME//[!0-9]/}
    attack "$1" bomb && wait_for 20 chosen "$1" && dies "$1" 20 && ended=0
    count_tasks_ends
    echo "    $1: empty $(((${EPOCHREALTIME//[!0-9]/} - begun) / 1000)) ms after its first fork, $(($(cat "$work/peak") - line)) tasks beyond the line," \
        "$(grep '"reason":"Evicted"' "$log" | grep "\"name\":\"$1\"" | grep -oE '"latency_us":\{[^}]*\}')"
    [ "$ended" -eq 0 ] && wait_for 5 evicted "$1" && remove_pod "$1" && wait_for 15 cleared && innocents_live
}
in_time() { [ "$(cat "$work/peak")" -lt $((line + quantity / 2)) ]; }
cleared() { grep -E '"reason":"EvictionThreshold(Met|Cleared)"' "$log" | tail -n 1 | grep -q Cleared; }
for ((round = 1; round <= ${ROUNDS:-2}; round++)); do
    arm_line
    check "fork bomb $round: it is evicted, all of it ends, and nobody else" bomb "bomb$round"
    check "fork bomb $round: pid.available stays above half of its threshold" in_time
    sleep 1.5 # the transition period
done
all_for_pids() { [ "$(grep '"reason":"Evicted"' "$log" | grep -c '"signal":"pid.available"')" -eq "${ROUNDS:-2}" ]; }
check "each was evicted for pid.available" all_for_pids
check "the innocents live" stay_alive 1
finish
