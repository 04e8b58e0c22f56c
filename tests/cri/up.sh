#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Starts a private containerd with CRI: no network, no registry, nothing installed, all of it below one directory. What
# already runs stays as it is, so that containerd can be ended and started again. Ends with down.sh.
# usage: up.sh     env: see lib.sh; prints CRI=SOCKET CGROUP=/the/pods'/parent
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || die "needs root"
for name in containerd containerd-shim-runc-v2 ctr runc; do [ -x "$bin/$name" ] || die "no $name in $bin (run build.sh)"; done
need nsenter util-linux
need busybox busybox-static
[ ${#node} -lt 80 ] || die "$node: the path is too long for a socket"
mkdir -p "$node"

inside=$(pid_inside) || inside=
on_exit() { # a rig that ran before stays
    [ "$1" -ne 0 ] || return 0
    tail -n 5 "$node"/*.log >&2 2> /dev/null || true
    unlock_masked # down.sh wants it
    [ -n "$inside" ] || "$cri/down.sh"
}
trap 'on_exit $?' EXIT
trap 'exit 130' INT TERM

make_images() {
    local root name
    "$kube/images.sh" "$node/images"
    for name in spare kept; do # images that no container uses; the second is only packed
        root=$node/images/$name
        mkdir -p "$root"
        echo "$name" > "$root/file"
        "$top/deploy/image/pack.sh" "$root" "$node/images/$name.tar" "localhost/$name:1" '{"Entrypoint": ["/file"]}'
    done
}
if [ -n "$inside" ]; then
    nsenter --mount="/proc/$inside/ns/mnt" "$cri/node.sh"
else
    make_images
    in_new_namespace "$cri/node.sh" mount
fi
echo "CRI=$runtime_socket CGROUP=/$cgroup"
