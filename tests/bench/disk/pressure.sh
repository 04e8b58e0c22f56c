#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod writes as fast as it can across a hard threshold on nodefs: how long until evictd decides which pod is evicted, and
# how long a real kubelet takes with the same threshold, each without the other. As root: the kubelet's root directory is an
# ext4 of its own in a file, which only this script sees and which is deleted afterwards (3 GiB). Eleven minutes.
# usage: pressure.sh     env: EVICTD (build/evictd), ROUNDS (9, of evictd), KUBELET_ROUNDS (5), TMPDIR, BENCH_QUICK=1 (2 and 1)
# Exit: 0 the median of evictd is 50 ms at most, 1 not, 2 it could not be measured.
# shellcheck disable=SC2317,SC2154  # functions are called by name; rig.sh has variables
set -uo pipefail
# A mount namespace of its own: whatever happens, the mounts end with it.
[ "${EVICTD_DISK_BENCH:-}" = inside ] || EVICTD_DISK_BENCH=inside exec unshare --mount --propagation private bash "$0" "$@"
bench=$(cd "$(dirname "$0")" && pwd)
EVICTD=$(realpath "${EVICTD:-$bench/../../../build/evictd}")
VM_LOAD=$(dirname "$EVICTD")/vm_load
export EVICTD VM_LOAD
watcher=$(dirname "$EVICTD")/evictd_disk_bench
# shellcheck source-path=SCRIPTDIR source=../../kube/rig.sh
. "$bench/../../kube/rig.sh"
"$kube/build.sh" || exit 2
rounds=${ROUNDS:-9} kubelet_rounds=${KUBELET_ROUNDS:-5}
[ "${BENCH_QUICK:-0}" != 1 ] || rounds=2 kubelet_rounds=1
threshold_mib=1024
fails() { echo "disk pressure: $1" >&2; exit 2; }

# ---- a node whose kubelet has a filesystem of its own

rig=$(mktemp -d "${TMPDIR:-/tmp}/evictd-kube.XXXXXX")
node=$rig/node image=$rig.image
export EVICTD_KUBE_RUN=$rig
end() {
    trap - EXIT
    KEEP=1 "$kube/kubelet_down.sh" > /dev/null 2>&1 # its files go with the filesystem
    umount "$node/kubelet" 2> /dev/null
    "$kube/down.sh" > /dev/null 2>&1
    rm -rf --one-file-system "$rig" "$image"
    clean_up
}
trap 'status=$?; end; exit $status' EXIT
make_filesystem() { # its loop device holds the file, and goes with the mount
    mkdir -p "$node/kubelet" && truncate -s 3G "$image" && mkfs.ext4 -q -F -m 0 "$image" &&
        mount -o loop "$image" "$node/kubelet" && rm "$image"
}
kubelet_with() { # kubelet_with THRESHOLDS: anew
    ! recorded "$node/kubelet.pid" || stop_recorded "$node/kubelet.pid"
    printf 'evictionHard: {%s}\nevictionPressureTransitionPeriod: 1s\n' "$1" > "$work/kubelet.yaml"
    KUBELET_CONFIG=$work/kubelet.yaml kubelet_up
}
evictd_runs() {
    settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  disks: true
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: $node/certs/kubelet.crt, rootDirectory: $node/kubelet}"
    write_config "evictionHard: {nodefs.available: ${threshold_mib}Mi}" "containerRuntimeEndpoint: unix://$node/sock/containerd.sock"
    start_agent
}
available() { df --output=avail -BM "$node/kubelet" | tail -n 1 | tr -dc 0-9; } # in MiB
is_empty_again() { [ "$(available)" -ge $((empty - 64)) ]; }
# While the condition holds a new pod is not admitted.
evictd_is_calm() { ! grep -E '"reason":"NodeHas(No)?DiskPressure"' "$log" | tail -n 1 | grep -q NodeHasDiskPressure; }
kubelet_is_calm() { jsonpath node/n1 '{.status.conditions[?(@.type=="DiskPressure")].status}' | grep -q False; }

# ---- one crossing

hog() { # the file ends where the filesystem does; the pod stays
    kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1"}
spec:
  nodeName: n1
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/load:1
    imagePullPolicy: Never
    command: [sh, -c, "until [ -e /data/go ]; do sleep 0.01; done; dd if=/dev/zero of=/data/big bs=1M; sleep 1000; true"]
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - {name: data, emptyDir: {}}
END
    wait_for 15 pod_is "$1" Running || { kubectl delete pod "$1" --force --grace-period 0 > /dev/null 2>&1; return 1; }
}
first_process() { # first_process POD
    local pid
    while read -r pid; do
        [ "$(cat "/proc/$pid/comm")" != sh ] || { echo "$pid"; return; }
    done < <(cat "$(pod_cgroup "$(pod_uid "$1")")"/*/cgroup.procs)
    return 1
}
evictd_decided() { # evictd_decided POD: nanoseconds since 1970
    local at
    at=$(grep '"reason":"Evicting"' "$log" | grep "\"name\":\"$1\"" | head -n 1 | sed -E 's/.*"time":"([^"]*)".*/\1/')
    [ -n "$at" ] && date -d "$at" +%s%N
}
# It logs the order of pods once it has chosen, before it kills the first.
kubelet_decided() { # kubelet_decided POD: nanoseconds since 1970
    local at
    at=$(grep -E "eviction manager: pods ranked for eviction: .*$1" "$node/kubelet.log" | head -n 1 |
        sed -E "s/^.(..)(..) ([0-9:.]+).*/$(date +%Y)-\1-\2 \3/")
    [ -n "$at" ] && date -d "$at" +%s%N
}
crossing() { # crossing WHO POD: a line "DECIDED ENDED FULL RATE": milliseconds from the crossing (FULL: - if it never was), MiB/s
    local pid decided crossed full ended rate
    # A kubelet goes on refusing pods for some seconds after it has reported that there is no pressure.
    wait_for 60 hog "$2" || fails "$2 does not start"
    pid=$(first_process "$2") || fails "$2 has no process"
    # containerd has measured the container's layer, nobody waits for what the last victim held (30 s at most), and the
    # kubelet may be anywhere in its period.
    sleep $((30 + RANDOM % 10)).$((RANDOM % 10))
    "$watcher" watch "$node/kubelet" "$threshold_mib" "$pid" 90 > "$work/watched" &
    local watching=$!
    kubelet_enter touch "$node/kubelet/pods/$(pod_uid "$2")/volumes/kubernetes.io~empty-dir/data/go"
    { wait "$watching" && read -r crossed full ended rate < "$work/watched"; } || fails "$2 did not cross the threshold or did not end"
    wait_for 5 "$1_decided" "$2" > "$work/decided" || fails "$1 does not say when it decided on $2"
    decided=$(cat "$work/decided")
    kubectl delete pod "$2" --force --grace-period 0 > /dev/null 2>&1
    wait_for 120 is_empty_again || fails "the disk space of $2 does not come back"
    wait_for 60 "$1_is_calm" || fails "$1 reports pressure after $2 is gone"
    awk -v c="$crossed" -v d="$decided" -v f="$full" -v e="$ended" -v r="$rate" 'BEGIN {
        printf "%.1f %.1f %s %d\n", (d - c) / 1e6, (e - c) / 1e6, f == "-" ? f : sprintf("%.0f", (f - c) / 1e6), r }'
}
crossings() { # crossings WHO COUNT
    local i
    for ((i = 1; i <= $2; i++)); do crossing "$1" "hog-$1-$i"; done | tee "$work/$1" |
        sed -uE "s/^([-0-9.]+) .*/  $1 decided \1 ms after the crossing/"
}

make_filesystem || fails "no filesystem of its own can be made"
{ kube_up && kubelet_with "memory.available: 1Mi"; } || fails "no node can be started"
empty=$(available)
echo "nodefs: $empty MiB of ext4, evictionHard nodefs.available ${threshold_mib}Mi; $(nproc) CPUs, load $(cut -d ' ' -f 1 /proc/loadavg)"
agent_on_node
evictd_runs
crossings evictd "$rounds" || exit 2
stop_agent || fails "evictd does not end"
kubelet_with "nodefs.available: ${threshold_mib}Mi" || fails "no kubelet with this threshold can be started"
sleep 15 # a kubelet that has just started acts on nothing
crossings kubelet "$kubelet_rounds" || exit 2
awk -f "$bench/pressure.awk" "$work/evictd" "$work/kubelet"
