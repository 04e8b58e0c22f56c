#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Two pods reclaim at their own limits only: the node is short of nothing. At node scope neither may be blamed for a stall.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
file=$(mktemp /var/tmp/evictd-test-XXXXXX)
trap 'end_attack; rm -f "$file"; clean_up' EXIT
truncate -s 96M "$file"
limit=memory.limit_in_bytes
! is_v2 || limit=memory.max
innocents 2
for pod in slow busy; do
    hostile "$pod"
    echo 32M > "${hierarchies[0]}/${pod_path[$pod]}/c1/$limit"
done
settings="psi: [{resource: memory, share: 5%, window: 1s}]"
write_config "$(hard 4)"
start_agent
attack_begins
start_in slow "exec $ATTACKER reread $file" && slow=$started
start_in busy "exec $ATTACKER reread $file" && busy=$started
played() { stay_alive 6 && alive "$slow" && alive "$busy"; }
check "reclaim at a pod's own limit is not blamed for the node's stall" played
check "the agent's CPU time" attack_costs
finish
