#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The part of up.sh that runs in the rig's mount namespace.
# usage: node.sh [mount]     mount: the namespace is new; env: as up.sh
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
export STATS_PERIOD=1
umask 022
mkdir -p "$node"/{sock,logs}

if [ "${1:-}" = mount ]; then
    mount_masked
    # The namespace stays while containerd is ended.
    setsid sleep infinity < /dev/null > /dev/null 2>&1 &
    record_pid "$node/keeper.pid" $!
fi
make_cgroups
recorded "$node/containerd.pid" || start_containerd pause load spare
