#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Eight minutes in which nothing happens: what evictd costs, and which of its threads run, how often, and who wakes them. 110 pods that a real API
# server has, and a real containerd; the pods' cgroups are evictd's own node. Needs root, linux-perf, and what tests/kube
# needs. Prints a line a thread, with a column for each second; perf's file stays in DIRECTORY.
# usage: idle.sh DIRECTORY     env: EVICTD (build/evictd), PODS (110), SECONDS_TRACED (60), DISKS (true)
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
if [ $# -ne 1 ]; then
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
fi
mkdir -p "$1" || exit 2
out=$(realpath "$1")
where=$(cd "$(dirname "$0")" && pwd)
EVICTD=$(realpath "${EVICTD:-$where/../../../build/evictd}")
export EVICTD
# shellcheck source-path=SCRIPTDIR source=../../kube/rig.sh
. "$where/../../kube/rig.sh"
pods=${PODS:-110} traced=${SECONDS_TRACED:-60}
need perf linux-perf
bench=$(dirname "$EVICTD")/evictd_node_bench
[ -x "$bench" ] || { echo "idle.sh: no $bench (run: make build)" >&2; exit 2; }
needs_node 1200 "idle" # a threshold 1 GiB away, as in make bench: the nearer it is, the more often the timer ticks

manifest() { # manifest NAME
    echo "---
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  nodeName: here
  containers:
  - {name: main, image: none, resources: {requests: {memory: 64Mi}}}"
}
make_pods() { # each with a process that sleeps
    local i uid
    for i in $(seq "$pods"); do manifest "web-$i"; done | kubectl create -f - > /dev/null || return 1
    while read -r uid; do
        make_cgroup "$name/kubepods/burstable/pod$uid/c1" || return 1
        sleep 3600 &
        sleepers+=($!)
        for i in "${hierarchies[@]}"; do echo "$!" > "$i/$name/kubepods/burstable/pod$uid/c1/cgroup.procs" || return 1; done
    done < <(kubectl get pods --field-selector spec.nodeName=here -o 'jsonpath={range .items[*]}{.metadata.uid}{"\n"}{end}')
}
sleepers=()
trap 'kill "${sleepers[@]}" 2> /dev/null; kube_down; clean_up' EXIT
all_known() { [ "$("$EVICTD" status --socket "$work/run/evictd.sock" -o json 2> /dev/null | grep -c '"uid"')" -ge "$pods" ]; }
cpu_times() { # TID NAME NANOSECONDS of each thread
    local task
    for task in "/proc/$agent"/task/*; do
        echo "${task##*/} $(tr -c 'a-zA-Z0-9\n' _ < "$task/comm") $(cut -d ' ' -f 1 "$task/schedstat")"
    done
}

check "an API server and a node with containerd start" eval 'kube_up && kubelet_up'
check "$pods pods are made" make_pods
settings="nodeName: here
  kubeconfig: $rig/evictd.kubeconfig
  disks: ${DISKS:-true}"
write_config "evictionHard: {memory.available: 1Mi}" "containerRuntimeEndpoint: unix://$node/sock/containerd.sock"
start_agent
check "evictd knows the pods" wait_for 30 all_known
sleep 75 # starting is not running: a minute after it libraries give back what they used once
"$bench" agent "$agent" "/sys/fs/bpf/$name" # without perf, and with the kernel's timer
cpu_times > "$out/before"
perf record -q -a -o "$out/idle.data" -e sched:sched_switch -e sched:sched_waking -- sleep "$traced"
cpu_times > "$out/after"
perf script -i "$out/idle.data" -F comm,tid,time,event,trace --ns 2> /dev/null |
    awk -v seconds="$traced" -f "$where/idle.awk" "$out/before" "$out/after" -
grep -E "VmRSS" "/proc/$agent/status"
check "evictd ends" stop_agent
exit "$failed"
