#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A demo whose agent is stopped while the pod grows: the kernel's OOM killer is faster, and the demo reports it
# instead of waiting two minutes. A leak grows slowly enough to stop the agent in time.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 64 "the kernel's OOM killer is faster than the demo's agent"
out=$work/out demo=
stop_demo() { [ -z "$demo" ] || { kill -CONT "${stopped:-$demo}"; kill "$demo"; wait "$demo"; } 2> /dev/null; }
trap 'stop_demo; clean_up' EXIT
begun() { grep -q ' begin  ' "$out"; }
killed() { grep -q "the kernel's OOM killer was faster: it killed 1$" "$out"; }

"$EVICTD" demo --scenario leak --no-bpf > "$out" 2> "$work/err" < /dev/null &
demo=$!
check "the demo begins" wait_for 60 begun
stopped=$(pgrep -P "$demo" -f ' run ')
check "the agent is stopped" kill -STOP "$stopped"
oom_killed() { grep -qs "^oom_kill [1-9]" /sys/fs/cgroup{,/memory}/evictd-demo-"$demo"/kubepods/{,*/}pod*/app/memory.{oom_control,events}; }
check "the kernel's OOM killer kills a process" wait_for 60 oom_killed
kill -CONT "$stopped"
check "the demo reports the OOM kill" wait_for 20 killed
status=0
wait "$demo" || status=$?
demo=
check "the demo exits with status 1" [ "$status" -eq 1 ]
exit "$failed"
