#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Ends a rig: pods, containerd, shims, cgroups, and its directory. The mounts go with the last process of the mount namespace.
# Safe to repeat, after a start that failed, and whatever containerd does.
# usage: down.sh     env: EVICTD_CRI_RUN, KEEP=1 (keeps the directory: logs, images)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ -d "$node" ] || exit 0 # not a rig's directory

stop_recorded "$node/containerd.pid" 2 # before its pods are killed, or it would report and clean up each of them
kill_cgroup "$cgroup"
wait_until 10 stop_shims || die "shims of $node do not exit"
stop_recorded "$node/keeper.pid"
remove_cgroups "$cgroup"
remove_points
[ "${KEEP:-}" = 1 ] || rm -rf "$rig"
