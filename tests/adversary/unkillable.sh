#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim that cannot be killed now (its freezer is held by an ancestor that is not ours to thaw) holds up other evictions, for
# as long as the kubelet would wait; it is reported with back-off.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
if is_v2; then skip "unkillable victim" "cgroup.kill reaches frozen processes"; exit 0; fi
innocents 3
hostile stuck
attack stuck hold 80
start_agent
echo FROZEN > "/sys/fs/cgroup/freezer/$name/kubepods/besteffort/freezer.state"
attack_begins
played() { cross 24 && wait_for 5 chosen stuck && stay_alive 12 && ! is_empty "${pod_path[stuck]}"; }
check "no other pod goes while the victim cannot die" played
few_events() { [ "$(wc -l < "$log")" -le 60 ]; }
check "it is reported with back-off" few_events
check "the agent's CPU time" attack_costs
echo THAWED > "/sys/fs/cgroup/freezer/$name/kubepods/besteffort/freezer.state"
check "it dies as soon as it can" dies stuck
check "and the innocents live" stay_alive 1
finish
