#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod whose processes move between its containers' cgroups while a threshold is near: each move fills one and empties
# another, none of which is a pod's.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
pod_path[mover]=$name/kubepods/pod$(uid_of mover) # guaranteed: directly below the pods' root
make_cgroup "${pod_path[mover]}/c1"
write_manifest mover "$(uid_of mover)" 64Mi 0
groups=()
for number in 1 2 3 4; do
    make_cgroup "${pod_path[mover]}/c1$number"
    groups+=("${hierarchies[0]}/${pod_path[mover]}/c1$number")
done
start_agent
attack mover hop 2 8 "${groups[@]}"
reload "$(hard $(($(available) - 20)))"
attack_begins
ADVERSARY_SECONDS=8 check "the agent's CPU time near a threshold" attack_costs
no_loss() { ! logged '"reason":"KernelEventsLost"'; }
check "no event is lost" no_loss
calm
hostile hog
attack hog hold 40
killed() { cross 24 && wait_for 5 chosen hog && dies hog && wait_for 5 evicted hog && stay_alive 1; }
check "another pod is evicted, and only it" killed
calm
finish
