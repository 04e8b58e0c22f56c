#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The cases of cases/ on three rigs at once (they mostly wait), each with a line "ok", "not ok" or "skip" a test. Builds what a
# rig needs on first use; exit status 75: it cannot be had here.
# usage: run.sh [NAME...]     env: EVICTD (build/evictd), VM_LOAD (beside it), RIGS (3), KUBE_CASES=part: of the cases that say "in
#        turns" every other one
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
VM_LOAD=$(realpath "${VM_LOAD:-$(dirname "$EVICTD")/vm_load}")
export EVICTD VM_LOAD
cd "$here" || exit 1
# shellcheck source-path=SCRIPTDIR source=rig.sh
. ./rig.sh
unset EVICTD_KUBE_RUN
not_now() { # every other case of those in turns
    local turn in_turns i
    turn=$(turn 2) || return 0
    mapfile -t in_turns < <(grep -l '^# in turns$' cases/*.sh)
    for i in "${!in_turns[@]}"; do [ $(((i + turn) % 2)) -eq 0 ] || echo "${in_turns[i]}"; done
}
left_out=''
if [ $# -eq 0 ]; then
    case ${KUBE_CASES:-all} in
        all) ;;
        part) left_out=$(not_now) ;;
        *) die "KUBE_CASES is all or part, not '$KUBE_CASES'" ;;
    esac
    # Cases that wait for minutes start first: at the end the other rigs would be idle meanwhile.
    for file in $(grep -l '^# waits for minutes$' cases/*.sh) $(grep -L '^# waits for minutes$' cases/*.sh); do
        [[ $'\n'$left_out$'\n' == *$'\n'$file$'\n'* ]] || set -- "$@" "$(basename "$file" .sh)"
    done
fi
for file in $left_out; do echo "skip $(basename "$file" .sh): not in this run, as it is played in turns (KUBE_CASES=part; make test-kube plays all)"; done
./build.sh || exit

# ---- all: a queue of cases, and processes that take from it, each with a rig of its own

rigs=()
# shellcheck disable=SC2317  # the trap calls it
stop_rigs() { # each removes what it made
    [ ${#rigs[@]} -eq 0 ] || { kill "${rigs[@]}" && wait; } 2> /dev/null
}
directories() { ls -d "${masked[@]}" 2> /dev/null; }
# shellcheck disable=SC2317  # check calls it
as_before() { [ "$(directories)" = "$before" ] || masked_elsewhere "${masked[0]}"; }
play_all() { # play_all CASE...
    local pid count=${RIGS:-3}
    before=$(directories)
    trap 'stop_rigs; clean_up' EXIT
    printf '%s\n' "$@" > "$work/queue"
    [ "$count" -le $# ] || count=$#
    while [ ${#rigs[@]} -lt "$count" ]; do
        KUBE_QUEUE=$work/queue ./run.sh "$@" &
        rigs+=($!)
    done
    for pid in "${rigs[@]}"; do wait "$pid" || failed=1; done
    rigs=()
    check "no directory of the host's is added or removed" as_before
    exit "$failed"
}
[ -n "${KUBE_QUEUE:-}" ] || play_all "$@"

# ---- one rig

next_case() ( # next_case: takes it from the queue
    flock 9
    sed -n '1p' "$KUBE_QUEUE"
    sed -i 1d "$KUBE_QUEUE"
) 9> "$KUBE_QUEUE.lock"
print_whole() ( # print_whole: its input, not mixed with what another rig prints
    flock 9
    cat
) 9> "$KUBE_QUEUE.print"

needs() { sed -nE 's/^# needs: (.*)/\1/p' "cases/$1.sh"; } # needs CASE: api or node
why_no_node() {
    if [ "$(id -u)" -ne 0 ]; then echo "a kubelet needs root"
    elif [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then echo "kubelet 1.20 is run on cgroup v1 and hybrid hosts only"
    fi
}
no_node=$(why_no_node)

case_pid=
# shellcheck disable=SC2317  # the trap calls it
stop_case() { # it removes its own rig
    [ -z "$case_pid" ] || { kill "$case_pid" && wait "$case_pid"; } 2> /dev/null
}
trap 'stop_case; kube_down; clean_up' EXIT

play() { # play CASE
    local begin=$SECONDS status=0
    [ -r "cases/$1.sh" ] || { not_ok "there is a case '$1'"; return; }
    if [ -n "$no_node" ] && [ "$(needs "$1")" = node ]; then skip "$1" "$no_node"; return; fi
    # In the background, so that signals are handled while it runs.
    timeout -k 60 $((600 + 30 * ${ROUNDS:-0})) bash "cases/$1.sh" < /dev/null > "$work/case" 2>&1 &
    case_pid=$!
    wait "$case_pid" || status=$?
    case_pid=
    sed -E "s/^(ok|not ok|skip) /\1 $1: /" "$work/case"
    [ "$status" -eq 0 ] || failed=1
    [ "$status" -le 1 ] || echo "not ok $1: ended with status $status"
    echo "    $((SECONDS - begin)) s"
}

check "the API server starts" kube_up
[ -n "$no_node" ] || check "the kubelet starts" kubelet_up
[ "$failed" -eq 0 ] || exit 1
while next=$(next_case) && [ -n "$next" ]; do
    { echo "# $next" && play "$next"; } > "$work/said" 2>&1
    print_whole < "$work/said"
    [ -n "$no_node" ] || remove_pods
done
directory=$rig
check "the rig ends" kube_down
check "and leaves no process, mount, cgroup or file" leaves_nothing "$directory"
exit "$failed"
