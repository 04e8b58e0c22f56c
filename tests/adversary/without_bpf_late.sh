#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where BPF is not used, the last MiB of a victim come back late, too: 8 rounds, one victim each.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
settings="bpf: off"
write_config "$(hard 4)"
start_agent
attack_begins
round() {
    calm || return 1
    hostile "hog$1"
    attack "hog$1" hold 80 || return 1
    cross 24 && wait_for 12 chosen "hog$1" && dies "hog$1" && stay_alive 1 || return 1
    remove_pod "hog$1"
}
for number in 1 2 3 4 5 6; do check "without BPF, round $number: only the hog goes" round "$number"; done
check "the agent's CPU time" attack_costs
finish
