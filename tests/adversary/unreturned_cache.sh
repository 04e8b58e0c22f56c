#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim leaves page cache in use: the kernel would keep it until the next shortage, charged to an empty pod. It is asked to
# drop it, so that the eviction is worth what it cost.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
file=$(mktemp /var/tmp/evictd-test-XXXXXX) # one hole, and not in a tmpfs: reading it fills the page cache
trap 'end_attack; rm -f "$file"; clean_up' EXIT
truncate -s 64M "$file"
innocents 3
hostile reader
start_agent
attack_begins
attack reader reread "$file"
attack reader hold 24
sleep 1 # read twice, page cache is active
held=$(usage_mib reader)
if [ "$held" -lt 70 ]; then
    skip "page cache in use of a victim" "the pod holds $held MiB only"
    exit 0
fi
if is_v2 && [ ! -e "$pods_root/memory.reclaim" ]; then
    skip "page cache in use of a victim" "this kernel has no memory.reclaim"
    exit 0
fi
given_back() { [ "$(usage_mib reader)" -lt 16 ]; }
evicted() { cross 16 && wait_for 5 chosen reader && dies reader && wait_for 5 given_back && stay_alive 3; }
check "what the victim read is given back with what it held ($held MiB)" evicted
check "it is not said that memory did not come back" eval '! logged "\"MemoryNotReturned\""'
check "the agent's CPU time" attack_costs
finish
