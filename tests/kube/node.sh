#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The part of kubelet_up.sh that runs in the node's mount namespace: mounts, containerd, kubelet.
# usage: node.sh [mount]     mount: the namespace is new; env: as kubelet_up.sh sets it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=runtime.sh
. "$(dirname "$0")/runtime.sh"
: "${NODE_NAME:?}" "${PODS_MEMORY:?}"
umask 022

mask_sysctl() { # mask_sysctl PATH VALUE: the kubelet finds the value that it wants, and the host keeps its own
    mkdir -p "$node/masks/sysctl/${1%/*}"
    echo "$2" > "$node/masks/sysctl/$1"
    mount --bind "$node/masks/sysctl/$1" "/proc/sys/$1"
}
make_mounts() {
    mount_masked
    mask_sysctl vm/overcommit_memory 1
    mask_sysctl vm/panic_on_oom 0
    mask_sysctl kernel/panic 10
    mask_sysctl kernel/panic_on_oops 1
    mask_sysctl kernel/keys/root_maxkeys 1000000
    mask_sysctl kernel/keys/root_maxbytes 25000000
    mount --bind "$node/kubelet" "$node/kubelet" # pods' volumes
    mount --make-rshared "$node/kubelet"
}
write_kubelet_config() {
    local total
    total=$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)
    [ "$total" -gt "$PODS_MEMORY" ] || die "this machine has less than $PODS_MEMORY MiB of memory"
    [ -s "$node/kubelet.port" ] || free_port > "$node/kubelet.port"
    cat << END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: $(cat "$node/kubelet.port")
readOnlyPort: 0
healthzPort: 0
cgroupDriver: cgroupfs
cgroupsPerQOS: true
cgroupRoot: /$cgroup
enforceNodeAllocatable: [pods]
systemReserved: {memory: $((total - PODS_MEMORY))Mi}
failSwapOn: false
makeIPTablesUtilChains: false
oomScoreAdj: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $rig/pki/ca.crt}}
authorization: {mode: Webhook}
serializeImagePulls: false
resolvConf: /dev/null
staticPodPath: $node/manifests
volumePluginDir: $node/plugins
nodeStatusUpdateFrequency: 2s
syncFrequency: 10s
imageGCHighThresholdPercent: 100
END
    # The kubelet's defaults would evict where this machine's disk is nearly full.
    grep -qs '^evictionHard:' "${KUBELET_CONFIG:-/dev/null}" || echo 'evictionHard: {memory.available: 1Mi}'
    [ -z "${KUBELET_CONFIG:-}" ] || cat "$KUBELET_CONFIG"
}
start_kubelet() {
    write_kubelet_config > "$node/kubelet.yaml"
    setsid "$bin/kubelet" --config="$node/kubelet.yaml" --kubeconfig="$rig/node.kubeconfig" --hostname-override="$NODE_NAME" \
        --root-dir="$node/kubelet" --cert-dir="$node/certs" --container-runtime=remote \
        --container-runtime-endpoint="unix://$runtime_socket" --image-service-endpoint="unix://$runtime_socket" --register-node=true --v=2 \
        >> "$node/kubelet.log" 2>&1 < /dev/null &
    record_pid "$node/kubelet.pid" $!
}

mkdir -p "$node"/{kubelet,certs,manifests,plugins,sock}
[ "${1:-}" != mount ] || make_mounts
make_cgroups
recorded "$node/containerd.pid" || start_containerd pause load
recorded "$node/kubelet.pid" || start_kubelet
