#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Pins that are not ours below bpffsPath stay, whoever made them and whatever they are called.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
if ! command -v bpftool > /dev/null; then skip "pins of others" "needs bpftool"; exit 0; fi
own=/sys/fs/bpf/$name
mkdir -m 700 "$own" && bpftool map create "$own/theirs" type array key 4 value 4 entries 1 name theirs || exit 1
mkdir "$own/more" && bpftool map create "$own/more/theirs" type hash key 4 value 4 entries 1 name theirs || exit 1
innocents 1
there() { [ -e "$own/theirs" ] && [ -e "$own/more/theirs" ]; }
start_agent
check "a start leaves pins of others" there
check "the agent ends with 0" stop_agent
check "an end leaves pins of others" there
start_agent
kill -KILL "$agent"
wait "$agent" 2> /dev/null
agent=
timeout 20 "$EVICTD" undo --config "$work/config.yaml" > "$work/out" 2> "$work/err"
check "undo after SIGKILL leaves pins of others" there
only_theirs() { [ "$(find "$own" -type f | sort | xargs)" = "$own/more/theirs $own/theirs" ]; }
check "and none of ours" only_theirs
root_of_bpffs() { sed "s|bpffsPath: .*|bpffsPath: /sys/fs/bpf|" "$work/config.yaml" > "$work/root.yaml" && ! "$EVICTD" check "$work/root.yaml" > "$work/out" 2> "$work/err"; }
check "check refuses bpffsPath: /sys/fs/bpf" root_of_bpffs
exit "$failed"
