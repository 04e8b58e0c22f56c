#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What evictd demo --scenario disk plays, in the mount namespace that demo.sh has made for it.
# shellcheck disable=SC2317,SC2016  # watch_until calls functions by name; a pod's shell expands
# env: DISK_DEMO_WORK (a directory, removed by demo.sh when this ends), EVICTD_CRI_RUN, EVICTD, CRI_PODS; a pipe as descriptor
# 7, which ends when all is cleaned up
set -uo pipefail
export LC_ALL=C.UTF-8
work=${DISK_DEMO_WORK:?is set by demo.sh}
export STATS_PERIOD=1 # how often containerd measures layers
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=demo_show.sh
. "$cri/demo_show.sh"

leave() {
    trap '' INT TERM HUP
    stop_recorded "$work/agent.pid" 5
    rm -f "$work/demo.pid" # the cleaner begins
    read -r _ <&7
    umount --lazy "$rig" 2> /dev/null
}
trap leave EXIT
trap 'echo; exit 130' INT TERM HUP
fails() { # fails WHAT: it cannot be played
    echo "evictd: demo: $1" >&2
    tail -n 5 "$work"/*.log "$node/containerd.log" >&2 2> /dev/null
    exit 1
}

# ---- the stage

threshold=96
make_disk() {
    mkdir "$rig"
    if truncate -s 512M "$work/disk" && mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$work/disk" &&
        mount -o loop "$work/disk" "$rig" 2> "$work/mount.log"; then
        rm "$work/disk" # the loop device holds it, and goes with the mount
    else
        [ "$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)" -gt 1536 ] ||
            fails "there is no loop device here, and less than 1.5 GiB of memory is available for a tmpfs"
        echo "There is no loop device here: the disk is a tmpfs."
        rm -f "$work/disk"
        mount -t tmpfs -o size=490m,mode=0755 evictd-demo "$rig" || fails "no small filesystem can be mounted"
    fi
    mkdir -p "$node"/{sock,logs,kubelet/pods,masks/{run,log}} "$work/pods"
    ln -s "$work/images" "$node/images"
    mount --bind "$node/masks/run" /run     # containerd's shims, whatever it is told
    mount --bind "$node/masks/log" /var/log # pods' logs, likewise
}
pack() { # pack NAME MIB: an image localhost/NAME:1 of so many MiB
    mkdir -p "$work/image"
    head -c "$2M" /dev/urandom > "$work/image/data"
    "$top/deploy/image/pack.sh" "$work/image" "$work/images/$1.tar" "localhost/$1:1" '{"Entrypoint": ["/data"]}'
}
ctr() { "$bin/ctr" -a "$runtime_socket" -n k8s.io "$@"; }
has_image() { grep -qx "localhost/$1:1" < <(ctr images ls -q); }
containers() { ctr containers ls -q | wc -l; } # with a sandbox for each pod

# NAMESPACE NAME QOS PRIORITY REQUEST MIB: the last is what it keeps in its volume
rows=("payments db burstable 1000 64Mi 40" "shop cart besteffort 100 - 0" "dev notebook besteffort 0 - 60"
    "batch report besteffort 0 - 5" "kube-system log-store besteffort 2000001000 - 100")
declare -A uid=() sandbox=() container=() path=() parent=()
volume() { echo "$node/kubelet/pods/${uid[$1]}/volumes/kubernetes.io~empty-dir/data"; }
write_manifest() { # write_manifest NAMESPACE NAME PRIORITY REQUEST
    local class='' requests='{}'
    [ "$3" -lt 2000000000 ] || class='  priorityClassName: system-node-critical'
    [ "$4" = - ] || requests="{requests: {memory: 8Mi, ephemeral-storage: $4}}"
    cat > "$work/pods/.$2" << END
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1, uid: ${uid[$2]}}
spec:
$class
  priority: $3
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: "localhost/load:1", resources: $requests, volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, emptyDir: {}}]
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
END
    mv "$work/pods/.$2" "$work/pods/$2.yaml"
}
run_in() { # run_in NAME ATTEMPT COMMAND...: a container of the pod
    local name=$1 attempt=$2
    shift 2
    # shellcheck disable=SC2086  # words are wanted
    container[$name]=$("$CRI_PODS" run "$runtime_socket" "${sandbox[$name]}" ${path[$name]} "${uid[$name]}" "${parent[$name]}" \
        "$attempt" localhost/load:1 "$(volume "$name")" "$@") || fails "no container of pod $name can be started"
}
crash() { # crash ATTEMPT MIB: a container of shop/cart that leaves so much in its layer
    run_in cart "$1" sh -c "dd if=/dev/zero of=/core bs=1M count=$2 2> /dev/null; exit 1"
    "$CRI_PODS" ended "$runtime_socket" "${container[cart]}" || fails "shop/cart does not crash"
}
# Far from as fast as it can: the figures are to show who is faster, not how fast this disk is.
writes='until [ -e /data/go ]; do sleep 0.05; done; for i in $(seq 60); do dd if=/dev/zero of=/data/rows.$i bs=1M count=8; usleep 50000; done; exec sleep 100000'
make_pod() { # make_pod NAMESPACE NAME QOS PRIORITY REQUEST MIB
    local number=$((${#uid[@]} + 1))
    uid[$2]=e71c7d00-0000-4000-8000-00000000002$number
    path[$2]="$1 $2" parent[$2]=/$cgroup/kubepods/$3/pod${uid[$2]}
    mkdir -p "$(volume "$2")"
    head -c "$6M" /dev/zero > "$(volume "$2")/kept"
    write_manifest "$1" "$2" "$4" "$5"
    sandbox[$2]=$("$CRI_PODS" pod "$runtime_socket" "$1" "$2" "${uid[$2]}" "${parent[$2]}") || fails "pod $1/$2 cannot be started"
    case $2 in
        cart) ;;
        report) run_in "$2" 0 sh -c "$writes" ;;
        *) run_in "$2" 0 sleep 100000 ;;
    esac
}
processes_of() { # processes_of NAME: of its newest container; empty if it has ended
    local root
    for root in $(cgroup_roots "$cgroup"); do find "$root" -path "*/${container[$1]}/cgroup.procs" -exec cat {} + 2> /dev/null; done | sort -u | tr '\n' ' '
}

start_agent() {
    cat > "$work/config.yaml" << END
evictionHard: {nodefs.available: ${threshold}Mi}
containerRuntimeEndpoint: unix://$runtime_socket
cgroupRoot: /$cgroup
evictd:
  disks: true
  podManifestPath: $work/pods
  socketPath: $work/evictd.sock
  statePath: $work/state
  intentsPath: $work/intents
  bpffsPath: /sys/fs/bpf/$cgroup
  kubelet: {rootDirectory: $node/kubelet}
  eventLog: {path: $log, stdout: false}
END
    setsid "$EVICTD" run --config "$work/config.yaml" > "$work/agent.log" 2>&1 < /dev/null &
    record_pid "$work/agent.pid" $!
    disown
    wait_until 20 ready_unless_dead "$work/agent.pid" agent_sees_all || fails "evictd does not see the pods and the runtime"
    recorded "$work/agent.pid" || fails "evictd has exited"
}
agent_sees_all() {
    local row
    "$EVICTD" status --socket "$work/evictd.sock" > "$work/status" 2>&1 || return 1
    for row in "${rows[@]}"; do
        read -r space pod _ <<< "$row"
        grep -q "$space/$pod" "$work/status" || return 1
    done
    grep -q containerd.sock "$work/status"
}

# ---- the play

title "evictd demo, disk: garbage fills a small disk and is removed; then a pod fills it and is evicted"
make_disk
"$kube/images.sh" "$work/images"
for image in old-1 old-2 old-3; do pack "$image" 15; done
make_cgroups
start_containerd pause load
disown -a # what is killed in the end is no news
for row in "${rows[@]}"; do
    # shellcheck disable=SC2086  # words are wanted
    make_pod $row
done
say "five pods run in a private containerd"
for image in old-1 old-2 old-3; do
    ctr images import "$work/images/$image.tar" > /dev/null || fails "an image cannot be imported"
    say "image localhost/$image:1 was pulled, and no container uses it any more"
done
start_agent
say "evictd runs: it evicts below ${threshold}Mi"
bystanders=(db notebook log-store)
declare -A was=()
for name in "${bystanders[@]}"; do was[$name]=$(processes_of "$name"); done

title "shop/cart crashes again and again; each time a dead container is left"
crashes=4
each=$(((left - threshold - 14) / crashes)) # the disk is not short yet
for ((i = 0; i < crashes; i++)); do
    crash "$i" "$each"
    say "shop/cart has crashed, and left ${each}Mi"
    watch_for 0.5
done
run_in cart "$crashes" sh -c 'dd if=/dev/zero of=/cache bs=1M count=24; exec sleep 100000'
watch_until 10 reported EvictionThresholdMet || fault "the disk never ran short"
watch_until 30 reported ReclaimSucceeded || fault "the reclaim was not enough"
watch_for 2
came_back=$(first_of ReclaimSucceeded | grep -oE '\([0-9]+' | head -n 1 | tr -d '(') # "(138Mi freed)": the lowest point may pass unseen
say "${came_back:=0}Mi came back, and no pod was evicted"
! reported Evicting || fault "a pod was evicted although garbage could be removed"
for image in old-1 old-2 old-3; do ! has_image "$image" || fault "image localhost/$image:1 is still there"; done
for image in load pause; do has_image "$image" || fault "image localhost/$image:1, which is in use, was removed"; done
# For each pod a sandbox and a container, and the newest dead one of shop/cart, whose log may be wanted.
[ "$(containers)" -eq $((2 * ${#rows[@]} + 1)) ] || fault "$(containers) containers are left, not $((2 * ${#rows[@]} + 1))"

title "batch/report writes as much as it can, and there is no garbage left"
was[cart]=$(processes_of cart)
bystanders+=(cart)
before=$left
"$CRI_PODS" crossing "$rig" $((threshold << 20)) > "$work/crossing" &
watcher=$!
wrote=$EPOCHREALTIME
touch "$(volume report)/go"
watch_until 30 reported Evicted report || fault "batch/report was not evicted"
reclaimed=$left
title "what a kubelet would do now: remove the pod's containers and its volume"
"$CRI_PODS" remove "$runtime_socket" "${sandbox[report]}" || fault "the containers of batch/report cannot be removed"
rm -rf "$node/kubelet/pods/${uid[report]}"
rm -f "$work/pods/report.yaml"
watch_for 2
say "does any other pod have to go?"

# ---- the verdict

[ "$left" -gt "$threshold" ] || fault "the disk is still short"
[ "$(events_of Evicted | wc -l)" -eq "$(events_of Evicted report | wc -l)" ] || fault "another pod was evicted"
for name in "${bystanders[@]}"; do
    if [ -z "${was[$name]}" ] || [ "$(processes_of "$name")" != "${was[$name]}" ]; then fault "a bystander ended: $name"; fi
done
wait "$watcher" 2> /dev/null
crossed=$(cat "$work/crossing")
evicting=$(first_of Evicting report)
if [ -z "$crossed" ] || [ -z "$evicting" ]; then fault "no time can be told"; fi
title verdict
if [ ${#faults[@]} -gt 0 ]; then
    echo "${red}FAILED: this is not what should have happened.$plain"
    printf '  %s\n' "${faults[@]}"
    exit 1
fi
milliseconds() { awk -v s="$1" 'BEGIN { printf "%.0f ms", s * 1000 }'; }
pace=$(awk -v mib=$((before - threshold)) -v s="$(since "$wrote" "$crossed")" 'BEGIN { printf "%.0f", mib / s }')
cat << END
${green}OK: ${came_back}Mi of garbage were removed before any pod was evicted; then batch/report was, and only it.$plain
  The reclaim took $((crashes - 1)) dead containers and 3 images; the newest dead container and the images in use stayed.
  From the crossing to the decision which pod is evicted: $(milliseconds "$(since "$crossed" "$(time_of "$evicting")")"). $((left - reclaimed))Mi came back with the pod's volume.
  The other ${#bystanders[@]} pods live, kube-system/log-store among them, which keeps 100Mi but is critical.
  The kubelet looks at its disks every 10 s: at $pace MiB/s, the disk would have been full $(milliseconds "$(awk "BEGIN { print $threshold / $pace }")") after the crossing.
END
exit 0
