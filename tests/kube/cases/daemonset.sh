#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd as its DaemonSet: the image from deploy/image in the real containerd, with the manifest's mounts, capabilities and seccomp
# profile. It sees the node's pods, evicts one, and an update or a SIGKILL leaves nothing behind and loses no eviction.
# needs: node
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
threshold=300 # MiB of the pods' 1024

leave() {
    kubectl delete daemonset evictd -n evictd --timeout=20s > /dev/null 2>&1
    remove_pods
    kubelet_enter umount "$bpf" 2> /dev/null
    rm -rf "$run_directory"
    [ -z "${controllers:-}" ] || stop_recorded "$rig/controllers.pid"
}
trap 'leave; kube_down; clean_up' EXIT
recorded "$rig/controllers.pid" || controllers=ours
CONTROLLERS=1 kube_up # it has the DaemonSet's controller, and publishes kube-root-ca.crt
kubelet_enter sh -c "mkdir -p $bpf && mount -t bpf -o mode=0700 bpf $bpf"

# ---- the image

check "the image is made without a container engine, and containerd imports it" import_image
small() {
    local bytes
    bytes=$(sed -nE 's/.* ([0-9]+)\.[0-9] MiB on the node$/\1/p' "$work/out")
    [ "$bytes" -gt 5 ] && [ "$bytes" -lt 60 ]
}
check "it is under 60 MiB" small

# ---- the manifest, with what is different on the rig: directories of the host, addresses, the cgroup, the thresholds; and without
# CAP_SYS_RESOURCE where this machine has none to give.

adapted() {
    manifests overlays/older-kubelet | on_rig "evictionHard: {allocatableMemory.available: ${threshold}Mi}" |
        sed "s|^    evictd:\$|&\n      kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\"}\n      ladder: {freeze: true, freezeFor: 3s}|"
}
status() { "$EVICTD" status --socket "$socket" -o json 2> "$work/err" | tr -d ' \n' > "$work/out" && [ -s "$work/out" ] && echo >> "$work/out"; }
status_says() { status && says "$1"; }
agent_pid() { status && sed -nE 's/.*"pid":([0-9]+).*/\1/p' "$work/out"; }
# A pod that was deleted is replaced when the kubelet has removed all of it, which 1.20 looks for every 10 s, and on a busy machine
# with its resync, after a minute.
is_ready() { # is_ready [NOT-THIS-PID]
    bind_pods evictd
    [ "$(kubectl get pods -n evictd -l app.kubernetes.io/name=evictd -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}')" = True ] &&
        evictd_pid=$(agent_pid) && [ -n "$evictd_pid" ] && [ "$evictd_pid" != "${1:-}" ]
}
adapted > "$work/daemonset.yaml"
kubectl apply -f "$work/daemonset.yaml" > "$work/out"
check "its pod becomes ready" wait_for 90 is_ready

confined_to() { # the manifest's capabilities, no more
    local names=(CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
        NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT
        SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG
        WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE) i wanted=0
    for i in "${!names[@]}"; do
        ! grep -qx " *- ${names[i]}" "$work/daemonset.yaml" || wanted=$((wanted | 1 << i))
    done
    grep -E '^(CapBnd|Seccomp|NoNewPrivs):' "/proc/$evictd_pid/status" > "$work/out"
    [ "$wanted" -ne 0 ] && says "$(printf '^CapBnd:.%016x$' "$wanted")" && says '^Seccomp:.2$' && says '^NoNewPrivs:.1$'
}
check "with the manifest's capabilities and seccomp profile" confined_to
"$EVICTD" doctor > "$work/doctor" 2>&1
pins() { status_says '"hook":"pins","chosen":"/sys/fs/bpf/evictd"' && kubelet_enter test -e "$bpf/evictd/thresholds" -a -e "$bpf/evictd/links"; }
loads_bpf() { ! grep -q 'BPF  *programs load' "$work/doctor" || { status_says '"iter/cgroup"' && says 'bpf_timer' && pins; }; }
check "BPF loads in there as it does on the host, and its maps are pinned on the host" loads_bpf
kubectl apply -f "$kube/pods.yaml" > /dev/null
pods="besteffort burstable guaranteed"
for pod in $pods; do wait_for 30 pod_is "$pod" Running; done
heard() { status_says '"name":"guaranteed",[^{]*"usage":4[0-9]{7},' && ! says '"fault":'; }
check "it sees the node's pods and what they use; the API server and the kubelet answer its token" wait_for 20 heard
no_port() { ! grep -qE ':4F26 ' /proc/net/tcp /proc/net/tcp6; } # 20262
check "it listens on no port of the node" no_port
stopped() { # a probe does not wait for ever
    kill -STOP "$evictd_pid" && run 3 health --socket "$socket" && kill -CONT "$evictd_pid" && wait_for 5 run 0 health --ready --socket "$socket"
}
check "a probe of an agent that is stopped fails, and then succeeds again" stopped

# ---- an eviction

for pod in $pods; do wait_for 10 container_pid "$pod" > /dev/null; done
processes() { for pod in $pods; do container_pid "$pod"; done; }
before=$(processes)
hog() { # hog NAME MIB [COMMAND...]: grows at 200 MiB/s up to so many, started by COMMAND; it is in $hog
    RESTART=Never make_pod "$1" 32Mi "" "${@:3}" vm_load grow 200 --up-to "$2" --after /tmp/go
    wait_for 30 pod_is "$1" Running && wait_for 10 container_pid "$1" > /dev/null && hog=$(container_pid "$1") &&
        wait_for 10 status_says "\"$1\""
}
in_user_namespace() { [ "$(readlink "/proc/$hog/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }
evicts() { hog hog 850 unshare -r && in_user_namespace && touch "/proc/$hog/root/tmp/go" && wait_for 20 evicted hog && wait_for 5 gone "$hog"; }
check "it evicts the pod that takes the memory, in a user namespace of its own" evicts
others_live() { [ "$(processes)" = "$before" ] && [ "$(count '"reason":"Evicted"')" -eq 1 ]; }
check "and no other" others_live
check "the API server shows the pod as failed" wait_for 20 pod_is hog Failed
kubectl delete pod hog --force --grace-period 0 > /dev/null 2>&1

# ---- updates: a pod whose score is raised, then one that is frozen

score() { cat "/proc/$1/oom_score_adj" 2> /dev/null; }
raised() { [ "$(score "$hog")" = 1000 ]; }
usual() { [ "$(score "$hog")" = "$class" ]; }
class=
near() { # so close to the threshold that the first victim is raised, and no closer
    local held
    status && held=$(sed -nE 's/.*"signal":"allocatableMemory.available","available":"([0-9KMGi]+)".*/\1/p' "$work/out" | numfmt --from=iec-i) && [ -n "$held" ] &&
        hog near $(((held >> 20) - threshold - 30)) && class=$(score "$hog") && [ "$class" != 1000 ] && touch "/proc/$hog/root/tmp/go" &&
        wait_for 20 raised
}
check "the first victim's oom_score_adj is raised while memory is short" near
replaced() { # by SIGTERM; the next one raises it again
    local old=$evictd_pid
    kubectl delete pod -n evictd -l app.kubernetes.io/name=evictd --wait=false > /dev/null
    wait_for 30 gone "$old" && usual && wait_for 90 is_ready "$old" && wait_for 20 raised
}
check "an update puts it back, and the new pod raises it again" replaced
killed() { kill -KILL "$evictd_pid" && wait_for 90 is_ready "$evictd_pid" && wait_for 20 raised; }
check "it is killed and comes back" killed
check "and pins its maps and programs in place of the killed one's" loads_bpf
recovered() { # what the killed one had raised is known: it goes back to what it was
    kubectl delete pod -n evictd -l app.kubernetes.io/name=evictd --wait=false > /dev/null
    wait_for 30 gone "$evictd_pid" && usual
}
check "and the one after it puts back what the killed one had raised" recovered
check "and comes back" wait_for 90 is_ready "$evictd_pid"
kubectl delete pod near --force --grace-period 0 > /dev/null 2>&1

frozen() { grep -qx FROZEN "$1/freezer.state" 2> /dev/null || grep -qx 1 "$1/cgroup.freeze" 2> /dev/null; }
freezer_of() { find /sys/fs/cgroup/freezer/"$(cgroup_of "$rig")" -name "pod$1"; }
killed_in_freeze() {
    local path end
    wait_for 20 no_pod_cgroup_of_near && hog grower 760 && path=$(freezer_of "$(pod_uid grower)") && [ -n "$path" ] &&
        touch "/proc/$hog/root/tmp/go" || return 1
    end=$((SECONDS + 20))
    until frozen "$path"; do [ "$SECONDS" -lt "$end" ] || { echo "    it was not frozen"; return 1; }; done
    kill -KILL "$evictd_pid"
    local begin=${EPOCHREALTIME/./}
    until ! frozen "$path"; do [ "$SECONDS" -lt "$end" ] || { echo "    it is still frozen"; return 1; }; done
    echo "    thawed $(((${EPOCHREALTIME/./} - begin) / 1000)) ms after its agent was killed"
    [ $((${EPOCHREALTIME/./} - begin)) -lt 2000000 ]
}
no_pod_cgroup_of_near() { ! kubectl get pod near > /dev/null 2>&1 && gone "$hog"; }
check "a pod that is frozen when the agent is killed is thawed at once" killed_in_freeze
kubectl delete pod grower --force --grace-period 0 > /dev/null 2>&1
check "the next agent starts" wait_for 90 is_ready "$evictd_pid"

# ---- an eviction that the API server was away for, by an agent that does not live to report it

reported() { [ -n "$(jsonpath "pod/$1" '{.metadata.annotations.evictd\.io/evicted}' 2> /dev/null)" ] && pod_is "$1" Failed; }
evicts_unheard() {
    hog unheard 850 && api_server_down && touch "/proc/$hog/root/tmp/go" && wait_for 20 evicted unheard && wait_for 5 gone "$hog" &&
        kill -KILL "$evictd_pid" && wait_for 5 gone "$evictd_pid"
}
check "it evicts a pod while the API server is away, and is killed" evicts_unheard
CONTROLLERS=1 kube_up
check "the next agent starts again" wait_for 90 is_ready "$evictd_pid"
check "and reports to the API server what the killed one has noted" wait_for 30 reported unheard
once() { # once REASON: of that pod
    [ "$(grep "\"reason\":\"$1\"" "$log" | grep -c '"name":"unheard"')" -eq 1 ]
}
check "once; the pod was evicted once" eval 'once EvictionReported && once Evicting'
check "it watches on, and the eviction is over" wait_for 30 once EvictionSettled # an agent that ends before leaves it noted

# ---- the end

ends() { kubectl delete daemonset evictd -n evictd --timeout=40s > /dev/null && wait_for 30 gone "$evictd_pid"; }
check "the DaemonSet is deleted" ends
nothing_left() { # the file for intents stays: there may be some that no server has answered
    local left
    left=$(kubelet_enter find "$bpf" -mindepth 1 ! -name '*.debug'; find "$run_directory" -mindepth 1 ! -type d ! -name intents; find "$host/state" -type f -size +0; find "/sys/fs/cgroup/freezer/$(cgroup_of "$rig")" -name freezer.state -exec grep -l FROZEN {} +)
    [ -z "$left" ] || { echo "    left: $left"; return 1; }
}
check "and leaves no pin, no ledger and no frozen pod" nothing_left
exit "$failed"
