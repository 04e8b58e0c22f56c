#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod makes 2,000 cgroups, each with a limit of its own, and hits them all, again and again.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 1024
count=${CGROUPS:-2000}
innocents 2
hostile flood
directory=$(mktemp -d /var/tmp/evictd-test-XXXXXX)
trap 'end_attack; rm -rf "$directory"; clean_up' EXIT
start_agent
attack_begins
at=${hierarchies[0]}/${pod_path[flood]}
check "the attack is on" attack flood limits "$at" "$count" "$directory/holes"
check "the agent's CPU time" attack_costs
hit() { # those that have hit their limits
    cat "$at"/n*/memory.failcnt "$at"/n*/memory.events 2> /dev/null | awk '$1 == "max" { $1 = $2 } $1 > 0 && NF < 3 { hit++ } END { print hit + 0 }'
}
echo "    $(hit) of $count cgroups at their limits, $(count PodAtMemoryLimit) events of it, $(wc -l < "$log") events in all"
reported() { wait_for 15 logged '"reason":"PodAtMemoryLimit".*"name":"flood"'; }
check "it is reported" reported
few() { [ "$(count PodAtMemoryLimit)" -le 3 ] && [ "$(count KernelEventsLost)" -eq 0 ]; }
check "once a minute, and nothing is lost" few
check "the innocents live" stay_alive 1
finish
