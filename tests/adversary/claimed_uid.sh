#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A manifest that repeats the UID of a running pod does not displace it, nor take its place in the order.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
innocent owner 8
hostile hog
start_agent
attack hog hold 80
write_manifest aaa "$(uid_of owner)" "" -1000 # first by name, no request, lowest priority
attack_begins
played() { sleep 1; cross 24 && wait_for 5 chosen hog && dies hog && stay_alive 2; }
check "the pod whose UID was claimed lives" played
check "nor is it known by the other name" eval '! logged "\"reason\":\"Evict[a-z]*\".*\"name\":\"aaa\""'
check "the agent's CPU time" attack_costs
finish
