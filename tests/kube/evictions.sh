# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154,SC2034  # rig.sh sets and reads the rest
# What cases that evict pods share, on top of rig.sh: evictd with a token and the kubelet's address, pods that grow, and
# what has become of them. Sourced, never run.

agent_on_node
settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: $node/certs/kubelet.crt}"
watched=12 # seconds: as evictd

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
    # A phase that the kubelet has just written over is corrected at once.
    for pod; do wait_for 5 is_shown "$pod" || { echo "    $pod is $(jsonpath "pod/$pod" '{.status.phase}')"; return 1; }; done
}
remove() { kubectl delete pod "$@" --force --grace-period 0 > /dev/null 2>&1; }
