#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim that renames its own subtree while it is killed (v1).
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
if is_v2; then skip "renamed subtree" "v2 renames no cgroup"; exit 0; fi
innocents 3
start_agent
attack_begins
round() {
    calm || return 1
    local pod=name$1 mount arguments=()
    hostile "$pod"
    make_cgroup "${pod_path[$pod]}/c1/a/inner"
    for mount in "${hierarchies[@]}"; do arguments+=(--in "$mount/${pod_path[$pod]}/c1/a/inner"); done
    "$ATTACKER" "${arguments[@]}" --ready "$work/ready.a" hold 64 > /dev/null 2>&1 < /dev/null &
    disown $!
    wait_for 20 test -e "$work/ready.a" && rm "$work/ready.a" || return 1
    attack "$pod" rename 1 "${hierarchies[0]}/${pod_path[$pod]}/c1" || return 1
    cross 24 && wait_for 5 chosen "$pod" && dies "$pod" 5 && stay_alive 1 || return 1
    remove_pod "$pod"
}
for number in 1 2 3 4; do check "renamed subtree, round $number: all die, and only they" round "$number"; done
check "the agent's CPU time" attack_costs
finish
