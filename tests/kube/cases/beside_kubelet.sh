#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd and a kubelet that are configured alike: which of them evicts, and whether the other evicts one more pod. evictd takes
# the kubelet's thresholds from its /configz, and says where the kubelet would be first.
# needs: node
# env: ROUNDS (3), NOTIFY (true: the kubelet is woken by the kernel at its threshold, kernelMemcgNotification; false: it polls)
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
rounds=${ROUNDS:-3} notify=${NOTIFY:-true}

restart_kubelet() { # restart_kubelet MIB: with this hard threshold on memory.available, and so on what is allocatable
    cat > "$work/kubelet.yaml" << END
evictionHard: {memory.available: ${1}Mi}
evictionPressureTransitionPeriod: 2s
kernelMemcgNotification: $notify
END
    stop_recorded "$node/kubelet.pid"
    KUBELET_CONFIG=$work/kubelet.yaml kubelet_up && wait_for 30 kubelet_listens # the node was Ready before
}
kubelet_listens() { (exec 3<> "/dev/tcp/127.0.0.1/$(cat "$node/kubelet.port")") 2> /dev/null; }
cluster() { # cluster auto|off: evictd's settings
    settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: \"$node/certs/kubelet.crt\", config: $1}"
}
status_says() { "$EVICTD" status -o json --socket "$work/run/evictd.sock" 2> /dev/null | tr -d ' \n' > "$work/out" && says "$1"; }
threshold_is() { status_says "\"signal\":\"$1\",.{0,300}\"value\":\"$2\""; }

# ---- the kubelet's thresholds
restart_kubelet 128
cluster auto
write_config "# no threshold of its own"
sed -i '/^evictionPressureTransitionPeriod/d; /^cgroupRoot/d' "$work/config.yaml" # the kubelet's are taken
start_agent
taken() { threshold_is memory.available 128Mi && threshold_is allocatableMemory.available 128Mi && status_says "/$(cgroup_of "$rig")/kubepods"; }
check "the kubelet's thresholds and cgroup root are taken from /configz" wait_for 10 taken
none_first() { status_says 'kubelet.sthresholds.*noneisreachedbefore'; }
check "none of them is reached before evictd's" none_first
follows() { restart_kubelet 96 && wait_for 90 threshold_is memory.available 96Mi && logged '"reason":"ConfigReloaded"'; }
check "a kubelet that is started with others is followed" follows
stop_agent
kept() { # without the kubelet
    stop_recorded "$node/kubelet.pid"
    [ "$(stat -c %a "$work/state/kubelet_config")" = 600 ] && start_agent && threshold_is memory.available 96Mi &&
        status_says '"chosen":"/configz,kept".*whatitansweredat' && status_says "/$(cgroup_of "$rig")/kubepods"
}
check "while a kubelet does not answer, what it answered last is in force" kept
stop_agent
floor() { rm "$work/state/kubelet_config" && start_agent && threshold_is memory.available 100Mi && status_says 'notknown;untilitanswers,memory.available<100Mi'; }
write_config "# no threshold of its own" # with its cgroupRoot
check "where nothing was kept, its default for memory" floor
answers_again() { restart_kubelet 128 && wait_for 90 threshold_is memory.available 128Mi && status_says '"chosen":"/configz"' && [ -s "$work/state/kubelet_config" ]; }
check "until it answers" answers_again
stop_agent
cluster off
write_config 'evictionHard: {memory.available: 64Mi}'
start_agent
warned() { logged '"reason":"SignalSourceChanged".*acts only after the kubelet.*memory.available below 128Mi'; }
check "with thresholds of its own it warns that the kubelet is first" wait_for 90 warned
stop_agent

# ---- rounds
cluster auto
write_config "# no threshold of its own"
sed -i '/^evictionPressureTransitionPeriod/d' "$work/config.yaml"
rm -f "$log"
start_agent
check "both are configured alike" wait_for 10 threshold_is allocatableMemory.available 128Mi

by_kubelet() { # by_kubelet [POD]: how many pods the kubelet evicted, by its events
    kubectl get events -o 'jsonpath={range .items[?(@.reason=="Evicted")]}{.source.component}{" "}{.involvedObject.name}{"\n"}{end}' |
        grep -cE "^kubelet ${1:-}"
}
total_us() { grep '"reason":"Evict' "$log" | grep "\"name\":\"$1\"" | sed -nE 's/.*"total":([0-9]+).*/\1/p' | tail -n 1; }
first=0 others=0
: > "$work/latencies"
play() { # play N: one pod grows until it is over the line of both
    local hog=hog-$1 latency
    RESTART=Never make_pod "$hog" "" "" vm_load grow 200 --hold 64 --up-to 980 --after /tmp/go
    if ! wait_for 40 pod_is "$hog" Running || ! wait_for 10 eval "container_pid $hog > /dev/null" ||
        ! wait_for 10 status_says "\"$hog\""; then
        echo "    round $1: the pod does not start"
        return 1
    fi
    touch "/proc/$(container_pid "$hog")/root/tmp/go"
    wait_for 30 eval "evicted $hog || [ \$(by_kubelet $hog) -gt 0 ]"
    sleep 12 # the kubelet looks every 10 s
    latency=$(total_us "$hog")
    if evicted "$hog" && [ "$(by_kubelet "$hog")" -eq 0 ]; then
        first=$((first + 1))
        echo "${latency:-0}" >> "$work/latencies"
    fi
    others=$((others + $(by_kubelet idle)))
    kubectl delete pod "$hog" --force --grace-period 0 > /dev/null 2>&1
    kubectl delete events --all > /dev/null
    wait_for 30 eval "! status_says '\"$hog\"'"
}
idle() { # idle: pods that use little; one that was evicted is replaced
    local pod
    for pod in idle-1 idle-2; do
        [ "$(jsonpath "pod/$pod" '{.status.phase}' 2> /dev/null)" != Failed ] || kubectl delete pod "$pod" --force --grace-period 0 > /dev/null 2>&1
        kubectl get pod "$pod" > /dev/null 2>&1 || make_pod "$pod" "" "" vm_load hold 24
        wait_for 40 pod_is "$pod" Running || return 1
    done
}
all_rounds() {
    local n
    for ((n = 1; n <= rounds; n++)); do
        idle && play "$n" || return 1
    done
}
check "$rounds rounds are played" all_rounds
echo "    evictd first: $first of $rounds; another pod evicted by the kubelet all the same: $others; crossing to kill, median: $(sort -n "$work/latencies" | sed -n "$(((first + 1) / 2))p") us"
check "evictd is first in all of them" [ "$first" -eq "$rounds" ]
only_hogs() { [ "$(count '"reason":"Evicted".*"name":"idle')" -eq 0 ]; }
check "and evicts no other pod" only_hogs
check "it ends with 0" stop_agent
stop_recorded "$node/kubelet.pid"
kubelet_up # as other cases expect it
exit "$failed"
