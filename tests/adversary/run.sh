#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Plays attacks on this kernel, several at once: most of the time each waits. Prints every file's lines in one block.
# usage: run.sh [NAME...]     env: EVICTD (build/evictd) ATTACKER (beside it) AT_ONCE (4) ADVERSARY_SECONDS (20)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
export EVICTD here
if [ $# -eq 0 ]; then
    for file in "$here"/*.sh; do
        case ${file##*/} in run.sh | lib.sh | pids.sh | demo.sh | demo_test.sh) ;; *) set -- "$@" "$(basename "$file" .sh)" ;; esac
    done
fi

# shellcheck disable=SC2016  # expanded there
printf '%s\n' "$@" | xargs -P "${AT_ONCE:-4}" -I NAME bash -c '
    exec 8< "$here/lib.sh"
    # The first count the tasks of the whole node, with a line 300 away; the others make them by the hundred.
    case NAME in
        fork_bomb | second_fork_bomb) flock --exclusive 8 ;;
        idle_processes | costs_without_bpf | descriptors | flips) flock --shared 8 ;;
    esac
    begin=$SECONDS status=0
    said=$(timeout -k 20 240 bash "$here/NAME.sh" 2>&1 < /dev/null 8<&-) || status=$?
    [ "$status" -le 1 ] || said+=$'"'\n'"'"not ok NAME ended with status $status"
    exec 9< "$here/run.sh"
    flock 9
    printf "# NAME (%d s)\n%s\n" $((SECONDS - begin)) "$(sed -E "s/^(ok|not ok|skip) /\1 NAME: /" <<< "$said")"
    exit "$status"'
status=$?
[ "$status" -eq 0 ] || exit 1
