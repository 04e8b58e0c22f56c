#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What the watch of a node's pods costs, and how soon a pod is known: evictd on cgroups of its own, with pods that a real API
# server has.
# needs: api
# env: PODS (110), TRIES (30)
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
pods=${PODS:-110} tries=${TRIES:-30}
needs_node 300 "numbers"

pod() { # pod NAME: as a Deployment makes it, with two containers
    cat << END
apiVersion: v1
kind: Pod
metadata:
  name: $1
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: web-1, pod-template-hash: 7c5ddbdf54}
  annotations: {prometheus.io/scrape: "true", checksum/config: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}
spec:
  nodeName: here
  containers:
  - {name: main, image: none, env: [{name: A, value: "1"}, {name: B, value: "2"}], ports: [{containerPort: 8080}],
     resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}, livenessProbe: {httpGet: {path: /healthz, port: 8080}}}
  - {name: sidecar, image: none, resources: {requests: {memory: 16Mi}}}
END
}
make_all() {
    local i uid
    for i in $(seq "$pods"); do
        echo ---
        pod "web-$i"
    done | kubectl create -f - > /dev/null || return 1
    while read -r uid; do make_cgroup "$name/kubepods/burstable/pod$uid/c1" || return 1; done \
        < <(kubectl get pods --field-selector spec.nodeName=here -o 'jsonpath={range .items[*]}{.metadata.uid}{"\n"}{end}')
}
check "$pods pods are made" make_all
status() { "$EVICTD" status --socket "$work/run/evictd.sock" -o json 2> /dev/null; }
knows() { grep -q "\"$1\"" < <(status); }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$agent/status"; }
run_as() { # run_as NODE [SETTING]: an agent of that node; its resident memory in KiB after 15 s
    settings="nodeName: $1
  ${2:-kubeconfig: $rig/evictd.kubeconfig}"
    write_config "evictionHard: {memory.available: 1Mi}"
    start_agent > /dev/null
    [ -z "${3:-}" ] || wait_for 10 knows "$3"
    sleep 15
    resident
}
run_as here "apiServer: off" > "$work/without"; stop_agent
run_as elsewhere > "$work/empty"; stop_agent
run_as here "" web-1 > "$work/full"
without=$(cat "$work/without") empty=$(cat "$work/empty") full=$(cat "$work/full")
echo "    resident memory: $without KiB without an API server, $empty with a watch of no pods, $full with $pods"
check "the watch of $pods pods takes at most 2 MiB" [ $((full - empty)) -le 2048 ]
check "and the whole agent at most 28 MiB" [ "$full" -le 28672 ]

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
known_after() { # known_after NAME: in ms from the API server's answer
    local begin
    pod "$1" | kubectl create -f - > /dev/null || return 1
    begin=$(milliseconds)
    until knows "$1"; do [ $(($(milliseconds) - begin)) -lt 5000 ] || return 1; done
    echo $(($(milliseconds) - begin))
}
asking_takes() { # what one request for status takes, in ms: on a busy machine most of what is measured
    local begin i
    begin=$(milliseconds)
    for i in 1 2 3 4 5 6 7 8 9 10; do knows "late-$i"; done
    echo $((($(milliseconds) - begin) / 10))
}
for i in $(seq "$tries"); do known_after "late-$i"; done | sort -n > "$work/known"
median=$(sed -n "$(((tries + 1) / 2))p" "$work/known")
asking=$(asking_takes)
echo "    created until evictd knows it, in ms, with the request for status, which takes $asking: least $(head -n 1 "$work/known"), median $median, most $(tail -n 1 "$work/known")"
all_known() { [ "$(wc -l < "$work/known")" -eq "$tries" ] && [ $((median - asking)) -le 200 ]; }
check "a pod is known within 200 ms" all_known
[ -z "${SMAPS:-}" ] || cp "/proc/$agent/smaps" "$SMAPS"
check "evictd ends" stop_agent
exit "$failed"
