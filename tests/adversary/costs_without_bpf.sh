#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Without BPF: pods with thousands of cgroups and of processes. Looks read their files, and are rarer where that is dear.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

settings="bpf: off"
begin 3072
innocents 3
hostile forest burstable 1200Mi
attack forest cgroups "${hierarchies[0]}/${pod_path[forest]}/c1" "${CGROUPS:-5000}"
attack forest hold 8
start_agent
hostile crowd burstable 1200Mi
attack crowd many "${PROCESSES:-5000}" 8
sleep 2
ADVERSARY_SECONDS=5
attack_begins
check "idle: the agent's CPU time" attack_costs
reload "$(hard $(($(available) - 20)))"
attack_begins
check "near a threshold, too" attack_costs
calm
hostile hog
attack hog hold 80
killed() { cross 24 && wait_for 5 chosen hog && dies hog && wait_for 5 evicted hog && stay_alive 1; }
check "another pod is evicted, and only it" killed
calm
write_manifest forest "$(uid_of forest)" 1Mi 0
itself() { attack forest hold 100 && cross 24 && wait_for 5 chosen forest && wait_for 10 evicted forest && stay_alive 1; }
check "the pod with many cgroups is evicted, and found to be gone" itself
calm
finish
