#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod in its grace period is there once more, in another cgroup (a static pod keeps its uid): SIGKILL reaches the cgroup that
# was chosen, and no process of the other.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
hostile web
attack web --deaf hold 80
old=${pod_path[web]}
start_agent
attack_begins
start_anew() {
    pod_path[web]=$name/kubepods/burstable/pod$(uid_of web)
    make_cgroup "${pod_path[web]}/c1" && start_in web "exec $ATTACKER hold 8" && innocent_pid[anew]=$started
}
played() {
    reload "$(soft $(($(available) + 24)) 2)" && wait_for 10 chosen web && start_anew || return 1
    wait_for 8 is_empty "$old" && stay_alive 3
}
check "the victim dies, and what runs in its pod's new cgroup lives" played
check "the agent's CPU time" attack_costs
finish
