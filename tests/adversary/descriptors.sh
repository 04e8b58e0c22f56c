#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim with more processes than the agent has descriptors: EMFILE is not "gone". Every process is killed, and no other pod.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
innocents 3
hostile crowd
attack crowd many 600 64
wrap=(prlimit --nofile=200:200)
start_agent
attack_begins
played() { cross 24 && wait_for 5 chosen crowd && dies crowd && stay_alive 3; }
check "600 processes are killed with 200 descriptors, and only they" played
few_events() { [ "$(wc -l < "$log")" -le 60 ]; }
check "it is reported in a few events" few_events
check "the agent's CPU time" attack_costs
finish
