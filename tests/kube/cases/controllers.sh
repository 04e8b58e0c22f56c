#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The controller-manager: a ReplicaSet replaces the pods that it loses.
# needs: api
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
export CONTROLLERS=1

check "the controller-manager starts" kube_up
kubectl apply -f - > /dev/null << 'END'
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: pair}
spec:
  replicas: 2
  selector: {matchLabels: {app: pair}}
  template:
    metadata: {labels: {app: pair}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none}]
END
names() { kubectl get pods -l app=pair -o name | sort; }
two() { [ "$(names | wc -l)" -eq 2 ]; }
check "a ReplicaSet gets its pods" wait_for 20 two
replaced() {
    local first
    first=$(names | head -n 1)
    kubectl delete "$first" --timeout=20s > /dev/null && wait_for 20 two && ! names | grep -qxF "$first"
}
check "and a new one for one that is deleted" replaced
kubectl delete replicaset pair --timeout=20s > /dev/null
stopped() { stop_recorded "$rig/controllers.pid" && ! recorded "$rig/controllers.pid"; }
check "the controller-manager stops" stopped
exit "$failed"
