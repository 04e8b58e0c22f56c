#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# SIGKILL to the agent while it freezes a forking victim (v1): nothing stays frozen once undo or the next agent has run.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
if is_v2; then skip "a frozen victim of a killed agent" "v2 freezes no victim"; exit 0; fi
if [ ! -d "/sys/fs/cgroup/freezer/$name" ]; then skip "a frozen victim of a killed agent" "no freezer is mounted"; exit 0; fi
innocents 2
# Killed in the middle of a freeze: the victim has so many cgroups that a walk over them, and with it a freeze, takes a while.
caught=0
frozen_now() { # frozen_now POD: its freezer is not thawed; waits up to 3 s for that
    local state until=$((${EPOCHREALTIME//[!0-9]/} + 3000000))
    while [ "${EPOCHREALTIME//[!0-9]/}" -lt "$until" ]; do
        read -r state < "/sys/fs/cgroup/freezer/${pod_path[$1]}/freezer.state" && [ "$state" != THAWED ] && return
    done
    return 1
}
round() { # round NUMBER
    rm -f "$log"
    write_config "$(hard 4)"
    start_agent
    hostile "fork$1"
    attack "fork$1" cgroups "${hierarchies[0]}/${pod_path[fork$1]}/c1" 3000 || return 1
    start_in "fork$1" "next() { sleep 0.003; next & }; for i in {1..24}; do next & done; exec $ATTACKER hold 64"
    wait_for 20 holds "fork$1" 60 || { echo "    fork$1 does not hold its memory"; return 1; }
    write_config "$(hard $(($(available) + 24)))"
    kill -HUP "$agent"
    ! frozen_now "fork$1" || caught=$((caught + 1))
    kill -KILL "$agent"
    wait "$agent" 2> /dev/null
    agent=
    run 0 undo --config "$work/config.yaml" || return 1
    none_frozen || { echo "    frozen: $(find "/sys/fs/cgroup/freezer/$name" -name freezer.state -exec grep -lE "FR" {} +)"; return 1; }
    remove_pod "fork$1"
    innocents_alive
}
innocents_alive() { local pod; for pod in "${!innocent_pid[@]}"; do alive "${innocent_pid[$pod]}" || return 1; done; }
number=0
while [ "$number" -lt 4 ] || { [ "$caught" -eq 0 ] && [ "$number" -lt 10 ]; }; do # on a busy machine a freeze is not always met
    number=$((number + 1))
    check "killed while it freezes a victim, round $number: nothing stays frozen" round "$number"
done
echo "    killed in the middle of a freeze: $caught of $number"
[ "$caught" -gt 0 ] || skip "killed in the middle of a freeze" "no freeze was met in $number rounds"
exit "$failed"
