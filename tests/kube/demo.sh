#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd demo --scenario cluster: an eviction as the API server, a ReplicaSet and kubectl see it. A real API server,
# kubelet and containerd on loopback (README.md); a pod of a ReplicaSet grows; evictd evicts it; its replacement appears.
# shellcheck disable=SC2317,SC2016  # wait_for calls functions by name; eval expands later
# usage: demo.sh     env: EVICTD, VM_LOAD, EVICTD_KUBE_RUN (a rig that runs already and is left running; else the one that
# up.sh has made where it makes one by default, else one of its own)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
VM_LOAD=$(realpath "${VM_LOAD:-$(dirname "$EVICTD")/vm_load}")
export EVICTD VM_LOAD CONTROLLERS=1
# shellcheck source-path=SCRIPTDIR source=rig.sh
. "$here/rig.sh"
[ "$(id -u)" -eq 0 ] || die "needs root (sudo)"
[ -x "$EVICTD" ] || die "$EVICTD: not built (make build)"
"$top/tests/tools/deps.sh" build kube || die "packages are missing"
[ -x "$VM_LOAD" ] || "$top/tests/tools/build.sh" "$(dirname "$VM_LOAD")" vm_load > "$work/build" 2>&1 ||
    { tail -n 3 "$work/build"; die "$VM_LOAD cannot be built"; }
if [ ! -x "$bin/kube-apiserver" ] || [ ! -x "$bin/kubelet" ]; then
    echo "There is no API server and kubelet in $bin yet: they are built from Debian's sources, once, in 4 to 10 minutes."
    "$kube/build.sh" > "$work/build" 2>&1 || { tail -n 3 "$work/build"; die "they cannot be built here (tests/kube/README.md)"; }
fi
title() { printf '\n== %s\n' "$1"; }
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

leave() { # a rig that is not ours has no pod of the demo left
    [ -z "${watch:-}" ] || kill "$watch" 2> /dev/null
    if [ -n "$rig_is_ours" ]; then kube_down; return; fi
    kubectl delete rs report --ignore-not-found > /dev/null 2>&1
    remove_pods
    [ -n "$was_controlled" ] || stop_recorded "$rig/controllers.pid"
}

title "a cluster of one node: etcd, kube-apiserver, kube-controller-manager, kubelet, containerd"
if [ -z "${EVICTD_KUBE_RUN:-}" ] && [ -O "$rig" ] && recorded "$rig/apiserver.pid"; then export EVICTD_KUBE_RUN=$rig; fi
[ -z "${EVICTD_KUBE_RUN:-}" ] || echo "the rig that runs in $rig, which is left running"
was_controlled=yes
recorded "$rig/controllers.pid" || was_controlled=
# A reader that went away, as head does, does not end what removes all this.
trap 'trap "" PIPE; leave; clean_up' EXIT
kube_up || die "the API server does not start"
kubelet_up || die "the kubelet does not start"
kubectl get node n1

title "a ReplicaSet, and two pods beside it; there is no scheduler, so each pod is bound by hand"
bind() { # bind POD
    kubectl create --raw "/api/v1/namespaces/default/pods/$1/binding" -f - > /dev/null << END
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "$1"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}}
END
}
kubectl apply -f "$kube/pods.yaml" > /dev/null
kubectl apply -f - > /dev/null << 'END'
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: report}
spec:
  replicas: 1
  selector: {matchLabels: {app: report}}
  template:
    metadata: {labels: {app: report}}
    spec:
      terminationGracePeriodSeconds: 2
      containers:
      - name: main
        image: localhost/load:1
        imagePullPolicy: Never
        command: [vm_load, grow, "150", --hold, "64", --up-to, "900", --after, /tmp/go]
END
replicas() { # the oldest first
    kubectl get pods -l app=report --sort-by .metadata.creationTimestamp -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'
}
wait_for 20 eval '[ -n "$(replicas)" ]' || die "the ReplicaSet makes no pod"
victim=$(replicas | head -n 1)
bind "$victim"
for pod in "$victim" besteffort burstable guaranteed; do wait_for 40 pod_is "$pod" Running || die "pod $pod does not run"; done
kubectl get pods

title "evictd on the node: hard threshold 200Mi below the pods' limit of 1 GiB"
agent_on_node
settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: \"$node/certs/kubelet.crt\"}"
write_config 'evictionHard: {allocatableMemory.available: 200Mi}'
sed -i 's/^evictionPressureTransitionPeriod: .*/evictionPressureTransitionPeriod: 10s/' "$work/config.yaml"
start_agent
knows() { grep -q "$victim" < <("$EVICTD" status -o json --socket "$work/run/evictd.sock" 2> /dev/null | tr -d ' \n'); }
wait_for 20 knows || die "evictd does not learn the pod"
"$EVICTD" rank --socket "$work/run/evictd.sock"

title "pod $victim grows by 150 MiB a second"
"$kube/kubectl" get pod "$victim" --watch -o custom-columns=PHASE:.status.phase,REASON:.status.reason,MESSAGE:.status.message \
    > "$work/watch" 2> /dev/null &
watch=$!
begun=$EPOCHREALTIME
touch "/proc/$(container_pid "$victim")/root/tmp/go"
wait_for 30 evicted "$victim" || die "it was not evicted"
echo "evicted $(seconds_since "$begun") s after it began to grow; from the threshold to SIGKILL:" \
    "$(grep "\"name\":\"$victim\"" "$log" | sed -nE 's/.*"total":([0-9]+).*/\1 us/p' | tail -n 1)"
shown=yes
wrong() { # wrong WHAT: the verdict will be that the eviction is not shown as it should be
    echo "not as it should be: $1"
    shown=
}
tainted() { taint=$(kubectl get node n1 -o 'jsonpath={range .spec.taints[*]}{.key}:{.effect}{"\n"}{end}' | grep '^evictd\.io/'); }
wait_for 9 tainted || wrong "no taint of evictd's appeared on the node" # it is held for 10 s
title "evictd's view"
"$EVICTD" events --since 1m --socket "$work/run/evictd.sock" | tail -n 8
title "kubectl's view"
wait_for 15 pod_is "$victim" Failed || wrong "pod $victim is not Failed"
wait_for 20 eval '[ "$(replicas | wc -l)" -ge 2 ]' || wrong "the ReplicaSet makes no replacement"
kubectl get pods -o wide
replacement=$(replicas | tail -n 1)
kill "$watch" 2> /dev/null && wait "$watch" 2> /dev/null
watch=
echo "kubectl get pod $victim --watch (the phase is for good; kubelets before 1.22 drop reason and message with their next sync):"
uniq "$work/watch"
grep -q '^Failed  *Evicted' "$work/watch" || wrong "the watch never showed reason Evicted"
target=$(jsonpath "pod/$victim" '{range .status.conditions[?(@.type=="DisruptionTarget")]}{.type}={.status}, {.reason}{end}')
echo "condition ${target:-DisruptionTarget: none}"
[ "$target" = "DisruptionTarget=True, TerminationByKubelet" ] || wrong "no condition DisruptionTarget=True, TerminationByKubelet"
kube_event() { kubectl get events --field-selector "reason=Evicted,involvedObject.name=$victim" 2> /dev/null | grep "pod/$victim"; }
wait_for 15 eval 'kube_event > "$work/kube_event"' || wrong "no kube event Evicted of pod $victim"
kubectl get events --field-selector reason=Evicted --sort-by .lastTimestamp
echo "taints of the node: ${taint:-none that begins with evictd.io}"
untainted() {
    kubectl get node n1 -o 'jsonpath={.spec.taints}' > "$work/taints" && ! grep -q 'evictd\.io/' "$work/taints"
}
if [ "$replacement" != "$victim" ]; then
    echo "the ReplicaSet's replacement: $replacement, $(jsonpath "pod/$replacement" '{.status.phase}'), not bound"
    if ! wait_for 60 untainted; then
        wrong "the taint is still there a minute after the pressure"
    elif bind "$replacement" && wait_for 40 pod_is "$replacement" Running; then
        echo "the pressure is over${taint:+ and the taint is gone}: it is bound, and runs"
    else
        wrong "the replacement $replacement does not run"
    fi
fi
others_live() {
    [ "$(count '"reason":"Evicted"')" -ge 1 ] && ! grep -qv "\"name\":\"$victim\"" < <(grep '"reason":"Evicted"' "$log")
}
others_live || wrong "evictd has evicted another pod, too"
title "verdict"
if [ -n "$shown" ]; then
    echo "the right pod, and only it, was evicted; the API server shows it as Failed, and its ReplicaSet has made another"
    status=0
else
    echo "not as it should be: see each line above that begins so"
    status=1
fi
stop_agent
exit "$status"
