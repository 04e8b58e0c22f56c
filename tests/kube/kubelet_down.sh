#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Ends the kubelet, its pods and containerd, and removes their cgroups and files. The mounts go with the last process of the
# mount namespace. Needs no answer from the API server, the kubelet or containerd.
# usage: kubelet_down.sh     env: EVICTD_KUBE_RUN, KEEP=1 (keeps the files)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ -d "$node" ] || exit 0
cgroup=$(cgroup_of "$rig")

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

stop_recorded "$node/kubelet.pid"
stop_recorded "$node/containerd.pid" # before its pods are killed, or it would report and clean up each of them
kill_cgroup "$cgroup"
wait_until 10 stop_shims || die "shims of $node do not exit"
remove_cgroups "$cgroup"
if [ -s "$node/made" ]; then
    lock_masked
    while read -r point; do
        masked_elsewhere "$point" || rmdir "$point" 2> /dev/null || true # unless it is in use
    done < "$node/made"
    unlock_masked
fi
[ "${KEEP:-}" = 1 ] || rm -rf "$node"
