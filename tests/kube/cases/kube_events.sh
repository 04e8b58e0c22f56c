#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd's events as kubectl shows them: in the kubelet's words, on the right object, counted instead of repeated, and delivered
# once where the API server was away and the agent was killed. The pods are of a node without a kubelet, and run in a cgroup of
# our own.
# needs: api
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
needs_node 128 "kube events"

leave() {
    kubectl delete pod idle first second fourth --force --grace-period 0 > /dev/null 2>&1
    kubectl delete pod third -n closed --force --grace-period 0 > /dev/null 2>&1
    kubectl delete node eventful > /dev/null 2>&1
    kubectl delete rolebinding test-events > /dev/null 2>&1
    kubectl delete clusterrolebinding test-no-events > /dev/null 2>&1
    kubectl delete clusterrole test-events test-no-events > /dev/null 2>&1
    kubectl delete namespace closed --wait=false > /dev/null 2>&1
    kubectl delete events --all > /dev/null 2>&1
    [ -z "$agent" ] || killed
    rm -rf "/dev/shm/$name"
}
trap 'leave; kube_down; clean_up' EXIT
echo '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "eventful"}}' | kubectl create -f - > /dev/null

run_pod() { # run_pod NAME MIB [NAMESPACE]: in the API, Running, and with processes that hold so much
    local uid in=${3:-default}
    kubectl create -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1", namespace: "$in"}
spec: {nodeName: eventful, containers: [{name: main, image: none}]}
END
    uid=$(pod_uid "$1" -n "$in")
    answers_with 200 admin "/api/v1/namespaces/$in/pods/$1/status" -X PATCH -H 'Content-Type: application/strategic-merge-patch+json' \
        -d '{"status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}}' || return 1
    pod_path[$1]=$name/kubepods/besteffort/pod$uid
    make_cgroup "${pod_path[$1]}/c1" && start_in "$1" "$(hold "$2")" && wait_for 20 holds "$1" "$2"
}
knows() { grep -q "\"$1\"" < <("$EVICTD" status --socket "$work/run/evictd.sock" -o json 2> /dev/null); }
never="evictionHard: {allocatableMemory.available: 1Mi}"
now="evictionHard: {allocatableMemory.available: 90Mi}"
soft="$never
evictionSoft: {allocatableMemory.available: 120Mi}
evictionSoftGracePeriod: {allocatableMemory.available: 1h}"
intents=/dev/shm/$name/intents
as_user() { settings="nodeName: eventful
  kubeconfig: $rig/$1.kubeconfig
  kubelet: {url: \"\"}"; } # as_user NAME: the agents to come
as_user evictd
killed() { kill -KILL "$agent" && { wait "$agent" 2> /dev/null || true; }; agent=; }
start() { # in the place of one that a check that failed has left
    [ -z "$agent" ] || killed
    write_config "$never" && start_agent
}
evicts() { # evicts POD: by a threshold that it crosses, which is taken back
    wait_for 10 knows "$1" && reload "$now" && wait_for 10 evicted "$1" && reload "$never"
}

# The events of a reason, a line each: OBJECT KIND, NAME, UID, TYPE, COUNT, SOURCE, HOST, MESSAGE
events() {
    kubectl get events --field-selector "reason=$1" -o jsonpath='{range .items[*]}{.involvedObject.kind} {.involvedObject.name} {.involvedObject.uid} {.type} {.count} {.source.component} {.source.host} {.message}{"\n"}{end}' | grep ' evictd eventful ' > "$work/out" # not those of an earlier case
}
shows() { events "$1" && says "$2"; } # shows REASON PATTERN
shows_one() { shows "$@" && [ "$(grep -cE -- "$2" "$work/out")" -eq 1 ]; }

start
check "a pod that takes the memory is evicted" eval 'run_pod idle 16 && run_pod first 64 && evicts first'
of_pod() { # of_pod NAME: its one event, as the kubelet's
    wait_for 10 shows_one Evicted "^Pod $1 $(pod_uid "$1") Warning 1 evictd eventful The node was low on resource: memory\. Threshold quantity: 90Mi, available: [0-9]+[KM]i\. "
}
check "its event has the kubelet's reason and text, and the pod's uid" of_pod first
names_container() { kubectl get events --field-selector reason=Evicted,involvedObject.name=first -o jsonpath='{.items[0].metadata.annotations}' > "$work/out" && says '"starved_resource":"memory"' && says '"offending_containers":"main"'; }
check "and the kubelet's annotations" names_container
of_node() { wait_for 10 shows_one EvictionThresholdMet '^Node eventful eventful Warning [0-9]+ evictd eventful Attempting to reclaim memory$'; }
check "the node's event says what is reclaimed" of_node
calm_again() { wait_for 15 shows_one NodeHasSufficientMemory '^Node eventful eventful Normal [0-9]+ evictd eventful Node eventful status is now: NodeHasSufficientMemory$'; }
check "and that it is over" calm_again

counted() { # NodeHasInsufficientMemory once more: the event that is there counts
    local before seen
    seen=$(count '"reason":"NodeHasMemoryPressure"')
    events NodeHasInsufficientMemory && before=$(cut -d ' ' -f 5 < "$work/out") && [ "$before" -ge 1 ] &&
        reload "$soft" && wait_for 5 more_than "$seen" '"reason":"NodeHasMemoryPressure"' &&
        reload "$never" &&
        wait_for 15 shows_one NodeHasInsufficientMemory "^Node eventful eventful Normal $((before + 1)) "
}
check "the same again is counted in the event that is there" counted

met() { events EvictionThresholdMet && awk '{ n += $5 } END { print n + 0 }' "$work/out"; } # how many times, as the server counts
outage() { # the server is away, the agent is killed before it is back
    met_before=$(met) && run_pod second 64 && wait_for 10 knows second && api_server_down && evicts second &&
        wait_for 10 grep -q '"name":"second\.' "$work/state/kube_events" &&
        killed
}
check "a pod is evicted while the API server is away, and evictd is killed" outage
delivered() { kube_up && start && of_pod second; }
check "the next agent delivers its event when the server is back" delivered
counted_later() { [ "$(met)" -gt "$met_before" ]; } # of no pod: nothing but the file of events has it
check "and the node's of that time" wait_for 10 counted_later
once() { sleep 2 && shows_one Evicted '^Pod second .* Warning 1 evictd ' && shows_one Evicted '^Pod first .* Warning 1 evictd ' && [ ! -s "$work/state/kube_events" ]; }
check "each once, and none is kept" once
check "it ends with 0" stop_agent

# ---- a namespace in which it may not

kubectl create namespace closed > /dev/null
limited() { # nobody: evictd's rights, but events in one namespace only
    kubectl create clusterrole test-no-events --verb=get,list,watch,patch --resource=pods,pods/status,nodes,nodes/status > /dev/null &&
        kubectl create clusterrole test-events --verb=create,patch --resource=events > /dev/null &&
        kubectl create clusterrolebinding test-no-events --clusterrole=test-no-events --user=nobody > /dev/null &&
        kubectl create rolebinding test-events --clusterrole=test-events --user=nobody > /dev/null
}
waits() { # the refused one is first in line, and stays there
    as_user nobody && limited && start && run_pod third 64 closed && evicts third &&
        wait_for 10 grep -q 'forbids kube events in namespace closed, which are kept' "$agent_log" && grep -q '"name":"third\.' "$work/state/kube_events"
}
check "an event that is forbidden in its namespace waits" waits
check "and delays no other" eval 'run_pod fourth 64 && evicts fourth && of_pod fourth'
granted() {
    kubectl create rolebinding test-events --clusterrole=test-events --user=nobody -n closed > /dev/null &&
        wait_for 70 eval '[ "$(kubectl get events -n closed --field-selector reason=Evicted -o "jsonpath={.items[*].involvedObject.name}")" = third ]'
}
check "it is delivered when that is allowed" granted
stop_agent
exit "$failed"
