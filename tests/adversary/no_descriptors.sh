#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The agent has no descriptor left, not even one: the pod that has to go is killed with those held in reserve. A pod that starts
# meanwhile is known as soon as there are descriptors again.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
hostile hog
attack hog hold 60
write_manifest late "$(uid_of late)" "" 0 # its cgroup comes later
start_agent
attack_begins
reload "$(hard $(($(available) - 16)))"
sleep 0.3
take_descriptors
sleep 1.2 # what was read a second ago is read again
played() { start_in hog "exec $ATTACKER hold 32" && wait_for 5 chosen hog && dies hog 5 && stay_alive 1; }
check "the hog is killed without descriptors, and only it" played
pod_path[late]=$name/kubepods/besteffort/pod$(uid_of late)
make_cgroup "${pod_path[late]}/c1"
sleep 0.5
prlimit --pid "$agent" --nofile=4096:8192
attack late hold 60
played() { sleep 1.5 && cross 24 && wait_for 5 chosen late && dies late 5 && stay_alive 1; }
check "a pod that started without descriptors is known once there are some" played
check "the agent's CPU time" attack_costs
finish
