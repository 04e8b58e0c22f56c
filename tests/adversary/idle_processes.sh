#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod with 10,000 idle processes costs next to nothing, with all its scores to keep; nor does the end of the agent.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

count=${PROCESSES:-10000}
begin 3072
if [ "$(cat /proc/sys/kernel/pid_max)" -lt $((count * 2)) ]; then skip "$count idle processes" "pid_max is too low"; exit 0; fi
innocents 2
hostile crowd
start_agent
attack_begins
attack crowd many "$count" 8
check "$count idle processes: the agent's CPU time" attack_costs
# Near a threshold the scores of the pod that would go first are raised.
near() { reload "$(hard $(($(available) - 32)))" && attack_begins && attack_costs; }
check "near a threshold, too" near
calm
hostile hog burstable 1Mi
write_manifest crowd "$(uid_of crowd)" 2000Mi 1000
sleep 1
attack hog hold 80
played() { cross 24 && wait_for 5 chosen hog && dies hog && stay_alive 1 && ! is_empty "${pod_path[crowd]}"; }
check "another pod is evicted, and only it" played
calm
ends_soon() { local begin=$SECONDS; stop_agent && [ $((SECONDS - begin)) -le 3 ]; }
check "it ends within 3 s" ends_soon
exit "$failed"
