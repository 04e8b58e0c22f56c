# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# containerd of a rig: in a mount namespace of its own, so that nothing of it is found on the host afterwards. Sourced after
# lib.sh by those that start and end a node, of tests/kube and of tests/cri; never run.
# env: STATS_PERIOD (10: seconds between two looks at the containers' layers), PAUSE_IMAGE (of sandboxes: localhost/pause:1)

# shellcheck disable=SC2154  # lib.sh has node, rig, kube, bin, masked
runtime_socket=$node/sock/containerd.sock
cgroup=$(cgroup_of "$rig")

# ---- the namespace

in_new_namespace() { # in_new_namespace COMMAND...: with the directories that are masked in it made, and noted, where they are missing
    local point
    rm -f "$node/made"
    lock_masked
    for point in "${masked[@]}"; do # those that are removed in the end
        if [ ! -d "$point" ] || masked_elsewhere "$point"; then
            mkdir -p "$point"
            echo "$point" >> "$node/made"
        fi
    done
    # A daemon that inherited the descriptor would hold the lock.
    unshare --mount --propagation private "$@" {masked_lock}<&-
    unlock_masked
}
remove_points() { # those that in_new_namespace made
    local point
    [ -s "$node/made" ] || return 0
    lock_masked
    while read -r point; do
        masked_elsewhere "$point" || rmdir "$point" 2> /dev/null || true # unless it is in use
    done < "$node/made"
    unlock_masked
}
mount_masked() { # in it: empty directories over them
    local point
    for point in "${masked[@]}"; do
        mkdir -p "$node/masks$point"
        mount --bind "$node/masks$point" "$point"
    done
}

# ---- containerd

make_cgroups() { # in every v1 hierarchy, but not in the v2 tree of a hybrid host
    local hierarchy file
    for hierarchy in /sys/fs/cgroup/*/; do
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
    sed -e "s,@NODE@,$node,g; s,@BIN@,$bin,g; s,@SNAPSHOTTER@,$snapshotter,g; s,@RESTRICT@,$restrict,g; s,@STATS@,${STATS_PERIOD:-10},g; s,@PAUSE@,${PAUSE_IMAGE:-localhost/pause:1},g" \
        "$kube/containerd.toml" > "$node/containerd.toml"
    mkdir -p "$node/cni/bin" "$node/cni/net.d"
    cp "$kube/cni_none" "$node/cni/bin/none"
    cp "$kube/cni_none" "$node/cni/bin/loopback" # containerd calls it for every pod
    echo '{"cniVersion": "0.3.1", "name": "none", "plugins": [{"type": "none"}]}' > "$node/cni/net.d/10-none.conflist"
}
start_containerd() { # start_containerd IMAGE...: with these of $node/images
    local image
    write_containerd_config
    PATH=$bin:$PATH setsid "$bin/containerd" -c "$node/containerd.toml" >> "$node/containerd.log" 2>&1 < /dev/null &
    record_pid "$node/containerd.pid" $!
    wait_until 20 ready_unless_dead "$node/containerd.pid" "$bin/ctr" -a "$runtime_socket" version || die "containerd does not answer"
    recorded "$node/containerd.pid" || die "containerd has exited"
    for image in "$@"; do "$bin/ctr" -a "$runtime_socket" -n k8s.io image import "$node/images/$image.tar" > /dev/null; done
}

# ---- its helpers

shims() { # containerd's helpers, one a pod, by our socket among their arguments: they outlive it
    local file
    while read -r file; do
        ! grep -qx containerd-shim "${file%/cmdline}/comm" || basename "${file%/cmdline}"
    done < <(grep -lzxF "$node/sock/containerd.sock" /proc/[0-9]*/cmdline)
}
stop_shims() {
    local pid
    for pid in $(shims); do kill -KILL "$pid" 2> /dev/null || true; done
    [ -z "$(shims)" ]
}
