#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# One part of a unit test program of the current directory, into DIR/PROGRAM.PART.log. How it ended is a line there, if none
# of its tests says so.
# usage: unit_part.sh DIR PARTS PROGRAM.PART
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
log=$1/$3.log program=${3%.*}
status=0
GTEST_TOTAL_SHARDS=$2 GTEST_SHARD_INDEX=${3##*.} without_aslr timeout -k 10 600 "./$program" --gtest_color=no \
    > "$log" 2>&1 < /dev/null || status=$?
if [ "$status" -ne 0 ] && ! grep -qE '^\[  FAILED  \] .*\([0-9]+ ms\)$' "$log"; then
    echo "[  FAILED  ] $3 ended with status $status (0 ms)" >> "$log"
fi
exit "$status"
