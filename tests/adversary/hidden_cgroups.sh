#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Processes in cgroups named .name and in cgroups 30 levels deep are killed as all others; SIGTERM reaches them, too.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
hidden() { # hidden POD: 8 MiB in .hidden, 8 MiB far below
    local deep mount at arguments
    deep=$(printf "/d%.0s" {1..30})
    make_cgroup "${pod_path[$1]}/c1/.hidden" && make_cgroup "${pod_path[$1]}/c1$deep" || return 1
    for at in .hidden "$deep"; do
        arguments=()
        for mount in "${hierarchies[@]}"; do arguments+=(--in "$mount/${pod_path[$1]}/c1/$at"); done
        "$ATTACKER" "${arguments[@]}" --ready "$work/ready.hidden" hold 24 > /dev/null 2>&1 < /dev/null &
        disown $!
        wait_for 10 test -e "$work/ready.hidden" && rm "$work/ready.hidden" || return 1
    done
}
hostile hidden
hidden hidden
attack hidden hold 24
start_agent
attack_begins
killed() { cross 16 && wait_for 5 chosen hidden && dies hidden && stay_alive 2; }
check "SIGKILL reaches .hidden and 30 levels deep" killed
calm
remove_pod hidden
hostile asked
hidden asked
attack asked hold 24
asked() { reload "$(soft $(($(available) + 16)) 15)" && wait_for 10 chosen asked && dies asked 5 && stay_alive 1; }
check "SIGTERM reaches them, too: gone before the grace period is over" asked
check "the agent's CPU time" attack_costs
finish
