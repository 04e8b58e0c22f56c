#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod whose processes are killed by the OOM killer again and again, and which rewrites its own score: its events are limited,
# counted, and do not rotate those of others away.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
limit=memory.limit_in_bytes
! is_v2 || limit=memory.max
innocents 2
hostile flood
make_cgroup "${pod_path[flood]}/c1"
echo 8M > "${hierarchies[0]}/${pod_path[flood]}/c1/$limit"
start_agent
attack_begins
start_in flood "$ATTACKER score 17 & exec $ATTACKER oom"
kernel_kills() { awk '$1 == "oom_kill" { print $2 }' "${hierarchies[0]}/${pod_path[flood]}/c1/memory.oom_control" "${hierarchies[0]}/${pod_path[flood]}/c1/memory.events" 2> /dev/null | head -n 1; }
sleep 3
wait_for 15 eval '[ "$(kernel_kills)" -ge 60 ]'
echo "    $(kernel_kills) OOM kills, $(count "OOMKilling") events of them, $(wc -l < "$log") events in all"
limited() { [ "$(kernel_kills)" -ge 60 ] && [ "$(count "OOMKilling")" -ge 1 ] && [ "$(count "\"reason\":\"OOMKilling\"")" -le 32 ]; }
check "OOMKilling is limited for a pod" limited
few() { [ "$(count "\"name\":\"flood\"")" -le 150 ]; }
check "so is all else that the pod can cause" few
check "the innocents live" stay_alive 1
check "the agent's CPU time" attack_costs
finish
