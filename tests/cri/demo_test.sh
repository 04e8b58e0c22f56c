#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd demo --scenario disk: what it shows really happened, and nothing of it is left, also where it was interrupted or killed.
# shellcheck disable=SC2317  # check calls functions by name
# usage: demo_test.sh     env: EVICTD (build/evictd)
set -uo pipefail
EVICTD=$(realpath "${EVICTD:-$(dirname "$0")/../../build/evictd}")
export EVICTD
[ "$(id -u)" -eq 0 ] || { echo "skip demo disk: needs root"; exit 0; }
# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"
mkdir "$work/tmp"
export TMPDIR=$work/tmp
"$top/tests/cri/build.sh" > "$work/out" 2>&1
[ $? -ne 75 ] || { echo "skip demo disk: containerd cannot be had here"; exit 0; }

demo=
leave() { # the demo cleans up after itself; that is waited for
    [ -z "$demo" ] || kill -KILL "$demo" 2> /dev/null
    wait_for 20 nothing_left || true
    clean_up
}
trap leave EXIT
start() { # start: until its pods and evictd run
    : > "$work/out" # of an earlier one
    setsid "$EVICTD" demo --scenario disk > "$work/out" 2> "$work/err" < /dev/null &
    demo=$!
    disown
    wait_for 60 says 'evictd runs' && alive "$demo"
}
demos() { find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'evictd-disk.*'; }
# Each demo's cgroup is named after its directory, which is noted: it is gone first.
note_demo() { made=$(demos) && [ -n "$made" ] && cgroup=evictd-disk-${made##*.}; }
nothing_left() {
    [ -z "$(demos)" ] && [ -z "$(find /sys/fs/cgroup /sys/fs/bpf -maxdepth 2 -name "${cgroup:-none}" 2> /dev/null)" ] &&
        ! grep -q "${TMPDIR/tmp/[t]mp}/" /proc/[0-9]*/mountinfo /proc/[0-9]*/cmdline 2> /dev/null && # not grep's own
        ! grep -q "$TMPDIR/" /sys/block/loop*/loop/backing_file 2> /dev/null
}

plays() { timeout -k 5 120 "$EVICTD" demo --scenario disk > "$work/out" 2> "$work/err" < /dev/null; }
check "the disk demo says that all went as it should" plays
events() { sed -nE 's/^ *[0-9.]+ s  evictd: ([A-Za-z]+): (.*)/\1 \2/p' "$work/out"; }
first() { grep -nm 1 -- "$1" <(events) | cut -d : -f 1; }
reclaimed_first() { [ "$(first '^ReclaimSucceeded')" -lt "$(first '^Evicting')" ]; }
check "garbage goes before any pod" reclaimed_first
one_goes() { [ "$(grep -c '^Evicted ' <(events))" -eq 1 ] && grep -q '^Evicted Pod batch/report ' <(events); }
check "one pod is evicted, the one that filled the disk" one_goes
figures() { says '^OK: [1-9][0-9]*Mi of garbage' && says 'to the decision which pod is evicted: [0-9]+ ms' && says '[1-9][0-9]*Mi came back'; }
check "the verdict has figures" figures
check "nothing is left" nothing_left

interrupted() { start && note_demo && kill -TERM "$demo" && wait_for 20 gone "$demo" && nothing_left; }
check "nor of one that is interrupted, once it has ended" interrupted
killed() { start && note_demo && kill -KILL "$demo" && wait_for 20 nothing_left; }
check "nor of one that is killed" killed
killed_with_cleaner() {
    local cleaner
    start && note_demo || return
    mapfile -t cleaner < <(pgrep -f "demo.sh clean $made ")
    kill -KILL "${cleaner[@]}" "$demo" && sleep 2 && ! nothing_left || return
    start && kill -TERM "$demo" && wait_for 20 gone "$demo" && nothing_left
}
check "nor of one whose cleaner was killed too, after the next" killed_with_cleaner
exit "$failed"
