#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL to the agent while it freezes a forking victim (v1): nothing stays frozen once undo or the next agent has run.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
if is_v2; then skip "a frozen victim of a killed agent" "v2 freezes no victim"; exit 0; fi
if [ ! -d "/sys/fs/cgroup/freezer/$name" ]; then skip "a frozen victim of a killed agent" "no freezer is mounted"; exit 0; fi
innocents 2
round() { # round NUMBER DELAY
    rm -f "$log"
    write_config "$(hard 4)"
    start_agent
    hostile "fork$1"
    start_in "fork$1" "next() { sleep 0.003; next & }; for i in {1..24}; do next & done; exec $ATTACKER hold 64"
    wait_for 20 holds "fork$1" 60
    kill -HUP "$agent"
    write_config "$(hard $(($(available) + 24)))"
    kill -HUP "$agent"
    wait_for 5 chosen "fork$1" || return 1
    sleep "$2"
    kill -KILL "$agent"
    wait "$agent" 2> /dev/null
    agent=
    timeout 20 "$EVICTD" undo --config "$work/config.yaml" > "$work/out" 2> "$work/err" < /dev/null
    none_frozen || { echo "    frozen: $(find "/sys/fs/cgroup/freezer/$name" -name freezer.state -exec grep -lE "FR" {} +)"; return 1; }
    remove_pod "fork$1"
    innocents_alive
}
innocents_alive() { local pod; for pod in "${!innocent_pid[@]}"; do alive "${innocent_pid[$pod]}" || return 1; done; }
number=0
for delay in 0 0 0.001 0.002 0.004 0.008; do
    number=$((number + 1))
    check "killed $delay s after SIGKILL, round $number: nothing stays frozen" round "$number" "$delay"
done
exit "$failed"
