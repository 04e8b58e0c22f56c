#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A container that restarts leaves its page cache in a removed cgroup below the pod: it is no memory over the request of its pod.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
file=$(mktemp /var/tmp/evictd-test-XXXXXX)
trap 'end_attack; rm -f "$file"; clean_up' EXIT
truncate -s 60M "$file"
innocents 2
innocent restarted
start_in restarted "cd / && exec $ATTACKER hold 1" # keeps the pod there
make_cgroup "${pod_path[restarted]}/c2"
"$ATTACKER" --in "${hierarchies[0]}/${pod_path[restarted]}/c2" read "$file"
for mount in "${hierarchies[@]}"; do rmdir "$mount/${pod_path[restarted]}/c2"; done
if [ "$(usage_mib restarted)" -lt 50 ]; then
    skip "page cache of a removed container" "it holds $(usage_mib restarted) MiB only"
    exit 0
fi
hostile hog burstable 16Mi
attack hog hold 56 # 40 over its request; the restarted pod would be 4 over it
start_agent
attack_begins
written() { write_manifest restarted "$(uid_of restarted)" 12Mi 0; }
played() { written && sleep 1 && cross 16 && wait_for 5 chosen hog && dies hog && stay_alive 2; }
check "the pod that is over its request goes, not the one whose container restarted" played
check "the agent's CPU time" attack_costs
finish
