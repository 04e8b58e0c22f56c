#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The part of kubelet_up.sh that runs in the node's mount namespace: mounts, containerd, kubelet.
# usage: node.sh [mount]     mount: the namespace is new; env: as kubelet_up.sh sets it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cgroup=$(cgroup_of "$rig")
socket=$node/sock/containerd.sock
: "${NODE_NAME:?}" "${PODS_MEMORY:?}"
umask 022

mask_sysctl() { # mask_sysctl PATH VALUE: the kubelet finds the value that it wants, and the host keeps its own
    mkdir -p "$node/masks/sysctl/${1%/*}"
    echo "$2" > "$node/masks/sysctl/$1"
    mount --bind "$node/masks/sysctl/$1" "/proc/sys/$1"
}
make_mounts() {
    local point
    for point in "${masked[@]}"; do
        mkdir -p "$node/masks$point"
        mount --bind "$node/masks$point" "$point"
    done
    mask_sysctl vm/overcommit_memory 1
    mask_sysctl vm/panic_on_oom 0
    mask_sysctl kernel/panic 10
    mask_sysctl kernel/panic_on_oops 1
    mask_sysctl kernel/keys/root_maxkeys 1000000
    mask_sysctl kernel/keys/root_maxbytes 25000000
    mount --bind "$node/kubelet" "$node/kubelet" # pods' volumes
    mount --make-rshared "$node/kubelet"
}
make_cgroups() {
    local hierarchy file
    for hierarchy in /sys/fs/cgroup/*/; do # but not in the v2 tree of a hybrid host
        [ -e "$hierarchy/cgroup.controllers" ] || mkdir -p "$hierarchy$cgroup"
    done
    for file in cpus mems; do
        [ ! -d /sys/fs/cgroup/cpuset ] || cat "/sys/fs/cgroup/cpuset/cpuset.$file" > "/sys/fs/cgroup/cpuset/$cgroup/cpuset.$file"
    done
}

write_containerd_config() {
    local snapshotter=overlayfs restrict=true capabilities
    case $(stat -f -c %T "$node") in overlayfs | nfs | fuse*) snapshotter=native ;; esac
    # A sandbox gets oom_score_adj -998, which needs CAP_SYS_RESOURCE; without it, the adjustment is limited to our own.
    capabilities=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
    [ $((0x$capabilities >> 24 & 1)) -eq 0 ] || restrict=false
    sed -e "s,@NODE@,$node,g; s,@BIN@,$bin,g; s,@SNAPSHOTTER@,$snapshotter,g; s,@RESTRICT@,$restrict,g" \
        "$kube/containerd.toml" > "$node/containerd.toml"
    mkdir -p "$node/cni/bin" "$node/cni/net.d"
    cp "$kube/cni_none" "$node/cni/bin/none"
    cp "$kube/cni_none" "$node/cni/bin/loopback" # containerd calls it for every pod
    echo '{"cniVersion": "0.3.1", "name": "none", "plugins": [{"type": "none"}]}' > "$node/cni/net.d/10-none.conflist"
}
start_containerd() {
    local image
    write_containerd_config
    PATH=$bin:$PATH setsid "$bin/containerd" -c "$node/containerd.toml" >> "$node/containerd.log" 2>&1 < /dev/null &
    record_pid "$node/containerd.pid" $!
    wait_until 20 ready_unless_dead "$node/containerd.pid" "$bin/ctr" -a "$socket" version || die "containerd does not answer"
    recorded "$node/containerd.pid" || die "containerd has exited"
    for image in pause load; do "$bin/ctr" -a "$socket" -n k8s.io image import "$node/images/$image.tar" > /dev/null; done
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
        --container-runtime-endpoint="unix://$socket" --image-service-endpoint="unix://$socket" --register-node=true --v=2 \
        >> "$node/kubelet.log" 2>&1 < /dev/null &
    record_pid "$node/kubelet.pid" $!
}

mkdir -p "$node"/{kubelet,certs,manifests,plugins,sock}
[ "${1:-}" != mount ] || make_mounts
make_cgroups
recorded "$node/containerd.pid" || start_containerd
recorded "$node/kubelet.pid" || start_kubelet
