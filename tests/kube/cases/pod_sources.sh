#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Where evictd's pods come from: the API server's watch and the kubelet's list, and what happens while either is away.
# needs: node
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
socket=$work/evictd.sock
config() { # config [KUBECONFIG]: of an agent that looks at the rig's pods and touches nothing
    cat << END
evictionHard: {memory.available: 1Mi}
cgroupRoot: /$(cgroup_of "$rig")
evictd:
  nodeName: n1
  dryRun: true
  kubeconfig: ${1:-$rig/evictd.kubeconfig}
  kubelet: {url: "https://127.0.0.1:$(cat "$node/kubelet.port")", caFile: "${2:-$node/certs/kubelet.crt}"}
  socketPath: $socket
  bpffsPath: /sys/fs/bpf/$name
  statePath: $work/state
  podManifestPath: $work/manifests
  eventLog: {path: $work/events.jsonl, stdout: false}
END
}
start_evictd() { # start_evictd [KUBECONFIG [CA]]: instead of the one before
    stop_evictd
    config "$@" > "$work/config.yaml"
    "$kube/kubelet_enter" "$EVICTD" run --config "$work/config.yaml" > "$work/err" 2>&1 < /dev/null &
    agent=$!
    wait_for 10 status_says '"node":'
}
stop_evictd() {
    [ -z "$agent" ] || { kill "$agent" && wait "$agent"; } || return 1
    agent=
}
status() { "$EVICTD" status --socket "$socket" -o json 2>> "$work/err" | tr -d ' \n' > "$work/out" && [ -s "$work/out" ]; } # on one line
status_says() { status && says "$1"; }
status_lacks() { status && ! says "$1"; }
knows() { status_says "\"name\":\"$1\"|\"default/$1\""; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

mkdir "$work/manifests"
check "evictd starts beside the kubelet" start_evictd
kubectl apply -f "$kube/pods.yaml" > /dev/null
check "it knows a pod that was created" wait_for 10 knows burstable
running() { wait_for 20 pod_is besteffort Running && wait_for 20 pod_is guaranteed Running; }
check "which runs" running
uses_memory() { status_says '"name":"guaranteed",[^{]*"usage":4[0-9]{7},'; }
check "and what it uses" wait_for 30 uses_memory

known_soon() { # from the API server's answer to the first look that has it
    local begin end
    make_pod quick "" "" vm_load hold 1 && begin=$(milliseconds)
    until knows quick; do [ $(($(milliseconds) - begin)) -lt 5000 ] || return 1; done
    end=$(milliseconds)
    echo "    created until evictd knows it: $((end - begin)) ms, the request for status included"
}
check "a new pod is known at once" known_soon

static_pod() {
    sed 's/NAME/web/' > "$node/manifests/web.yaml" << 'END'
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers: [{name: main, image: "localhost/load:1", imagePullPolicy: Never, command: [vm_load, hold, "8"]}]
END
    wait_for 90 status_says '"name":"web-n1"[^}]*}[^}]*"exemption":"static_pod"' && kubectl get pod web-n1 > /dev/null
}
check "a static pod is known, and is never evicted" static_pod

program=${KUBE_PROTOBUF:-$(dirname "$EVICTD")/kube_protobuf}
pods_as() { # pods_as TYPE FILE: the API server's pods in that encoding
    curl -sf --max-time 20 --cacert "$rig/pki/ca.crt" -H "Authorization: Bearer $(cat "$rig/evictd.token")" -H "Accept: $1" -o "$2" \
        "$(cat "$rig/url")/api/v1/pods"
}
same_pods() { # pods may change between the two requests
    pods_as application/vnd.kubernetes.protobuf "$work/protobuf" && pods_as application/json "$work/json" &&
        "$program" "$work/protobuf" "$work/json" > "$work/out" 2>> "$work/err" && says '^[4-9] pods|^[1-9][0-9]+ pods'
}
if [ -x "$program" ]; then
    check "pods in protobuf, as the kubelet's Pods API sends them, are read as those in JSON" wait_for 20 same_pods
else
    skip "pods in protobuf" "no $program (tests/tools/build.sh build kube_protobuf)"
fi
rm -f "$node/manifests/web.yaml"

# kubelet 1.20 looks every 10 s whether all of a pod is removed; on a busy machine its resync, after a minute, finds it.
deleted() { kubectl delete pod quick --timeout=90s > /dev/null && wait_for 10 eval '! knows quick'; }
check "a deleted pod is forgotten" deleted

forced() { # its kubelet is away, and ends nothing; its last list was read before the pod was created
    make_pod forced "" "" vm_load hold 4 && wait_for 20 pod_is forced Running && wait_for 10 knows forced &&
        stop_recorded "$node/kubelet.pid" && kubectl delete pod forced --force --grace-period=0 > /dev/null 2>&1 &&
        sleep 3 && ! kubectl get pod forced > /dev/null 2>&1 && status_says '"name":"forced",[^}]*}[^}]*"populated":true'
}
check "one that is deleted by force stays in the victim order while its processes run" forced
kubelet_back() { kubelet_up && wait_for 90 eval '! knows forced'; }
check "and is forgotten when the kubelet has ended them" kubelet_back

api_away() { api_server_down && wait_for 20 status_says 'APIserver[^}]*"fault"' && knows burstable; }
check "while the API server is away, its pods stay known and status says so" api_away
healthy() { status_lacks '"fault":' && says '"name":"burstable"'; }
api_back() { kube_up && wait_for 60 healthy; }
check "and it is heard again" api_back
make_pod later "" "" vm_load hold 1
check "with what came since" wait_for 10 knows later

kubelet_away() { stop_recorded "$node/kubelet.pid" && kubelet_up && sleep 1 && knows burstable; }
check "a kubelet that restarts empties nothing" kubelet_away
check "evictd ends" stop_evictd

other_ca() {
    sed "s,pki/ca.crt,pki/other-ca.crt," "$rig/evictd.kubeconfig" > "$work/other.kubeconfig"
    start_evictd "$work/other.kubeconfig" "$rig/pki/other-ca.crt" && wait_for 10 status_says 'APIserver[^}]*"fault":"[^"]*certificate' &&
        wait_for 10 status_says 'kubelet[^}]*"fault":"[^"]*certificate' && status_lacks burstable && stop_evictd
}
check "a server whose certificate another authority signed is not believed" other_ca
no_rights() {
    start_evictd "$rig/nobody.kubeconfig" && wait_for 10 status_says 'APIserver[^}]*403Forbidden' &&
        wait_for 10 status_says 'kubelet[^}]*403' && stop_evictd
}
check "without rights it says which are missing, and runs on" no_rights
no_secrets() { ! grep -rqF -e "$(cat "$rig/evictd.token")" -e "$(cat "$rig/nobody.token")" "$work/events.jsonl" "$work/err" "$work/out"; }
check "no token is in a log, an event or status" no_secrets
exit "$failed"
