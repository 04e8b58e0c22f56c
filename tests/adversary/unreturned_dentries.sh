#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod makes the kernel remember 200,000 names and ends: the slab stays charged to it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin_with_dentries
dies names
if [ "$(usage_mib names)" -lt 40 ]; then
    skip "dentries of a pod that has ended" "they hold $(usage_mib names) MiB only"
    exit 0
fi

said() { wait_for 5 logged "\"MemoryNotReturned\".*\"name\":\"$1\""; }
kept_pace() { # kept_pace POD: its memory does not come back; no innocent pod goes within the kubelet's period
    cross 24 && stay_alive 8
}
played() { kept_pace names; }
check "$(usage_mib names) MiB of dentries: 4 of 4 innocents live for 8 s" played
check "it is said who holds it" said names
check "the agent's CPU time" attack_costs
finish
