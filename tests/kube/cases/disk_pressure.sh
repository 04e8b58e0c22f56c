#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A node short of disk, beside a real kubelet and containerd: an unused image is removed and nobody is evicted; then a pod
# fills the disk and is evicted, and no other. The node is on a small filesystem of its own.
# needs: node
# in turns
# env: CROSSINGS (9): how many are timed
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
if [ -z "${DISK_PRESSURE_NAMESPACE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "skip disk pressure: needs root"; exit 0; }
    # What is mounted goes with the last process in it, however this ends.
    DISK_PRESSURE_NAMESPACE=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"

rig=$(mktemp -d "${TMPDIR:-/tmp}/evictd-kube.XXXXXX")
node=$rig/node
export EVICTD_KUBE_RUN=$rig
end() { # the data goes with the mount
    "$kube/down.sh" > /dev/null 2>&1
    umount "$rig" 2> /dev/null
    rm -rf "$rig"
    clean_up
}
trap end EXIT
mount -t tmpfs -o size=1500m,mode=0755 evictd-test "$rig" || { echo "skip disk pressure: no tmpfs can be mounted"; exit 0; }
check "a node starts on a small filesystem" eval 'kube_up && kubelet_up'

available() { df --output=avail -BM "$rig" | tail -n 1 | tr -dc 0-9; } # in MiB
has_image() { grep -q "^localhost/$1:1$" < <("$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io images ls -q); }
unused_image() { # unused_image NAME MIB
    mkdir -p "$work/image/data"
    head -c "$2M" /dev/urandom > "$work/image/data/random"
    "$top/deploy/image/pack.sh" "$work/image" "$work/$1.tar" "localhost/$1:1" '{"Entrypoint": ["/data/random"]}' > /dev/null &&
        "$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io image import "$work/$1.tar" > /dev/null && has_image "$1"
    rm -rf "$work/image" "$work/$1.tar"
}
writer() { # writer NAME MIB: writes so much to its emptyDir, once /data/go is there
    kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1"}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/load:1
    imagePullPolicy: Never
    command: [sh, -c, "until [ -e /data/go ]; do sleep 0.05; done; dd if=/dev/zero of=/data/big bs=1M count=$2; exec sleep 1000"]
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - {name: data, emptyDir: {}}
END
    wait_for 30 pod_is "$1" Running
}
data_of() { echo "$node/kubelet/pods/$(pod_uid "$1")/volumes/kubernetes.io~empty-dir/data"; }
write() { kubelet_enter touch "$(data_of "$1")/go"; }

check "an image that nobody uses is there" unused_image unused 150
check "two pods run" eval 'writer quiet 5 && writer hog 400 && write quiet'
total=$(available)

agent_on_node
settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  disks: true
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: $node/certs/kubelet.crt, rootDirectory: $node/kubelet}"
write_config "evictionHard: {nodefs.available: $((total - 150))Mi}" "imageMinimumGCAge: 1s" \
    "containerRuntimeEndpoint: unix://$node/sock/containerd.sock"
start_agent
status_says() { run 0 status --socket "$work/run/evictd.sock" && says "$1"; }
check "it knows the pods" eval 'wait_for 10 status_says default/hog && wait_for 10 status_says default/quiet'
check "it measures the disk and asks the runtime" wait_for 10 status_says "containerd.sock"
sleep 2 # the image is old enough

fallocate -l 200M "$rig/filler"
removed() { ! has_image unused; }
check "the image goes" wait_for 10 removed
relieved() { [ "$(available)" -gt "$((total - 150))" ]; }
check "and the node has what it needs" wait_for 10 relieved
check "no pod is evicted for it" eval 'sleep 2; ! logged "\"reason\":\"Evict(ed|ing)\""'
check "the images in use are there" eval 'has_image load && has_image pause'

check "a pod fills the disk" write hog
check "it is evicted" wait_for 30 evicted hog
of_hog() { grep -q '"name":"hog".*ephemeral-storage\|ephemeral-storage.*"name":"hog"' < <(grep '"reason":"Evicting"' "$log"); }
check "for ephemeral-storage" of_hog
is_failed() { [ "$(jsonpath pod/hog '{.status.phase}')" = Failed ]; }
check "the API server shows it" wait_for 10 is_failed
check "its volume goes, and the node is relieved" wait_for 60 relieved
check "the other pod runs" eval '! evicted quiet && pod_is quiet Running && [ "$(count "\"reason\":\"Evicted\"")" -eq 1 ]'
# How long a crossing goes unseen, where nothing hangs on it: a soft threshold whose grace period does not end.
remove_pods
rm -f "$rig/filler"
total=$(available)
check "a soft threshold in its place" reload "evictionSoft: {nodefs.available: $((total - 150))Mi}" \
    "evictionSoftGracePeriod: {nodefs.available: 1h}" "containerRuntimeEndpoint: unix://$node/sock/containerd.sock"
crossing() { # crossing: fills the disk; milliseconds from then until evictd has seen it, below 0 where it did so before
    local before full met
    before=$(count '"reason":"EvictionThresholdMet"')
    fallocate -l 200M "$rig/filler"
    full=$(date +%s%N)
    wait_for 12 more_than "$before" '"reason":"EvictionThresholdMet"' || return 1
    met=$(date -d "$(grep '"reason":"EvictionThresholdMet"' "$log" | tail -n 1 | sed -E 's/.*"time":"([^"]*)".*/\1/')" +%s%N)
    before=$(count '"reason":"EvictionThresholdCleared"')
    rm "$rig/filler"
    wait_for 12 more_than "$before" '"reason":"EvictionThresholdCleared"' || return 1
    echo $(((met - full) / 1000000))
}
crossings() {
    local i
    for ((i = 0; i < ${CROSSINGS:-9}; i++)); do crossing || return 1; done | sort -n > "$work/crossings"
    [ "$(wc -l < "$work/crossings")" -eq "${CROSSINGS:-9}" ]
}
check "${CROSSINGS:-9} crossings are seen" crossings
echo "    crossing to decision: $(awk '{ v[NR] = $1 } END { printf "median %d ms, %d to %d (of %d)", v[int((NR + 1) / 2)], v[1], v[NR], NR }' "$work/crossings")"
check "the agent ends" stop_agent
