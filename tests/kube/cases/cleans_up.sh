#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Rigs that end badly leave nothing behind, and do not disturb the one beside them.
# needs: node
# in turns
# shellcheck disable=SC2317,SC2016  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
beside=$rig
unset EVICTD_KUBE_RUN

other() { # other SCRIPT: a test with a rig and a pod of its own; its pid is in $other, its directory in $directory
    rm -f "$work/directory" "$work/reached"
    setsid bash -c '. "$1/rig.sh"; eval "$2"' _ "$kube" '
        kube_up && echo "$rig" > '"$work/directory"' && kubelet_up && make_pod hog "" "" sh -c "sleep 1000 & exec vm_load hold 16" &&
        wait_for 30 pod_is hog Running && touch '"$work/reached; $1" > "$work/out" 2>&1 < /dev/null &
    other=$!
    wait_for 90 eval '[ -e "$work/reached" ] || gone "$other"'
    directory=$(cat "$work/directory") && [ -e "$work/reached" ]
}
ends() { wait_for 40 gone "$other" && leaves_nothing "$directory"; }
interrupted() { other 'while sleep 0.2; do :; done' && kill -TERM "$other" && ends; }
check "a test that is interrupted" interrupted
crashed() {
    other '
        read -r pid _ < "$node/kubelet.pid"; kill -KILL "$pid"
        read -r pid _ < "$node/containerd.pid"; kill -KILL "$pid"
        for file in $(find "/sys/fs/cgroup/freezer/$(cgroup_of "$rig")/kubepods" -mindepth 3 -name freezer.state); do echo FROZEN > "$file"; done
        kill -KILL "$(cut -d " " -f 1 "$rig/apiserver.pid")"' && ends
}
check "kubelet, containerd and API server killed, and a frozen pod" crashed
start_fails() {
    directory=$work/evictd-kube.fails
    mkdir "$directory"
    ! EVICTD_KUBE_RUN=$directory RBAC=/nonexistent "$kube/up.sh" > "$work/out" 2>&1 && leaves_nothing "$directory"
}
check "an API server that cannot be set up" start_fails
node_fails() { # containerd cannot be set up, then the kubelet
    directory=$work/evictd-kube.node
    local -x EVICTD_KUBE_RUN=$directory
    echo 'evictionHard: nonsense' > "$work/wrong.yaml"
    "$kube/up.sh" > "$work/out" 2>&1 || return 1
    ! PODS_MEMORY=1000000000 "$kube/kubelet_up.sh" > "$work/out" 2>&1 && [ ! -e "$directory/node" ] || return 1
    ! KUBELET_CONFIG=$work/wrong.yaml "$kube/kubelet_up.sh" > "$work/out" 2>&1 && [ ! -e "$directory/node" ] || return 1
    [ -e "$directory/url" ] && "$kube/down.sh" && leaves_nothing "$directory"
}
check "a node that cannot be set up, and a kubelet that refuses its configuration" node_fails
undisturbed() { # its node still has its masks
    local -x EVICTD_KUBE_RUN=$beside
    local point
    for point in "${masked[@]}"; do kubelet_enter mountpoint -q "$point" || { echo "    $point is not masked"; return 1; }; done
}
check "the rig beside them is as it was" undisturbed
exit "$failed"
