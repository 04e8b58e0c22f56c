#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd demo --scenario disk: garbage fills a small disk, and is removed without an eviction; then a pod fills it, and is
# evicted. A filesystem of 512 MiB, containerd, pods and evictd, in a mount namespace of their own: the machine sees a
# directory, a cgroup and a loop device, and none of them afterwards. demo_play.sh is what is played; this makes room for it
# and cleans up: by a process that waits for the end of the demo, also for SIGKILL; if that is killed too, the next demo does.
# usage: demo.sh     env: EVICTD (build/evictd), CRI_PODS (beside it), EVICTD_KUBE_DIR (see lib.sh), TMPDIR
# exit status: 0 all happened as it should, 1 not, 130 interrupted
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- cleaning up: sees nothing of the namespace, and needs nothing in it

enter_rig() { # enter_rig WORK: names as lib.sh and runtime.sh have them
    export EVICTD_CRI_RUN=$1/evictd-disk-${1##*.}
    unset EVICTD_KUBE_RUN CONTAINERD_RELEASE
    # shellcheck source-path=SCRIPTDIR source=lib.sh
    . "$here/lib.sh"
}
inside() { # inside WORK [BUT-PID]: processes that see a mount below it, and those of ours that name it, should the mount be gone
    local file
    {
        grep -lF " $1/" /proc/[0-9]*/mountinfo
        while read -r file; do
            ! grep -qxE 'containerd|containerd-shim|evictd' "${file%/cmdline}/comm" || echo "$file"
        done < <(grep -lF "$1/" /proc/[0-9]*/cmdline)
    } 2> /dev/null | cut -d / -f 3 | grep -vx "${2:-}" | sort -u
}
sweep() ( # sweep WORK [BUT-PID]: all of a demo but that process
    enter_rig "$1"
    for ((tries = 0; tries < 100; tries++)); do
        mapfile -t found < <(inside "$1" "${2:-}")
        [ ${#found[@]} -gt 0 ] || [ -n "$(cgroup_roots "$cgroup")" ] || break
        for pid in "${found[@]}"; do kill -KILL "$pid" 2> /dev/null; done
        [ -z "$(cgroup_roots "$cgroup")" ] || remove_cgroups "$cgroup"
        [ ${#found[@]} -eq 0 ] || sleep 0.05
    done
    rm -rf "/sys/fs/bpf/$cgroup" "$1"
)
sweep_abandoned() { # of demos that run no more, whose cleaner was killed too
    local work
    while read -r work; do
        (enter_rig "$work" && recorded "$work/demo.pid") || sweep "$work"
    done < <(find "${TMPDIR:-/var/tmp}" /var/tmp /tmp -maxdepth 1 -type d -user root -name 'evictd-disk.??????' \
        \( -mmin +1 -o -exec test -e '{}/demo.pid' \; \) -print 2> /dev/null | sort -u)
}

if [ "${1:-}" = clean ]; then # clean WORK PID: waits for the end of that process, or until it removes its pid file
    trap '' INT TERM HUP
    (enter_rig "$2" && while recorded "$2/demo.pid"; do sleep 0.1; done)
    sweep "$2" "$3"
    exit
fi

# ---- before the demo

die() { echo "evictd: demo: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || die "needs root (sudo)"
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
CRI_PODS=$(realpath -m "${CRI_PODS:-$(dirname "$EVICTD")/cri_pods}")
export EVICTD CRI_PODS
[ -x "$EVICTD" ] || die "$EVICTD: not built (make build)"
"$here/../tools/deps.sh" build cri || die "packages are missing"
[ -x "$CRI_PODS" ] || "$here/../tools/build.sh" "$(dirname "$CRI_PODS")" cri_pods > /dev/null || die "$CRI_PODS cannot be built"
(unset CONTAINERD_RELEASE && "$here/build.sh") || die "containerd and runc cannot be had here (Debian's, with apt)"
sweep_abandoned
place=${TMPDIR:-/var/tmp}
[ "$(df --output=avail -BM "$place" | tail -n 1 | tr -dc 0-9)" -gt 700 ] || die "$place has less than 700 MiB left (name another with TMPDIR)"
work=$(mktemp -d "$(realpath "$place")/evictd-disk.XXXXXX") || die "no directory can be made in $place"
(enter_rig "$work" && record_pid "$work/demo.pid" $$)
# In a session of its own, where Ctrl-C does not reach it. It ends when all is gone, which the demo waits for at the pipe.
exec 7< <(exec setsid "$here/demo.sh" clean "$work" $$ < /dev/null)
export DISK_DEMO_WORK=$work
enter_rig "$work"
exec unshare --mount --propagation private "$here/demo_play.sh"
