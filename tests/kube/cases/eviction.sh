#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# An eviction beside a kubelet: the pod is dead within milliseconds, the API server shows it as Failed (Evicted), and the
# kubelet does not start it again; also with the API server away, and with evictd killed at any moment.
# needs: node
# env: EVICTIONS (10), KILLS (5): how many; TOGETHER (5): pods at once
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: $node/certs/kubelet.crt}"
evictions=${EVICTIONS:-10} kills=${KILLS:-5} together=${TOGETHER:-5}
watched=12 # seconds

write_config "evictionHard: {allocatableMemory.available: 700Mi}"
start_agent
status_says() { run 0 status --socket "$work/run/evictd.sock" && says "$1"; }
hog() { make_pod "$1" "" "" vm_load grow 400 --up-to "${2:-400}" --after /tmp/go; } # hog NAME [MIB]
ready() { # ready NAME: it runs, and evictd knows it
    wait_for 40 pod_is "$1" Running && wait_for 10 container_pid "$1" > /dev/null && wait_for 10 status_says "default/$1"
}
grow() { touch "/proc/$(container_pid "$1")/root/tmp/go"; }
of_pod() { grep "\"reason\":\"$1\"" "$log" 2> /dev/null | grep "\"name\":\"$2\""; } # of_pod REASON POD
is_shown() { [ "$(jsonpath "pod/$1" '{.status.phase}' 2> /dev/null)" = Failed ]; }
is_target() { [ "$(jsonpath "pod/$1" '{.status.conditions[?(@.type=="DisruptionTarget")].status}')" = True ]; }
runs() { container_pid "$1" > /dev/null 2>&1; }
stays_dead() { # stays_dead POD...: no process at all for as long as evictd watches
    local end=$((SECONDS + watched)) pod
    while [ "$SECONDS" -lt "$end" ]; do
        for pod; do ! runs "$pod" || { echo "    $pod runs again"; return 1; }; done
        sleep 0.2
    done
    for pod; do is_shown "$pod" || { echo "    $pod is $(jsonpath "pod/$pod" '{.status.phase}')"; return 1; }; done
}
remove() { kubectl delete pod "$@" --force --grace-period 0 > /dev/null 2>&1; }

first_eviction() {
    hog first && ready first && grow first && wait_for 10 evicted first && wait_for 5 is_shown first && is_target first
}
check "a pod over the threshold is killed, and Failed in the API" first_eviction
check "its DisruptionTarget has the kubelet's message" eval \
    'jsonpath pod/first "{.status.conditions[?(@.type==\"DisruptionTarget\")].message}" | grep -q "^The node was low on resource: memory. "'
check "it does not run again within $watched s" stays_dead first
check "and the watch ends" wait_for 5 of_pod EvictionSettled first
remove first

latency() { sed -nE "s/.*\"latency_us\":\{[^}]*\"$1\":([0-9]+).*/\1/p"; } # latency KEY < EVENTS: in microseconds
median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
round() { # round FIRST: pods of one round, each of them evicted
    local names=() i pod
    for ((i = $1; i < $1 + together && i < evictions; i++)); do names+=("hog-$i"); done
    for pod in "${names[@]}"; do hog "$pod" 400; done
    for pod in "${names[@]}"; do ready "$pod" || return 1; done
    for pod in "${names[@]}"; do grow "$pod" && wait_for 20 evicted "$pod" || return 1; done
    stays_dead "${names[@]}"
    local status=$?
    remove "${names[@]}"
    wait_until 30 no_pod_cgroups
    return "$status"
}
rounds() {
    local i
    for ((i = 0; i < evictions; i += together)); do round "$i" || return 1; done
}
check "$evictions evictions, $together pods at a time: none runs again" rounds
times() {
    local kill api again
    kill=$(grep '"reason":"Evicted"' "$log" | latency total | median)
    api=$(grep '"reason":"EvictionReported"' "$log" | latency api | median)
    again=$(count '"reason":"EvictedPodRestarted"')
    echo "    median crossing to SIGKILL $kill us, decision to the API server's answer $api us, killed again $again"
    [ -n "$kill" ] && [ -n "$api" ]
}
check "each says how long that took" times

api_away() {
    local pid
    hog away && ready away && pid=$(container_pid away) && api_server_down && touch "/proc/$pid/root/tmp/go" &&
        wait_for 10 evicted away && wait_for 10 of_pod EvictionNotDelivered away
}
check "with the API server away it is killed all the same" api_away
check "and killed again as the kubelet starts it" wait_for 30 of_pod EvictedPodRestarted away
delivered() { kube_up && wait_for 60 of_pod EvictionReported away && wait_for 20 is_shown away && stays_dead away; }
check "which is delivered when the server is back" delivered
remove away

killed_at_random() {
    local i delay
    for ((i = 0; i < kills; i++)); do
        hog "crash-$i" && ready "crash-$i" && grow "crash-$i" || return 1
        delay=$(printf '0.%03d' $((650 + RANDOM % 300))) # it takes 0.8 s to reach the threshold
        sleep "$delay"
        kill -KILL "$agent" && wait "$agent" 2> /dev/null
        agent=
        start_agent
        wait_for 40 is_shown "crash-$i" || { echo "    killed after $delay s: crash-$i is not Failed"; return 1; }
        stays_dead "crash-$i" || { echo "    killed after $delay s"; return 1; }
        remove "crash-$i"
        wait_until 30 no_pod_cgroups
    done
}
check "evictd is killed $kills times during an eviction: each is carried through" killed_at_random

check "it ends with 0" stop_agent
exit "$failed"
