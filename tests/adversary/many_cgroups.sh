#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod with thousands of cgroups: it costs the agent next to nothing while idle, and holds up no kill, neither of another pod
# nor of itself.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 1536
count=${CGROUPS:-20000}
innocents 3
hostile forest burstable 1200Mi
attack forest cgroups "${hierarchies[0]}/${pod_path[forest]}/c1" "$count"
attack forest hold 8
forest=$started
start_agent
sleep 3
attack_begins
check "idle: the agent's CPU time" attack_costs
latency_ms() { # of detect, decide and act together
    grep "\"reason\":\"Evicted\".*\"name\":\"$1\"" "$log" | sed -n 's/.*"latency_us":{\([^}]*\)}.*/\1/p' | tail -n 1 |
        tr , "\n" | awk -F: '/detect|decide|act/ { sum += $2 } END { print int(sum / 1000) }'
}
other() {
    hostile hog
    attack hog hold 80 || return 1
    sleep 0.5
    cross 24 && wait_for 10 chosen hog && dies hog && wait_for 5 evicted hog && alive "$forest" && stay_alive 1 || return 1
    echo "    another pod: $(latency_ms hog) ms from the crossing to SIGKILL"
    [ "$(latency_ms hog)" -le 50 ]
}
check "another pod is killed at once, and only it" other
calm
write_manifest forest "$(uid_of forest)" 1Mi 0
itself() {
    attack forest hold 100 || return 1
    sleep 0.5
    cross 24 && wait_for 10 chosen forest && dies forest 20 && wait_for 20 evicted forest && stay_alive 1 || return 1
    echo "    itself: $(latency_ms forest) ms from the crossing to SIGKILL"
    [ "$(latency_ms forest)" -le 150 ]
}
check "the pod with $count cgroups is killed, and only it" itself
finish
