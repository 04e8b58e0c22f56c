#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The memory of one pod cannot be read, so the order is not known: no pod is chosen by chance.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

settings="bpf: off"
begin
innocents 2
for number in 1 2 3; do hostile "small$number" && attack "small$number" hold 2; done
hostile eater
attack eater hold 80
start_agent
why() { "$EVICTD" status -o json --socket "$work/run/evictd.sock" | grep -oE '"why": ?"[^"]*"'; }
says_unread() { why | grep -q "the pods' usage could not be read: no pod is chosen"; }
node_is_short() { # of 300 MiB
    local free
    free=$(awk '/MemFree|Inactive\(file\)/ { s += $2 } END { print int(s / 1024) }' /proc/meminfo)
    reload "evictionHard: {memory.available: $((free + 300))Mi}"
}
unreadable=${hierarchies[0]}/${pod_path[eater]}/memory.stat
nothing_is_chosen() { # nothing_is_chosen FILE: in place of memory.stat
    mount --bind "$1" "$unreadable" || return 1
    mounts_of_test=("$unreadable")
    node_is_short && wait_for 3 says_unread && sleep 1 || return 1
    ! logged '"reason":"(Evicting|Evicted)"' && innocents_live
}
readable_again() { calm; umount "$unreadable" && mounts_of_test=(); }
check "EIO: no pod is chosen" nothing_is_chosen "/proc/$$/mem"
check "it is reported" logged '"reason":"LookIncomplete"'
readable_again
if grep -q "No such process" <(cat /proc/2/mem 2>&1); then # a kernel thread's; older kernels give an empty file
    check "ESRCH of one file is no removed pod: no pod is chosen" nothing_is_chosen /proc/2/mem
    readable_again
else
    skip "ESRCH of one file" "this kernel has no file that says it"
fi
eater_goes() { cross 24 && dies eater && stay_alive 1; }
check "and once it can be read, the eater goes" eater_goes
finish
