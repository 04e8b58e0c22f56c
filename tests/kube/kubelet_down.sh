#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Ends the kubelet, its pods and containerd, and removes their cgroups and files. The mounts go with the last process of the
# mount namespace. Needs no answer from the API server, the kubelet or containerd.
# usage: kubelet_down.sh     env: EVICTD_KUBE_RUN, KEEP=1 (keeps the files)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=runtime.sh
. "$(dirname "$0")/runtime.sh"
[ -d "$node" ] || exit 0

stop_recorded "$node/kubelet.pid"
stop_recorded "$node/containerd.pid" # before its pods are killed, or it would report and clean up each of them
kill_cgroup "$cgroup"
wait_until 10 stop_shims || die "shims of $node do not exit"
remove_cgroups "$cgroup"
remove_points
[ "${KEEP:-}" = 1 ] || rm -rf "$node"
