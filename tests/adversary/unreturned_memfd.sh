#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod leaves a memfd in the queue of another pod's socket and ends: no kill of the sender returns that memory.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3 16
innocent receiver 16
start_in receiver "exec $ATTACKER --ready $work/ready.receiver listen $work/socket"
wait_for 10 test -e "$work/ready.receiver"
start_agent
attack_begins
hostile sender
attack sender memfd "$work/socket" 80

said() { wait_for 5 logged "\"MemoryNotReturned\".*\"name\":\"$1\""; }
kept_pace() { # kept_pace POD: its memory does not come back; no innocent pod goes within the kubelet's period
    cross 24 && stay_alive 8
}
played() { dies sender && kept_pace sender; }
check "a memfd in another pod's socket: 4 of 4 innocents live for 8 s" played
check "it is said who holds it" said sender
check "the agent's CPU time" attack_costs
finish
