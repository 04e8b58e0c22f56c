#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A real containerd on a filesystem of its own: how long a forced garbage collection takes, and whether an eviction for memory
# is later while the agent collects. A pod's containers die all the time, in turns with and without a threshold on nodefs that
# every few of them cross. As root; what it makes only this script sees, and it is deleted afterwards (3 GiB).
# usage: reclaim.sh     env: EVICTD (build/evictd), DEAD (50), IMAGES (20), TURNS (5), EVICTIONS (50, in each half of a turn),
#                       TMPDIR, BENCH_QUICK=1 (1 turn of 5)
# Exit: 0 the collection took 10 s at most, and the 99th percentile 1.5 times that without at most; 1 not; 2 not measured.
# shellcheck disable=SC2317,SC2154,SC2119,SC2120  # functions are called by name; lib.sh has variables
set -uo pipefail
# A mount namespace of its own: whatever happens, the mounts end with it.
[ "${EVICTD_DISK_BENCH:-}" = inside ] || EVICTD_DISK_BENCH=inside exec unshare --mount --propagation private bash "$0" "$@"
bench=$(cd "$(dirname "$0")" && pwd)
EVICTD=$(realpath "${EVICTD:-$bench/../../../build/evictd}")
export EVICTD
programs=$(dirname "$EVICTD")
# shellcheck source-path=SCRIPTDIR source=../../integration/lib.sh
. "$bench/../../integration/lib.sh"
dead=${DEAD:-50} images=${IMAGES:-20} turns=${TURNS:-5} evictions=${EVICTIONS:-50}
[ "${BENCH_QUICK:-0}" != 1 ] || turns=1 evictions=5
fails() { echo "reclaim: $1" >&2; tail -n 3 "$work"/*.log >&2 2> /dev/null; exit 2; }

# ---- a node: pods that only hold memory have a cgroup and a manifest, one has containers of containerd

"$top/tests/cri/build.sh" > "$work/build.log" 2>&1 || fails "containerd and runc cannot be had here"
fs=$(mktemp -d "${TMPDIR:-/tmp}/evictd-reclaim.XXXXXX")
image=$fs.image
export EVICTD_CRI_RUN=$fs/$name # the rig's cgroup is named after it
# shellcheck source-path=SCRIPTDIR source=../../cri/lib.sh
. "$top/tests/cri/lib.sh"
crashing=
end() {
    trap '' INT TERM HUP
    trap - EXIT
    [ -z "$crashing" ] || kill "$crashing" 2> /dev/null
    [ -z "$agent" ] || kill -TERM "$agent" 2> /dev/null
    "$top/tests/cri/down.sh" > /dev/null 2>&1
    umount --lazy "$fs" 2> /dev/null
    rm -rf --one-file-system "$fs" "$image"
    clean_up
}
trap 'status=$?; end; exit $status' EXIT
make_filesystem() { # its loop device holds the file, and goes with the mount
    truncate -s 3G "$image" && mkfs.ext4 -q -F -m 0 "$image" && mount -o loop "$image" "$fs" && rm "$image"
}
make_filesystem || fails "no filesystem of its own can be made"
{ mkdir "$fs/log" && mount --bind "$fs/log" /var/log; } || fails "pods' logs cannot have a place of their own" # cri_pods makes them
{ find_hierarchies && make_node 512; } || fails "no cgroup with a memory limit can be made"
"$top/tests/cri/up.sh" > "$work/up.log" 2>&1 || fails "containerd does not start"
mkdir -p "$node/kubelet/pods"
cri_pods() { "$programs/cri_pods" "$@"; }
available_mib() { df --output=avail -BM "$fs" | tail -n 1 | tr -dc 0-9; }
uid_of() { printf 'adadadad-0000-4000-8000-%012x' "$1"; }
cart=$(uid_of 1) attempt=0
sandbox=$(cri_pods pod "$runtime_socket" default cart "$cart" "/$name/kubepods/besteffort/pod$cart") || fails "no pod can be started"
write_manifest cart "$cart" "" 2000001000
mkdir -p "$fs/data"
crash() { # crash MIB: a container that leaves so much
    local container
    attempt=$((attempt + 1))
    container=$(cri_pods run "$runtime_socket" "$sandbox" default cart "$cart" "/$name/kubepods/besteffort/pod$cart" "$attempt" \
        localhost/load:1 "$fs/data" sh -c "dd if=/dev/zero of=/core bs=1M count=$1 2> /dev/null; exit 1") &&
        cri_pods ended "$runtime_socket" "$container"
}
settings="disks: true
  kubelet: {rootDirectory: $node/kubelet}"
config() { # config [NODEFS-MIB]
    write_config "evictionHard: {allocatableMemory.available: 256Mi${1:+, nodefs.available: ${1}Mi}}" \
        "containerRuntimeEndpoint: unix://$runtime_socket"
}

# ---- how long it takes

echo "containerd $("$bin/containerd" --version | cut -d ' ' -f 3) on $(available_mib) MiB of ext4; $(nproc) CPUs, load $(cut -d ' ' -f 1 /proc/loadavg)"
for ((i = 0; i <= dead; i++)); do crash 1 || fails "no container can be run"; done # the newest stays
mkdir "$fs/image"
for ((i = 0; i < images; i++)); do
    head -c 4M /dev/urandom > "$fs/image/data"
    "$top/deploy/image/pack.sh" "$fs/image" "$fs/image.tar" "localhost/old-$i:1" '{"Entrypoint": ["/data"]}' || fails "an image cannot be packed"
    "$bin/ctr" -a "$runtime_socket" -n k8s.io images import "$fs/image.tar" > /dev/null || fails "an image cannot be imported"
done
rm "$fs/image.tar"
config
before=$EPOCHREALTIME
"$EVICTD" gc --config "$work/config.yaml" -o json > "$work/gc.json" 2> "$work/gc.log" || fails "evictd gc ended with $?"
took=$(awk -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
gone() { grep -c "\"kind\": \"$1\"" < <(sed -n '/"goes"/,/\]/p' "$work/gc.json"); }
echo "forced collection: $(gone container) containers and $(gone image) images in $took s"
{ [ "$(gone container)" -ge "$dead" ] && [ "$(gone image)" -ge "$images" ]; } || fails "not all of it was removed"

# ---- evictions for memory, meanwhile

wrap=(nsenter --mount="/proc/$(pid_inside)/ns/mnt")
starts_within=30
start_agent
empty=$(available_mib)
keeps_crashing() { while crash 4; do :; done; }
keeps_crashing > /dev/null 2>> "$work/crashes.log" &
crashing=$!
number=1
evict_one() { # and one more line "US" in $work/with or $work/without, unless a timed look chose it: that has no time of a crossing
    local pod=hog$((++number))
    { add_pod "$pod" besteffort "$(uid_of "$number")" && start_in "$pod" "exec $programs/vm_load grow 800"; } || fails "no pod can be started"
    wait_for 20 evicted "$pod" || fails "$pod was not evicted"
    grep '"reason":"Evicting"' "$log" | grep "\"name\":\"$pod\"" | grep -oE '"total":[0-9]+' | cut -d : -f 2 >> "$work/$1"
    remove_pod "$pod"
    sleep 0.2 # a line counts as crossed back only after 100 ms
}
collections() { count '"reason":"ReclaimStarted"'; }
passes=0 fewest=
for ((turn = 0; turn < turns; turn++)); do
    { config && reload; } || fails "the configuration is not taken"
    before=$(collections)
    for ((i = 0; i < evictions; i++)); do evict_one without; done
    [ "$(collections)" -eq "$before" ] || fails "something was collected although no threshold for disk is set"
    { config $((empty - 30)) && reload; } || fails "the configuration is not taken"
    for ((i = 0; i < evictions; i++)); do evict_one with; done
    here=$(($(collections) - before)) passes=$((passes + here))
    [ -n "$fewest" ] && [ "$fewest" -le "$here" ] || fewest=$here
done
strangers=$(grep '"reason":"Evicting"' "$log" | grep -vc '"signal":"allocatableMemory.available"')
kill -0 "$crashing" 2> /dev/null || fails "the containers ceased to come"
[ "$fewest" -ge 1 ] || fails "in one of the halves nothing was collected"
[ "$strangers" -eq 0 ] || fails "$strangers pods were evicted for disk"
echo "evictions for memory, crossing to SIGKILL, while a container of 4 MiB dies every moment ($passes collections, $fewest or more in each half):"
sort -n "$work/without" > "$work/a"
sort -n "$work/with" > "$work/b"
awk -v took="$took" -v each=$((turns * evictions)) '
    { n[FILENAME]++; value[FILENAME, n[FILENAME]] = $1 }
    function at(file, part,  i) { i = int(part * n[file] + 0.999999); return value[file, i < 1 ? 1 : i] }
    function row(label, file) { printf "  %-28s median %5.0f us   99th percentile %5.0f us   %d of %d\n", label, at(file, 0.5), at(file, 0.99), n[file], each }
    END {
        row("nothing is collected", ARGV[1]); row("evictd collects", ARGV[2])
        ratio = at(ARGV[2], 0.99) / at(ARGV[1], 0.99)
        printf "  the 99th percentile: %.2f times\n", ratio
        exit !(took <= 10 && ratio <= 1.5)
    }' "$work/a" "$work/b"
