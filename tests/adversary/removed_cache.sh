#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Page cache of a removed cgroup stays charged to its parents and is as reclaimable as before. Counted over living cgroups
# only, it was missing memory, and a look killed an innocent pod for it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
file=$(mktemp /var/tmp/evictd-test-XXXXXX) # one hole, and not in a tmpfs: reading it fills the page cache
trap 'end_attack; rm -f "$file"; clean_up' EXIT
truncate -s 90M "$file"
innocents 3
hostile job
start_agent
attack_begins
attack job read "$file"
wait_for 10 dies job
before=$(usage_mib job)
remove_pod job
if [ "$before" -lt 60 ]; then
    skip "page cache of a removed cgroup" "reading left $before MiB of page cache"
    exit 0
fi
available=$(available)
played() { [ "$available" -gt 110 ] && reload "$(hard 110)" && stay_alive 3 && ! logged "EvictionThresholdMet"; }
check "page cache of a removed cgroup costs no pod its life (available: $available MiB)" played
check "the agent's CPU time" attack_costs
finish
