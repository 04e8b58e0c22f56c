# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# What fork bombs share: the tasks of the node, and a bound on those of a pod, so that the machine is in no danger. Sourced,
# never run, after lib.sh.

# shellcheck disable=SC2154  # lib.sh has hierarchies, pod_path, work
pids_of() { if is_v2; then echo "/sys/fs/cgroup/${pod_path[$1]}"; else echo "/sys/fs/cgroup/pids/${pod_path[$1]}"; fi; }
running() { local rest; read -r _ _ _ rest < /proc/loadavg; rest=${rest#*/}; echo "${rest%% *}"; }
allowed() { local a b; read -r a < /proc/sys/kernel/pid_max; read -r b < /proc/sys/kernel/threads-max; echo $((a < b ? a : b)); }
# Shows the agent alone a kernel.pid_max of its own, the file $work/pid_max. Fails where there are no mount namespaces.
# shellcheck disable=SC2016,SC2034  # it expands there; start_agent uses wrap
has_own_pid_max() {
    unshare -m --propagation private true 2> /dev/null || return 1
    echo 4194304 > "$work/pid_max"
    wrap=(unshare -m --propagation private bash -c 'mount --bind "$0" /proc/sys/kernel/pid_max && exec "$@"' "$work/pid_max")
}
# Also of its memory: a fork() that fails has taken some, which comes back only after an RCU grace period, and the bomb delays
# that. Where the node's memory ran out, the kernel would end a neighbour.
bound() { # bound POD COUNT: of its tasks
    local memory=${hierarchies[0]}/${pod_path[$1]}/memory.limit_in_bytes
    ! is_v2 || memory=${memory%/*}/memory.max
    echo "$2" > "$(pids_of "$1")/pids.max" && [ "$(cat "$(pids_of "$1")/pids.max")" -eq "$2" ] && echo 640M > "$memory"
}

# Counts the node's tasks until it is ended by SIGTERM, or who started it is gone: the most into $work/peak, and into $work/tasks, every 2 ms, lines
# "MICROSECONDS TASKS". Before everything else, since a bomb leaves others no time.
count_tasks() {
    local now peak=0 rest at noted=0
    trap 'echo "$peak" > "$work/peak"; exit' TERM
    while [ -e "/proc/$parent" ] && [ -d "$work" ] && [ "$SECONDS" -lt 120 ]; do
        read -r _ _ _ rest < /proc/loadavg
        now=${rest#*/} now=${now%% *} at=${EPOCHREALTIME//[!0-9]/}
        [ "$now" -le "$peak" ] || peak=$now
        [ $((at - noted)) -lt 2000 ] || { echo "$at $now"; noted=$at; }
    done > "$work/tasks"
}
count_tasks_beside() { # its pid is in $counter
    nice -n -20 bash -c "$(declare -f count_tasks); work=$work parent=$$; count_tasks" &
    counter=$!
    sleep 0.1
}
count_tasks_ends() { kill -TERM "$counter" && wait "$counter"; }
