#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What a victim left is kernel memory, and its cgroup is removed as a kubelet does: the kernel hands the memory over to the
# parent. It is not back, and the innocent pods must not go one after the other for it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin_with_dentries
attack names hold 8
reported() { cross 24 && wait_for 5 evicted names && wait_for 5 logged '"MemoryNotReturned".*"name":"names"'; }
check "what an evicted pod left in dentries is reported" reported
removed() { remove_pod names && stay_alive 6; }
check "its cgroup is removed: 4 of 4 innocents live for 6 s" removed
check "the agent's CPU time" attack_costs
finish
