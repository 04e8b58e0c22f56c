#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The agent has no descriptor left, as any local user can bring about for the whole machine, and a manifest changes meanwhile.
# Pods that were known stay known and are evicted; manifests that came meanwhile are read as soon as there are descriptors again.
# The same where one descriptor is left: the directory can be opened, and no file in it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
hostile hog
attack hog hold 60
pod_path[late]=$name/kubepods/besteffort/pod$(uid_of late)
make_cgroup "${pod_path[late]}/c1"
start_agent
attack_begins
reload "$(hard $(($(available) - 16)))"
sleep 0.3
take_descriptors
touch "$work/pods/hog.yaml"
write_manifest late "$(uid_of late)" "" 0
reported() { logged '"reason":"LookIncomplete".*Too many open files; the pods known from it are kept as they were'; }
check "it is reported that the manifests cannot be read" wait_for 5 reported
played() { start_in hog "exec $ATTACKER hold 32" && wait_for 5 chosen hog && dies hog 5 && stay_alive 1; }
check "the hog is known and killed, and only it" played
once() { [ "$(count '"reason":"LookIncomplete".*the pods known from it')" -eq 1 ]; }
check "it was reported once" once
prlimit --pid "$agent" --nofile=4096:8192
attack late hold 60
played() { sleep 1.5 && cross 24 && wait_for 5 chosen late && dies late 5 && stay_alive 1; }
check "a manifest that came meanwhile is read without another event" played
calm
hostile single
attack single hold 60
knows() { grep -q default/single < <("$EVICTD" rank --socket "$work/run/evictd.sock" 2> /dev/null); }
check "the agent knows another pod" wait_for 5 knows
reload "$(hard $(($(available) - 16)))"
sleep 0.3
take_descriptors 1
touch "$work/pods/single.yaml"
reported() { logged '"reason":"LookIncomplete".*[.]yaml: Too many open files; its pods are kept as they were'; }
check "it is reported that single manifests cannot be read" wait_for 5 reported
played() { start_in single "exec $ATTACKER hold 32" && wait_for 5 chosen single && dies single 5 && stay_alive 1; }
check "its pod is known and killed, and only it" played
prlimit --pid "$agent" --nofile=4096:8192
check "the agent's CPU time" attack_costs
finish
