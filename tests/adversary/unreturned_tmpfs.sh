#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod fills a tmpfs and ends: no kill returns its memory. The pod keeps its place in the order; evictd must not go through the
# innocent pods in milliseconds.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
mkdir "$work/volume"
mount -t tmpfs -o size=96m none "$work/volume"
mounts_of_test+=("$work/volume")
innocents 4 16
start_agent
attack_begins
hostile filler
attack filler fill "$work/volume/file" 80

said() { wait_for 5 logged "\"MemoryNotReturned\".*\"name\":\"$1\""; }
kept_pace() { # kept_pace POD: its memory does not come back; no innocent pod goes within the kubelet's period
    cross 24 && stay_alive 8
}
ended() { dies filler && kept_pace filler; }
check "memory in the tmpfs of a pod that has ended: 4 of 4 innocents live for 8 s" ended
check "it is said who holds it" said filler
umount -l "$work/volume"
calm
remove_pod filler
sleep 11 # what was decided there is over
mount -t tmpfs -o size=96m none "$work/volume"
hostile evicted
attack evicted fill "$work/volume/file" 64
attack evicted hold 16
evicted() { kept_pace && chosen evicted && dies evicted; }
check "the same of a pod that is evicted" evicted
check "it is said who holds it" said evicted
check "the agent's CPU time" attack_costs
finish
