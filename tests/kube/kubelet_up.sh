#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Starts a private containerd and a kubelet as the node of up.sh's API server. Both are in a mount namespace of their own: the
# sysctls that the kubelet insists on are masked there, as are the directories that it shares with a real kubelet. What already
# runs stays as it is, so that either can be stopped and started again.
# usage: kubelet_up.sh     env: EVICTD_KUBE_RUN, NODE_NAME (n1, as for up.sh), VM_LOAD (build/vm_load, for the pods' image)
#   PODS_MEMORY (1024: MiB that all pods together may use), KUBELET_CONFIG (a file with more keys of KubeletConfiguration)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=runtime.sh
. "$(dirname "$0")/runtime.sh"
[ "$(id -u)" -eq 0 ] || die "needs root"
[ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ] || die "needs cgroup v1 or hybrid"
recorded "$rig/apiserver.pid" || die "no API server in $rig (run up.sh)"
for name in kubelet containerd containerd-shim-runc-v2 ctr runc; do [ -x "$bin/$name" ] || die "no $name in $bin (run build.sh)"; done
need nsenter util-linux
[ ${#node} -lt 80 ] || die "$node: the path is too long for a socket"
export EVICTD_KUBE_RUN=$rig NODE_NAME=${NODE_NAME:-n1} PODS_MEMORY=${PODS_MEMORY:-1024}
mkdir -p "$node"

inside=$(pid_inside) || inside=
on_exit() { # a node that ran before stays
    [ "$1" -ne 0 ] || return 0
    tail -n 5 "$node"/*.log >&2 2> /dev/null || true
    unlock_masked # kubelet_down.sh wants it
    [ -n "$inside" ] || "$kube/kubelet_down.sh"
}
trap 'on_exit $?' EXIT
trap 'exit 130' INT TERM

if [ -n "$inside" ]; then
    nsenter --mount="/proc/$inside/ns/mnt" "$kube/node.sh"
else
    "$kube/images.sh" "$node/images" "${VM_LOAD:-$top/build/vm_load}"
    in_new_namespace "$kube/node.sh" mount
fi
is_ready() {
    "$kube/kubectl" get node "$NODE_NAME" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True
}
wait_until 60 ready_unless_dead "$node/kubelet.pid" is_ready || die "node $NODE_NAME does not become Ready"
recorded "$node/kubelet.pid" || die "the kubelet has exited"
echo "NODE_NAME=$NODE_NAME CGROUP=/$(cgroup_of "$rig") CRI=$node/sock/containerd.sock"
