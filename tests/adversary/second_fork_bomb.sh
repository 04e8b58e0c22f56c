#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A second fork bomb while no task of the first one has been waited for. It is bounded to so few tasks that those of the first
# still explain why the threshold is met. The agent alone is shown a kernel.pid_max that is a little above what runs.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=pids.sh
. "$(dirname "$0")/pids.sh"

quantity=400 # of the threshold: others may take a quarter of it
below=300    # tasks to the line
first=600    # tasks of the first bomb, at most
second=250   # of the second: quantity <= what is available and the first one's tasks
begin 1024
innocents 3
[ -e "$(pids_of innocent1)/pids.max" ] || { skip "a second fork bomb" "no pids controller is mounted"; exit 0; }
has_own_pid_max || { skip "a second fork bomb" "no mount namespaces"; exit 0; }
keepers=() # of zombies
free_zombies() { [ ${#keepers[@]} -eq 0 ] || kill -KILL "${keepers[@]}" 2> /dev/null; keepers=(); }
trap 'free_zombies; end_attack; clean_up' EXIT
start_agent

is_known() { run 0 status --socket "$work/run/evictd.sock" && says "default/$1 "; }
prepare() { # prepare POD COUNT: it may have so many tasks
    hostile "$1" && wait_for 10 is_known "$1" && bound "$1" "$2"
}
unreaped_bomb() { # unreaped_bomb POD: its tasks count until free_zombies
    "$ATTACKER" adopt bash -c "$enter" "$name" "${pod_path[$1]}/c1" "${hierarchies[@]}" -- \
        "exec $ATTACKER --ready $work/ready.$1 bomb" > /dev/null 2>> "$work/hogs" < /dev/null &
    keepers+=("$!")
    disown "$!"
    wait_for 60 test -e "$work/ready.$1"
}
arm_line() {
    echo $(($(running) + below + quantity)) > "$work/pid_max"
    reload "evictionHard: {allocatableMemory.available: 4Mi, pid.available: $quantity}"
}
zombies() { cat "$(pids_of "$1")/pids.current"; }

check "both bombs are bounded" prepare one "$first"
check "both bombs are bounded" prepare two "$second"
check "a threshold on pid.available is taken" arm_line
first_goes() { unreaped_bomb one && wait_for 20 dies one 20 && wait_for 5 evicted one && [ "$(zombies one)" -gt $((below / 2)) ]; }
check "the first bomb is evicted, and its tasks still count" first_goes
counts() { run 0 status --socket "$work/run/evictd.sock" && says "ended and still count"; }
check "status says what evictions wait for" wait_for 3 counts
check "they cost no other pod its life" stay_alive 1
second_goes() {
    local begun=${EPOCHREALTIME//[!0-9]/}
    attack two bomb && wait_for 4 dies two 4 || return 1
    echo "    the second is empty $(((${EPOCHREALTIME//[!0-9]/} - begun) / 1000)) ms after its start, $(zombies one) tasks of the first still count"
    wait_for 5 evicted two && [ "$(zombies one)" -gt $((below / 2)) ]
}
check "the second bomb is evicted meanwhile" second_goes
check "the innocents live" stay_alive 1
free_zombies
finish
