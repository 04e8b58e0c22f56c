#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Page cache that is in use: by the kubelet's count a pod full of it is the end of memory, by what is reclaimable it is not.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 128 "page cache in use"
cached=$(mktemp /var/tmp/evictd-test-XXXXXX) # one hole, and no tmpfs: reading it fills the page cache and waits for no disk
trap 'rm -f "$cached"; clean_up' EXIT
truncate -s 80M "$cached"
hard() { echo "evictionHard: {allocatableMemory.available: 64Mi}"; }

add_pod reader burstable dddddddd-0000-4000-8000-000000000001 8Mi
start_in reader "for i in 1 2 3; do cat $cached > /dev/null; done; echo > $work/read; exec sleep 1000"
wait_for 20 test -e "$work/read"
active() {
    local prefix=total_
    ! is_v2 || prefix=
    awk -v key="${prefix}active_file" '$1 == key { print int($2 / 1048576) }' "$pods_root/memory.stat"
}
if [ "$(active)" -lt 70 ]; then
    skip "page cache in use" "this kernel keeps what is read three times on the inactive list"
    exit 0
fi

spared() { sleep 1.5; alive "$started" && [ "$(count '"reason":"EvictionThresholdMet"')" -eq 0 ]; }
both() { run 0 status --socket "$work/run/evictd.sock" && says 'as the kubelet counts it'; }
for bpf in off auto; do
    settings="memoryAvailable: reclaimable
  bpf: $bpf"
    write_config "$(hard)"
    start_agent
    check "with reclaimable, nobody is evicted for it (bpf: $bpf)" spared
    check "status shows both counts (bpf: $bpf)" both
    [ "$bpf" = auto ] || check "SIGTERM ends the agent with 0" stop_agent
done
settings="memoryAvailable: kubelet"
by_default() {
    reload "$(hard)" && wait_for 5 evicted reader && wait_for 5 gone "$started"
}
check "as the kubelet counts, it is" by_default
told() { grep -qE '"available":"[0-9]{1,5}Ki"|"available":"[0-9]{1,8}"' < <(grep '"reason":"EvictionThresholdMet"' "$log"); }
check "the event has the figure that was compared" told
check "SIGTERM ends it, too" stop_agent
exit "$failed"
