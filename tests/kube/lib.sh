# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for the scripts that source this
# Shared by the scripts of the rig: where things are, processes by pid and start time, waiting, cgroups. Sourced, never run.
# env: EVICTD_KUBE_DIR (cache of binaries and images), EVICTD_KUBE_RUN (the running rig: one directory, one rig)

# shellcheck source=tests/tools/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
kube=$top/tests/kube
cache=${EVICTD_KUBE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/kube}
bin=$cache/bin
rig=$(realpath -m "${EVICTD_KUBE_RUN:-${TMPDIR:-/tmp}/evictd-kube}")
node=$rig/node # what belongs to kubelet and containerd

# ---- processes: a file holds "PID START-TIME", so that a recycled pid is never signalled

start_time() { # start_time PID: in clock ticks since boot; fails if the process is gone or a zombie
    local stat fields
    stat=$(cat "/proc/$1/stat" 2> /dev/null) || return 1
    read -ra fields <<< "${stat##*) }" # the command's name may contain blanks and parentheses
    [ "${fields[0]}" != Z ] && echo "${fields[19]}"
}
record_pid() { # record_pid FILE PID
    echo "$2 $(start_time "$2" || echo gone)" > "$1"
}
recorded() { # recorded FILE: is that process still running?
    local pid start
    [ -s "$1" ] && read -r pid start < "$1" && [ "$(start_time "$pid")" = "$start" ]
}
stop_recorded() { # stop_recorded FILE [SECONDS]: SIGTERM, after SECONDS (10) SIGKILL
    local pid tries
    if recorded "$1"; then
        read -r pid _ < "$1"
        kill "$pid" 2> /dev/null || true
        for ((tries = ${2:-10} * 20; tries > 0; tries--)); do
            recorded "$1" || break
            sleep 0.05
        done
        ! recorded "$1" || kill -KILL "$pid" 2> /dev/null || true
        wait_until 5 not recorded "$1" || die "process $pid does not exit"
    fi
    rm -f "$1"
}
not() { ! "$@"; }
wait_until() { # wait_until SECONDS COMMAND...: polled every 0.1 s; its output is dropped
    local end=$((SECONDS + $1))
    shift
    until "$@" > /dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}
ready_unless_dead() { # ready_unless_dead PID-FILE COMMAND...: also true when the process has exited; the caller looks
    local file=$1
    shift
    ! recorded "$file" || "$@"
}
# ports_of_rigs: of all rigs in this directory, also of what is stopped just now
ports_of_rigs() { cat "$(dirname "$rig")"/evictd-kube*/{pki,node}/*.port 2> /dev/null || true; }
free_port() { # free_port: a TCP port on loopback that nothing listens on and no rig uses, below the range of outgoing connections
    local port used
    used=" $(ports_of_rigs | tr '\n' ' ') "
    while true; do
        port=$((20000 + RANDOM % 10000))
        [[ $used != *" $port "* ]] || continue
        ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || continue
        echo "$port"
        return
    done
}

# ---- a rig has one top-level cgroup, named after its directory

cgroup_of() { # cgroup_of RUN-DIRECTORY
    local name
    name=$(basename "$1" | tr -c 'A-Za-z0-9_\n' -)
    echo "evictd-${name#evictd-}"
}
cgroup_roots() { # cgroup_roots NAME: its directories, in every hierarchy
    local dir
    for dir in /sys/fs/cgroup/"$1" /sys/fs/cgroup/*/"$1"; do [ ! -d "$dir" ] || echo "$dir"; done
}
kill_cgroup() { # kill_cgroup NAME: thaws what is frozen, kills every process in it
    local root pid
    for root in $(cgroup_roots "$1"); do
        find "$root" -mindepth 1 -name freezer.state -exec sh -c 'echo THAWED > "$1"' _ {} \; 2> /dev/null || true
        find "$root" -name cgroup.freeze -exec sh -c 'echo 0 > "$1"' _ {} \; 2> /dev/null || true
        while read -r pid; do kill -KILL "$pid" 2> /dev/null || true; done < <(find "$root" -name cgroup.procs -exec cat {} + 2> /dev/null)
    done
}
remove_cgroups() { # remove_cgroups NAME: with everything in it, in every hierarchy
    local root tries
    [[ $1 == evictd-?* ]] || die "not a cgroup of this rig: '$1'"
    for ((tries = 0; tries < 100; tries++)); do
        [ -n "$(cgroup_roots "$1")" ] || return 0
        kill_cgroup "$1"
        for root in $(cgroup_roots "$1"); do find "$root" -depth -type d -exec rmdir {} \; 2> /dev/null || true; done
        sleep 0.1
    done
    die "cannot remove cgroup $1"
}

# ---- the node's mount namespace

# Where a kubelet and containerd keep things whatever they are told; empty directories are mounted over them.
masked=(/var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers /run/containerd)
pid_inside() { # pid_inside: of a process in it
    local file pid
    for file in "$node/containerd.pid" "$node/kubelet.pid" "$node/keeper.pid"; do
        if recorded "$file"; then
            read -r pid _ < "$file"
            echo "$pid"
            return
        fi
    done
    return 1
}
masked_elsewhere() { # masked_elsewhere DIRECTORY: another rig has mounted something there, in its namespace
    # Some processes exit meanwhile, or are zombies, whose mountinfo cannot be read.
    { cat /proc/[0-9]*/mountinfo 2> /dev/null || true; } | awk -v point="$1" '$5 == point { found = 1 } END { exit !found }'
}
# Between looking for other rigs' mounts and making or removing directories: to remove one would unmount theirs.
lock_masked() { exec {masked_lock}< /run && flock "$masked_lock"; }
unlock_masked() { # also if it is not held
    [ -z "${masked_lock:-}" ] || exec {masked_lock}<&-
    masked_lock=
}
