#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Signals that come at once or that nobody asked for end nothing without its clean-up.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 1
clean_end() { # clean_end SIGNAL...: the agent gets them at once, and ends as it should
    local signal status=0
    start_agent
    for signal in "$@"; do kill "-$signal" "$agent"; done
    wait "$agent" || status=$?
    agent=
    [ "$status" -eq 0 ] || { echo "    status $status"; return 1; }
    [ ! -e "/sys/fs/bpf/$name" ] || { echo "    pins are left"; return 1; }
    [ ! -S "$work/run/evictd.sock" ] || { echo "    the socket is left"; return 1; }
}
for number in 1 2 3 4; do
    check "SIGTERM twice, $number" clean_end TERM TERM
    check "SIGINT and SIGTERM, $number" clean_end INT TERM TERM INT
done
survives() { # survives SIGNAL
    start_agent
    kill "-$1" "$agent"
    sleep 0.3
    answers && stop_agent && [ ! -e "/sys/fs/bpf/$name" ]
}
for signal in USR1 USR2 PIPE; do check "SIG$signal ends nothing" survives "$signal"; done
early() { # early SECONDS: SIGTERM while it starts
    local status=0
    timeout -k 10 "$1" "$EVICTD" run --config "$work/config.yaml" > "$work/out" 2> "$work/err" < /dev/null || status=$?
    [ "$status" -eq 124 ] || { echo "    status $status"; return 1; }
    [ ! -e "/sys/fs/bpf/$name" ] && [ ! -S "$work/run/evictd.sock" ]
}
for seconds in 0.01 0.05 0.1 0.2 0.4; do check "SIGTERM $seconds s after the start leaves nothing" early "$seconds"; done
check "the innocents live" stay_alive 1
exit "$failed"
