#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A hog of page tables gives its memory back after its last process is gone: the next pod is not due 2 ms later.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
start_agent
attack_begins
round() {
    calm || return 1
    hostile "tables$1"
    attack "tables$1" tables 80 || return 1
    cross 24 && wait_for 5 chosen "tables$1" && dies "tables$1" && stay_alive 3 || return 1
    remove_pod "tables$1"
}
for number in 1 2 3 4; do check "80 MiB of page tables, round $number: only the hog goes" round "$number"; done
check "the agent's CPU time" attack_costs
finish
