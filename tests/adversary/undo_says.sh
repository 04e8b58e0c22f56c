#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# undo says what it put back, what it could not, and why; and has an exit status for it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 1
start_agent
kill -KILL "$agent"
wait "$agent" 2> /dev/null
agent=
as_user() { # not root: it can do nothing, and says so
    local status=0
    chmod 755 "$work" "$work/config.yaml"
    cp "$EVICTD" "$work/evictd" 2> /dev/null && chmod 755 "$work/evictd"
    as_nobody "$work/evictd" undo --config "$work/config.yaml" > "$work/out" 2> "$work/err" || status=$?
    [ "$status" -eq 4 ] && [ -s "$work/err" ]
}
check "not as root: it fails and says why" as_user
spoken() { "$EVICTD" undo --config "$work/config.yaml" > "$work/out" 2> "$work/err"; [ -s "$work/out" ] || [ -s "$work/err" ]; }
check "it says what it did" spoken
mkdir -p "$work/state"
printf "\x01garbage" > "$work/state/rungs"
printf "\x01garbage" > "$work/state/raised_scores"
broken() { local status=0; "$EVICTD" undo --config "$work/config.yaml" > "$work/out" 2> "$work/err" || status=$?; [ "$status" -eq 1 ] && complains "state/rungs:" && complains "state/raised_scores:"; }
check "a broken ledger is a failure that is said" broken
exit "$failed"
