#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod with more than 1,024 cgroups reads a file: the kernel adds up its page cache every 2 s only. What is available
# never falls below the threshold, so no pod is evicted.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 512
file=$(mktemp /var/tmp/evictd-test-XXXXXX)
trap 'end_attack; rm -f "$file"; clean_up' EXIT
head -c 250M /dev/zero > "$file" && sync "$file"
drop() { dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none; }
drop
innocents 3 16
add_pod bystander besteffort "$(uid_of bystander)" # it would be the first victim
start_in bystander "exec $ATTACKER hold 24"
innocent_pid[bystander]=$started
wait_for 20 holds bystander 24
hostile crowd burstable 400Mi
attack crowd cgroups "${hierarchies[0]}/${pod_path[crowd]}/c1" 1100
start_agent
line=$(($(available) - 30))
reload "$(hard "$line")"
sleep 1
attack_begins
start_in crowd "while :; do cat $file > /dev/null; dd of=$file oflag=nocache conv=notrunc,fdatasync count=0 status=none; sleep 0.2; done"
ADVERSARY_SECONDS=10 check "the agent's CPU time while a pod with 1,100 cgroups reads a file" attack_costs
check "no pod is evicted for its page cache" innocents_live
lives() { ! is_empty "${pod_path[crowd]}" && [ "$(count '"reason":"Evicting"')" -eq 0 ]; }
check "nor the pod itself" lives
finish
