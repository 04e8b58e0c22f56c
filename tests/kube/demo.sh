#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# make demo SCENARIO=cluster: an eviction as the API server, a ReplicaSet and kubectl see it. A real API server,
# kubelet and containerd on loopback (README.md); a pod of a ReplicaSet grows; evictd evicts it; its replacement appears.
# shellcheck disable=SC2317,SC2016  # wait_for calls functions by name; eval expands later
# usage: demo.sh     env: EVICTD, VM_LOAD, EVICTD_KUBE_RUN (a rig that runs already, with CONTROLLERS=1, and is left as it is)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
VM_LOAD=$(realpath "${VM_LOAD:-$(dirname "$EVICTD")/vm_load}")
export EVICTD VM_LOAD CONTROLLERS=1
# shellcheck source-path=SCRIPTDIR source=rig.sh
. "$here/rig.sh"
[ "$(id -u)" -eq 0 ] || die "needs root (sudo)"
[ -x "$EVICTD" ] || die "$EVICTD: not built (make build)"
[ -x "$VM_LOAD" ] || die "$VM_LOAD: not built (tests/tools/build.sh build vm_load)"
if [ ! -x "$bin/kube-apiserver" ] || [ ! -x "$bin/kubelet" ]; then
    echo "There is no API server and kubelet in $bin yet: they are built from Debian's sources, once, in 4 to 10 minutes."
    "$kube/build.sh" > "$work/build" 2>&1 || { tail -n 3 "$work/build"; die "they cannot be built here (tests/kube/README.md)"; }
fi
title() { printf '\n== %s\n' "$1"; }
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

title "a cluster of one node: etcd, kube-apiserver, kube-controller-manager, kubelet, containerd"
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
      - {name: main, image: "localhost/load:1", imagePullPolicy: Never, command: [vm_load, grow, "150", --hold, "64", --up-to, "900", --after, /tmp/go]}
END
replicas() { kubectl get pods -l app=report --sort-by .metadata.creationTimestamp -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }
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
sed -i 's/^evictionPressureTransitionPeriod: .*/evictionPressureTransitionPeriod: 30s/' "$work/config.yaml"
start_agent
knows() { "$EVICTD" status -o json --socket "$work/run/evictd.sock" 2> /dev/null | tr -d ' \n' | grep -q "$victim"; }
wait_for 20 knows || die "evictd does not learn the pod"
"$EVICTD" rank --socket "$work/run/evictd.sock"

title "pod $victim grows by 150 MiB a second"
begun=$EPOCHREALTIME
touch "/proc/$(container_pid "$victim")/root/tmp/go"
wait_for 30 evicted "$victim" || die "it was not evicted"
echo "evicted $(seconds_since "$begun") s after it began to grow; from the threshold to SIGKILL:" \
    "$(grep "\"name\":\"$victim\"" "$log" | sed -nE 's/.*"total":([0-9]+).*/\1 us/p' | tail -n 1)"
title "evictd's view"
"$EVICTD" events --since 1m --socket "$work/run/evictd.sock" | tail -n 8
title "kubectl's view"
shown=yes
wait_for 15 pod_is "$victim" Failed || shown=
wait_for 20 eval '[ "$(replicas | wc -l)" -ge 2 ]' || shown=
kubectl get pods -o wide
replacement=$(replicas | tail -n 1)
kubectl get pod "$victim" -o 'jsonpath={.status.phase} {.status.reason}: {.status.message}{"\n"}'
kubectl get events --field-selector reason=Evicted --sort-by .lastTimestamp
taint=$(kubectl get node n1 -o 'jsonpath={range .spec.taints[*]}{.key}:{.effect}{"\n"}{end}' | grep '^evictd')
echo "taints of the node: ${taint:-none that begins with evictd.io}"
if [ "$replacement" != "$victim" ]; then
    echo "the ReplicaSet's replacement: $replacement, $(jsonpath "pod/$replacement" '{.status.phase}'), not bound"
    wait_for 60 eval '! kubectl get node n1 -o "jsonpath={.spec.taints}" | grep -q evictd.io' && bind "$replacement"
    wait_for 40 pod_is "$replacement" Running && echo "the pressure is over${taint:+ and the taint is gone}: it is bound, and runs"
fi
others_live() { [ "$(count '"reason":"Evicted"')" -ge 1 ] && ! grep '"reason":"Evicted"' "$log" | grep -v "\"name\":\"$victim\"" | grep -q .; }
title "verdict"
if [ -n "$shown" ] && others_live; then
    echo "the right pod, and only it, was evicted; the API server shows it as Failed, and its ReplicaSet has made another"
    status=0
else
    echo "not as it should be: see above"
    status=1
fi
stop_agent
if [ -z "$rig_is_ours" ]; then
    kubectl delete rs report > /dev/null
    remove_pods
fi
exit "$status"
