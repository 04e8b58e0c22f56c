#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The Job of deploy/kustomize/cleanup: the image, as the user and with the rights of its manifests, removes what agents that never
# came back have left on every node, and nothing else. Its pod has the host's network here, because pods of the rig have none.
# needs: node
# in turns
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../manifests.sh
. "$(dirname "$0")/../manifests.sh"

leave() {
    [ ! -s "$work/cleanup.yaml" ] || kubectl delete -f "$work/cleanup.yaml" --timeout=30s > /dev/null 2>&1
    remove_pods
    kubectl delete node lost > /dev/null 2>&1
    kubectl taint node n1 evictd.io/memory-pressure- theirs- > /dev/null 2>&1
    [ -z "${controllers:-}" ] || stop_recorded "$rig/controllers.pid"
}
trap 'leave; kube_down; clean_up' EXIT
recorded "$rig/controllers.pid" || controllers=ours
CONTROLLERS=1 kube_up # it has the Job's controller, and publishes kube-root-ca.crt
check "the image is made and imported" import_image

echo '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lost"}}' | kubectl create -f - > /dev/null
shows_pressure() { # as an agent that was killed has left it
    kubectl taint node "$1" evictd.io/memory-pressure:NoSchedule theirs=v:PreferNoSchedule > /dev/null &&
        answers_with 200 admin "/api/v1/nodes/$1/status" -X PATCH -H 'Content-Type: application/strategic-merge-patch+json' \
            -d '{"status": {"conditions": [{"type": "evictd.io/MemoryPressure", "status": "True"}, {"type": "theirs", "status": "True"}]}}'
}
check "two nodes have evictd's taint and condition" eval 'shows_pressure n1 && shows_pressure lost'

adapted() { # the service's address, which the kubelet puts into the environment, leads nowhere on the rig
    manifests cleanup | sed -e 's/^      dnsPolicy: Default$/&\n      hostNetwork: true/' \
        -e "s|^        imagePullPolicy: IfNotPresent\$|&\n        env: [{name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}, {name: KUBERNETES_SERVICE_PORT, value: \"$(sed 's/.*://' "$rig/url")\"}]|"
}
adapted > "$work/cleanup.yaml"
job() { jsonpath job/evictd-cleanup "$1" -n evictd-cleanup; }
completes() { bind_pods evictd-cleanup; [ "$(job '{.status.succeeded}')" = 1 ]; }
accepted() { kubectl apply -f "$work/cleanup.yaml" > "$work/out"; }
check "the Job is accepted" accepted
runs() {
    wait_for 60 completes && [ -z "$(job '{.status.failed}')" ] && return
    kubectl get pods -n evictd-cleanup -o yaml | grep -E 'message:|reason:|exitCode:'
    kubelet_enter sh -c 'cat /var/log/pods/evictd-cleanup_*/cleanup/*.log'
    return 1
}
check "and completes at the first attempt" runs

cleaned() { # cleaned NODE: nothing of evictd's is left, and the others' is
    jsonpath "node/$1" '{.spec.taints[*].key} {.status.conditions[*].type}' > "$work/out"
    echo >> "$work/out"
    ! says 'evictd\.io' && says '^theirs theirs( |$)'
}
check "the node that it ran on has nothing of evictd's left, and what others set" cleaned n1
check "nor has the node without an agent" cleaned lost
said() { # a line for each node
    kubelet_enter sh -c 'cat /var/log/pods/evictd-cleanup_*/cleanup/0.log' > "$work/out"
    says 'n1: removed taint evictd.io/memory-pressure:NoSchedule, condition evictd.io/MemoryPressure$' &&
        says 'lost: removed taint evictd.io/memory-pressure:NoSchedule, condition evictd.io/MemoryPressure$'
}
check "and its log says so" said
exit "$failed"
