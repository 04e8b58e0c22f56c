#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Any local user can flock the directory of the pods' cgroup: neither run nor undo may refuse because of it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 1
lock=$work/lock
mkdir -m 777 "$lock"
cp "$ATTACKER" "$lock/attacker" && chmod 755 "$lock/attacker" # where nobody can reach it
lockers=
for mount in "${hierarchies[@]}"; do
    for at in "$mount/$name" "$mount/$name/kubepods"; do
        # Not as_nobody: $! has to be the process that holds the lock.
        setpriv --reuid=65534 --regid=65534 --clear-groups -- "$lock/attacker" --ready "$lock/ready" lock "$at" > /dev/null 2>&1 < /dev/null &
        disown $!
        lockers+=" $!"
        wait_for 5 test -e "$lock/ready" && rm -f "$lock/ready"
    done
done
trap 'kill $lockers; end_attack; clean_up' EXIT
undone() { run 0 undo --config "$work/config.yaml"; }
start_agent
check "run starts, with the pods' cgroup locked by a local user" answers
hostile hog
attack hog hold 80
played() { cross 24 && wait_for 5 chosen hog && dies hog && stay_alive 1; }
check "and evicts" played
check "the agent ends with 0" stop_agent
check "undo works, too" undone
exit "$failed"
