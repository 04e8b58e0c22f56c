#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Where BPF is not used, the last MiB of a victim come back late, too: page tables are freed after its processes are gone, and the
# pressure ends only with them. One victim each round.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 1024
innocents 3
settings="bpf: off"
write_config "$(hard 4)"
start_agent
attack_begins
round() {
    calm || return 1
    hostile "hog$1"
    attack "hog$1" "$2" "$3" || return 1
    cross "$4" && wait_for 12 chosen "hog$1" && dies "hog$1" && stay_alive 1 || return 1
    remove_pod "hog$1"
}
for number in 1 2 3; do check "300 MiB without BPF, round $number: only the hog goes" round "$number" hold 300 290; done
for number in 4 5 6; do check "400 MiB of page tables without BPF, round $number: only the hog goes" round "$number" tables 400 390; done
check "the agent's CPU time" attack_costs
finish
