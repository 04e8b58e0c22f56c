#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd's conditions and taints on a node of a real API server, and what removes them: the end of the pressure, a clean exit,
# the agent after one that was killed, and evictd cleanup. The node has no kubelet; the pressure is that of a cgroup of our own.
# needs: api
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
needs_node 128 "conditions and taints"

leave() {
    kubectl delete node quiet other > /dev/null 2>&1
    kubectl delete clusterrolebinding test-untainted > /dev/null 2>&1
    [ -z "$agent" ] || killed
    rm -rf "/dev/shm/$name"
}
trap 'leave; kube_down; clean_up' EXIT
make_node_object() { # make_node_object NAME: with a taint and a condition of others
    kubectl create -f - > /dev/null << END
apiVersion: v1
kind: Node
metadata: {name: "$1"}
spec: {taints: [{key: theirs, value: v, effect: PreferNoSchedule}]}
END
    answers_with 200 admin "/api/v1/nodes/$1/status" -X PATCH -H 'Content-Type: application/strategic-merge-patch+json' \
        -d '{"status": {"conditions": [{"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory"}]}}'
}
{ make_node_object quiet && make_node_object other; } || { not_ok "the nodes are made"; exit 1; }

taints() { jsonpath "node/${1:-quiet}" '{range .spec.taints[*]}{.key}={.value}:{.effect} {end}' 2> /dev/null; }
conditions() { jsonpath "node/${1:-quiet}" '{range .status.conditions[*]}{.type}={.status}:{.reason} {end}' 2> /dev/null; }
taint=evictd.io/memory-pressure=:NoSchedule theirs=theirs=v:PreferNoSchedule
low=evictd.io/MemoryPressure=True:EvictdHasInsufficientMemory enough=evictd.io/MemoryPressure=False:EvictdHasSufficientMemory
their_condition=MemoryPressure=False:KubeletHasSufficientMemory
has() { [[ " $("$1") " == *" $2 "* ]]; } # has taints|conditions ONE
lacks() { ! has "$@"; }
others_are_left() { has taints "$theirs" && has conditions "$their_condition"; }
short() { has taints "$taint" && has conditions "$low" && others_are_left; }
calm() { [ "$(taints)" = "$theirs " ] && has conditions "$enough" && others_are_left; }

# Soft, with a grace period that never ends: the condition holds at once, and no pod is evicted.
soft="evictionHard: {allocatableMemory.available: 1Mi}
evictionSoft: {allocatableMemory.available: 80Mi}
evictionSoftGracePeriod: {allocatableMemory.available: 1h}"
intents=/dev/shm/$name/intents
start() { # start USER: an agent with its token, in the place of one that a check that failed has left
    [ -z "$agent" ] || killed
    settings="nodeName: quiet
  kubeconfig: $rig/$1.kubeconfig
  kubelet: {url: \"\"}"
    write_config "$soft"
    start_agent
}
killed() { kill -KILL "$agent" && { wait "$agent" 2> /dev/null || true; }; agent=; }
fill() { add_pod hog besteffort 00000000-0000-4000-8000-00000000000a && start_in hog "$(hold 72)" && wait_for 20 holds hog 72; }
empty() { remove_pod hog; }

start evictd
check "a node that is not short has evictd's condition, False, and no taint" wait_for 10 calm
pressure() { fill && wait_for 10 short; }
check "a threshold that is crossed is a condition and a taint, and those of others are left" pressure
over() { empty && wait_for 15 calm; }
check "both are taken back when it is over" over

killed_and_over() {
    pressure && killed && empty && short || return 1
    start evictd && wait_for 20 calm
}
check "what an agent that was killed left is removed by the next one, when the pressure is over" killed_and_over
killed_and_short() {
    pressure && killed && start evictd && sleep 1.5 && short # longer than the transition period
}
check "and is kept by one that finds the node still short" killed_and_short
stopped="evictd.io/MemoryPressure=False:EvictdStopped"
clean_exit() { stop_agent && [ "$(taints)" = "$theirs " ] && has conditions "$stopped" && others_are_left; }
check "a clean exit removes the taint and sets the condition to False, while the node is short" clean_exit
empty

start evictd && wait_for 10 calm
knows_pressure() { grep -q '"type":"MemoryPressure","status":"True"' < <("$EVICTD" status --socket "$work/run/evictd.sock" -o json 2> /dev/null | tr -d ' \n'); }
outage() { api_server_down && fill && wait_for 10 knows_pressure && kube_up && wait_for 40 short; }
check "pressure that began while the API server was away is shown when it is back" outage
empty
stop_agent

kubectl create clusterrolebinding test-untainted --clusterrole=evictd --user=nobody > /dev/null
only_conditions() {
    start nobody && fill && wait_for 10 has conditions "$low" && [ "$(taints)" = "$theirs " ] &&
        empty && wait_for 15 calm && fill && wait_for 10 has conditions "$low" && [ "$(taints)" = "$theirs " ]
}
check "without the right to taint it sets conditions" only_conditions
one_line() { [ "$(grep -c 'taints are not shown: status 403' "$agent_log")" -eq 1 ]; }
check "and says so in one line" one_line
stop_agent
empty

# ---- evictd cleanup

start evictd && wait_for 10 calm && fill && wait_for 10 short
killed
kubectl taint node other evictd.io/disk-pressure:NoSchedule evictd.io/pid-pressure:NoExecute > /dev/null
admin=(--kubeconfig "$rig/admin.kubeconfig")
says_would() {
    run 0 cleanup --all-nodes --dry-run "${admin[@]}" && short && [[ "$(taints other)" == *evictd.io/disk-pressure=:NoSchedule* ]] &&
        says '^quiet: would remove taint evictd.io/memory-pressure:NoSchedule, condition evictd.io/MemoryPressure' &&
        says '^other: would remove taint evictd.io/disk-pressure:NoSchedule, taint evictd.io/pid-pressure:NoExecute$'
}
check "cleanup --dry-run says what it would remove, and removes nothing" says_would
cleaned() { [ "$(taints "$1")" = "$theirs " ] && [[ "$(conditions "$1")" != *evictd.io* ]] && [[ "$(conditions "$1")" == *"$their_condition"* ]]; }
one_node() { run 0 cleanup --node quiet "${admin[@]}" && says '^quiet: removed taint evictd.io/memory-pressure:NoSchedule, condition' && cleaned quiet; }
check "cleanup --node removes evictd's of that node, and nothing of others" one_node
no_rights() { run 4 cleanup --all-nodes --kubeconfig "$rig/evictd.kubeconfig" && one_error_line && complains 'grant list of nodes'; }
check "without the right to list nodes it says so and ends with 4" no_rights
all_nodes() { run 0 cleanup --all-nodes "${admin[@]}" && says '^quiet: nothing to remove$' && says '^other: removed taint' && cleaned other; }
check "cleanup --all-nodes has a line for each node" all_nodes
unknown_node() { run 1 cleanup --node none "${admin[@]}" && one_error_line && complains 'no such node'; }
check "a node that does not exist is an error" unknown_node
untouched() { # while another program changes the node all the time
    local writer
    kubectl taint node other evictd.io/disk-pressure:NoSchedule > /dev/null
    while :; do kubectl annotate node other "n=$RANDOM" --overwrite; done > /dev/null 2>&1 &
    writer=$!
    run 0 cleanup --node other "${admin[@]}" && cleaned other
    local status=$?
    kill "$writer" && wait "$writer" 2> /dev/null
    return "$status"
}
check "it cleans a node that is being changed" untouched
exit "$failed"
