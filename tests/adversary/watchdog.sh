#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The agent proves to systemd that it lives; when it is stopped, or cannot turn its loop any more, the proof stops coming.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 1
"$ATTACKER" --ready "$work/ready" notified "$work/notify" 12000 > "$work/notified" 2>&1 < /dev/null &
listener=$!
disown "$listener"
trap 'kill "$listener" 2> /dev/null; end_attack; clean_up' EXIT
wait_for 5 test -e "$work/ready"
export NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=2000000
start_agent
beats() { grep -c WATCHDOG=1 "$work/notified"; }
alive_proof() { sleep 5; [ "$(beats)" -ge 3 ]; }
check "WATCHDOG=1 comes while it lives" alive_proof
kill -STOP "$agent"
silent() { sleep 0.5; local before; before=$(beats); sleep 3; [ "$(beats)" -eq "$before" ] && [ "$before" -gt 0 ]; }
check "and not when it is stopped" silent
kill -CONT "$agent"
unset NOTIFY_SOCKET WATCHDOG_USEC
finish
