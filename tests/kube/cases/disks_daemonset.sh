#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd as its DaemonSet with overlays/disks, in the real containerd: it measures the node's filesystems and what pods keep in
# volumes and layers, removes logs, and what it mounts keeps nothing mounted that the kubelet unmounts.
# needs: node
# in turns
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../manifests.sh
. "$(dirname "$0")/../manifests.sh"
host=$work/host bpf=$node/bpf
mkdir -p "$host"/{state,log}
run_directory=$(mktemp -d /dev/shm/evictd-test.XXXXXX) # a tmpfs, as a node's /run/evictd
socket=$run_directory/evictd.sock
chmod 755 "$host"/* "$run_directory"
log=$host/log/events.jsonl agent_log=$host/log/events.jsonl

restart_kubelet() { # restart_kubelet FILE: with these keys more; none: ""
    stop_recorded "$node/kubelet.pid"
    KUBELET_CONFIG=$1 kubelet_up
}
runtime_directories=("$node/sock" "$node/root")
leave() {
    local point
    kubectl delete daemonset evictd -n evictd --timeout=20s > /dev/null 2>&1
    remove_pods
    for point in "$bpf" "${runtime_directories[@]}"; do kubelet_enter umount -l "$point" 2> /dev/null; done
    rm -rf "$run_directory"
    [ -z "${kubelet_changed:-}" ] || restart_kubelet ""
    [ -z "${controllers:-}" ] || stop_recorded "$rig/controllers.pid"
}
trap 'leave; kube_down; clean_up' EXIT
recorded "$rig/controllers.pid" || controllers=ours
CONTROLLERS=1 kube_up # it has the DaemonSet's controller, and publishes kube-root-ca.crt
kubelet_enter sh -c "mkdir -p $bpf && mount -t bpf -o mode=0700 bpf $bpf"
for point in "${runtime_directories[@]}"; do # shared, as a node's filesystems are
    kubelet_enter sh -c "mount --bind $point $point && mount --make-shared $point"
done
echo 'featureGates: {LocalStorageCapacityIsolation: false}' > "$work/kubelet.yaml"
kubelet_changed=1
check "a kubelet that leaves local storage limits to others" restart_kubelet "$work/kubelet.yaml"
check "containerd imports the image" import_image

# The kubelet's root at its own path; the runtime's directories at their usual ones, which are masked on the rig.
adapted() {
    manifests overlays/disks | on_rig "evictionHard: {nodefs.available: 1Mi, imagefs.available: 1Mi}" |
        sed -e "s,/var/lib/kubelet\$,$node/kubelet,; s|mountPath: /var/lib/kubelet\$|mountPath: $node/kubelet|" \
            -e "s,path: /run/containerd\$,path: $node/sock,; s,/var/lib/containerd\$,$node/root," \
            -e "s|^    evictd:\$|&\n      kubelet: {rootDirectory: $node/kubelet}|" -e "s,mountPath: $node/sock,mountPath: /run/containerd,"
}
status() { "$EVICTD" status --socket "$socket" -o json 2> "$work/err" | tr -d ' \n' > "$work/out" && [ -s "$work/out" ] && echo >> "$work/out"; }
status_says() { status && says "$1"; }
agent_pid() { status && sed -nE 's/.*"pid":([0-9]+).*/\1/p' "$work/out"; }
is_ready() {
    bind_pods evictd
    [ "$(kubectl get pods -n evictd -l app.kubernetes.io/name=evictd -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}')" = True ] &&
        evictd_pid=$(agent_pid) && [ -n "$evictd_pid" ]
}
adapted > "$work/daemonset.yaml"
kubectl apply -f "$work/daemonset.yaml" > "$work/out"
check "its pod becomes ready" wait_for 90 is_ready

# ---- what it sees

row='"hook":"disks","chosen":"filesystems,survey,/run/containerd/containerd.sock"'
well() { status_says "$row,\"fallback\":false,\"detail\":\"\""; }
check "filesystems, pods' directories and the runtime answer" wait_for 20 well
signal() { status_says "\"signal\":\"$1\",\"available\":\"[1-9]"; }
check "it knows what nodefs and imagefs have" eval 'wait_for 5 signal nodefs.available && wait_for 5 signal imagefs.available'
writer() { # writer NAME LIMITS VOLUME COMMAND
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
    command: [sh, -c, "$4; exec sleep 1000"]
    resources: {limits: {$2}}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - {name: data, emptyDir: {$3}}
END
    wait_for 30 pod_is "$1" Running
}
writers() {
    local eight="dd if=/dev/zero bs=1M count=8"
    writer small "ephemeral-storage: 20Mi" "sizeLimit: 20Mi" "$eight of=/full" && writer tmpfs "" "medium: Memory" : &&
        writer layer "ephemeral-storage: 4Mi" "" "$eight of=/full" && writer volume "" "sizeLimit: 4Mi" "$eight of=/data/full"
}
check "pods run that write 8 MiB each" writers
said() { grep -q "$2" < <(grep '"reason":"Evicting"' "$log" | grep "\"name\":\"$1\""); } # said POD TEXT
check "one over its limit in a volume is evicted" wait_for 40 said volume 'EmptyDir volume .*data.* exceeds the limit'
check "and one in its container's layer" wait_for 40 said layer 'ephemeral local storage usage exceeds the total limit of containers 4Mi'
check "within theirs the others live" eval 'pod_is small Running && pod_is tmpfs Running && ! evicted small && ! evicted tmpfs'

# ---- what it holds

mounted() { grep -qF "kubernetes.io~empty-dir/data" "/proc/$evictd_pid/mountinfo"; }
check "what is mounted for a pod is mounted in there" mounted
kubectl delete pod tmpfs --force --grace-period 0 > /dev/null 2>&1
check "and goes with it" wait_for 20 eval '! mounted'
writable() { # writable PATH: as it is mounted in there
    awk -v path="$1" '$5 == path { mode = $6 } END { exit mode !~ /^rw(,|$)/ }' "/proc/$evictd_pid/mountinfo"
}
only_logs() {
    local path
    for path in /var/log/pods /var/log/containers; do writable "$path" || { echo "    $path is not writable"; return 1; }; done
    for path in "$node/kubelet" "$node/root" /run/containerd; do
        grep -qF " $path " "/proc/$evictd_pid/mountinfo" || { echo "    $path is not there"; return 1; }
        ! writable "$path" || { echo "    $path is writable"; return 1; }
    done
}
check "of the node's directories only those of logs are writable" only_logs
link=/var/log/containers/gone_default_main-$(printf '%064d' 7).log
kubelet_enter ln -s /var/log/pods/default_gone_uid/main/0.log "$link"
in_container() { # in_container COMMAND...: with its capabilities
    local id
    id=$(kubectl get pods -n evictd -l app.kubernetes.io/name=evictd -o 'jsonpath={.items[0].status.containerStatuses[0].containerID}')
    kubelet_enter "$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io task exec --exec-id "t$RANDOM" "${id#containerd://}" "$@" > "$work/out" 2> "$work/err"
}
removes() { in_container evictd gc --config /etc/evictd/config.yaml --images none && ! kubelet_enter test -L "$link"; }
check "garbage goes from in there: a link to a log that is gone" removes
no_image_went() { "$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io images ls -q > "$work/out" && says '^localhost/load:1$'; }
check "and nothing else" no_image_went

ends() { kubectl delete daemonset evictd -n evictd --timeout=40s > /dev/null && wait_for 30 gone "$evictd_pid"; }
check "the DaemonSet is deleted" ends
exit "$failed"
