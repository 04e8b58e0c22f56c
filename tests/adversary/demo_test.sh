#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd demo --scenario forkbomb: what it shows really happened, and nothing of it is left, also where it was interrupted or
# killed.
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
[ "$(id -u)" -eq 0 ] || { skip "demo forkbomb" "needs root"; exit 0; }
find_hierarchies || { skip "demo forkbomb" "no memory controller is mounted"; exit 0; }
is_v2 || [[ "${hierarchies[*]}" == */pids* ]] || { skip "demo forkbomb" "no pids controller is mounted"; exit 0; }

demo='' cgroup=none its_agent=''
leave() {
    [ -z "$demo" ] || kill -TERM "$demo" 2> /dev/null
    clean_up
}
trap leave EXIT
plays() { timeout -k 5 120 "$top/tests/adversary/demo.sh" > "$work/out" 2> "$work/err" < /dev/null; }
check "the demo says that all went as it should" plays
one_goes() { [ "$(grep -c 'evictd: Evicted: ' "$work/out")" -eq 1 ] && says 'evictd: Evicted: Pod default/crawler is gone'; }
check "one pod is evicted, the one that forks" one_goes
figures() { says 'was gone: [1-9][0-9]* ms' && says '[1-9][0-9]* tasks a second' && says '^ +[0-9]+ ms  █+\|'; }
check "the picture and the verdict have figures" figures

start() { # start: until it has made its node
    : > "$work/out"
    "$top/tests/adversary/demo.sh" > "$work/out" 2> "$work/err" < /dev/null &
    demo=$!
    disown
    cgroup=evictd-test-$demo
    wait_for 60 says 'evictd runs' && alive "$demo" && its_agent=$(agent_of_demo) && [ -n "$its_agent" ]
}
agent_of_demo() { # its pid, by the configuration that names the demo's cgroup
    local pid file
    for pid in $(pgrep -x evictd); do
        file=$(tr '\0' '\n' < "/proc/$pid/cmdline" 2> /dev/null | grep 'config\.yaml$') || continue
        if grep -qx "cgroupRoot: /$cgroup" "$file" 2> /dev/null; then echo "$pid"; fi
    done
}
nothing_left() { [ -z "$(find /sys/fs/cgroup /sys/fs/bpf -maxdepth 2 -name "$cgroup")" ] && gone "$its_agent"; }
interrupted() { start && kill -TERM "$demo" && wait_for 20 gone "$demo" && wait_for 10 nothing_left; }
check "nothing is left of one that is interrupted" interrupted
killed() { start && kill -KILL "$demo" && wait_for 20 nothing_left; }
check "nor of one that is killed" killed
demo=''
exit "$failed"
