#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A restart at once after SIGKILL, the dead process still dying or not reaped: the new agent takes over.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 2
round() {
    local pid
    start_unreaped || return 1
    pid=$(cat "$work/pid")
    kill -KILL "$pid"
    start_agent # fails the test if it does not answer in 10 s
    stop_agent || return 1
    kill "$parent" 2> /dev/null
}
start_unreaped() { # an agent whose parent never reaps it
    rm -f "$work/pid" "$work/ready"
    "$ATTACKER" --ready "$work/ready" unreaped "$EVICTD" run --config "$work/config.yaml" > "$work/pid" 2> "$work/err" < /dev/null &
    parent=$!
    disown "$parent"
    wait_for 10 answers
}
trap 'kill -KILL $(cat "$work/pid") "$parent" 2> /dev/null; end_attack; clean_up' EXIT
for number in 1 2 3 4 5 6; do check "restart at once after SIGKILL, round $number" round; done
check "the innocents live" stay_alive 1
none_pinned() { [ ! -e "/sys/fs/bpf/$name" ]; }
check "no pin is left" none_pinned
exit "$failed"
