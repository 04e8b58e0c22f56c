#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Ends a rig: kubelet, pods, runtime, API server, etcd, and its directory. Safe to repeat, and after a start that failed.
# usage: down.sh     env: EVICTD_KUBE_RUN, KEEP=1 (keeps the directory: logs, etcd's data, certificates)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ -d "$rig/pki" ] || exit 0 # not a rig's directory
[ ! -d "$node" ] || "$kube/kubelet_down.sh"
for name in controllers apiserver etcd; do stop_recorded "$rig/$name.pid" 15; done
rm -rf "/dev/shm/$(cgroup_of "$rig")" # an agent's intents
[ "${KEEP:-}" = 1 ] || rm -rf "$rig"
