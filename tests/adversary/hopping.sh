#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim whose processes move from one of its cgroups to the other: no listing finds all of them, and
# the more cgroups there are, the longer it takes. SIGKILL reaches every one.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
start_agent
attack_begins
round() {
    calm || return 1
    hostile "hop$1"
    local groups=("${hierarchies[0]}/${pod_path[hop$1]}/c1/n"{1..1000})
    groups=("${groups[@]:0:$3}")
    mkdir "${groups[@]}" || return 1
    attack "hop$1" hop "$2" 64 "${groups[@]}" || return 1
    # On a busy machine the last victim's memory may be back late: then the next one goes 10 s after it, as in the kubelet.
    cross 24 && wait_for 15 chosen "hop$1" && dies "hop$1" 5 && stay_alive 1 || return 1
    remove_pod "hop$1"
}
number=0
for processes in 1 1 1 8; do
    for cgroups in 24 1000; do
        number=$((number + 1))
        check "$processes hopping between $cgroups cgroups, round $number: all die, and only they" round "$number" "$processes" "$cgroups"
    done
done
check "the agent's CPU time" attack_costs
finish
