#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Connections to /metrics that never end their request hold up neither the others nor evictions.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 2
port=$((20000 + $$ % 10000))
settings="httpAddress: 127.0.0.1:$port"
write_config "$(hard 4)"
start_agent
scrape() { # in two seconds at most
    timeout 2 bash -c "exec 3<> /dev/tcp/127.0.0.1/$port; printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3; cat <&3" > "$work/out" 2> "$work/err"
    says "^evictd_"
}
check "a scrape is answered" scrape
attack_begins
for number in {1..40}; do
    exec {open}<> "/dev/tcp/127.0.0.1/$port" || break
    printf "GET /metrics HTTP/1.1\r\nX-%d: " "$number" >&"$open"
done 2> /dev/null
check "a scrape is answered beside 40 half-open requests, in 6 s at most" wait_for 6 scrape
still() { sleep 5; scrape; }
check "and 5 s later" still
hostile hog
attack hog hold 80
played() { cross 24 && wait_for 5 chosen hog && dies hog && stay_alive 1; }
check "evictions go on" played
check "the agent's CPU time" attack_costs
finish
