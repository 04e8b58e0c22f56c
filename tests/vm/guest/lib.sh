#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=dash
# What cases share (". lib.sh"): pods in every hierarchy that this machine has, processes in them, the agent, and waiting
# with a deadline. What does not come about in time ends the case. Files are in a tmpfs: /var may be full or frozen.
work=/run/case
log=$work/events.jsonl
agent=
rm -rf $work
mkdir -p $work/pods
# Where the memory controller is, and everywhere a pod has a cgroup: as the runtime does it, and systemd in hybrid layouts.
memory=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2 }' /proc/mounts)
freezer=$(awk '$3 == "cgroup" && $4 ~ /(^|,)freezer(,|$)/ { print $2 }' /proc/mounts)
unified=$(awk '$3 == "cgroup2" { print $2 }' /proc/mounts)
hierarchies=$(awk '$3 == "cgroup2" || $3 == "cgroup" && $4 ~ /(^|,)(memory|pids|freezer)(,|$)/ { print $2 }' /proc/mounts)
: "${memory:=$unified}"

is_v2() { [ "$memory" = "$unified" ]; }
has() { tr ' ' '\n' < /proc/cmdline | grep -q "^evictd.has=\(.*,\)*$1\(,.*\)*$"; }
seconds() { read -r up _ < /proc/uptime && echo "${up%.*}"; }
vmstat() { awk -v key="$1" '$1 == key { print $2 }' /proc/vmstat; }

fail() {
    echo "FAILED: $*"
    echo "---- events ----"
    tail -n 30 $log
    echo "---- agent ----"
    tail -n 20 $work/agent.err
    head -n 3 $work/*.out | grep -v '^$'
    echo "available: $(available) MiB"
    timeout 5 evictd status --socket $work/evictd.sock | head -n 12
    exit 1
}
check() { "$@" || fail "not so: $*"; }
refuse() { ! "$@" || fail "but it is so: $*"; }
wait_for() { # wait_for SECONDS COMMAND...
    deadline=$(($(seconds) + $1))
    shift
    until "$@"; do
        [ "$(seconds)" -lt "$deadline" ] || fail "not in time: $*"
        usleep 100000
    done
}

# --- pods ---

group() { # group PATH: made in every hierarchy, with what controllers there are for those below it
    for at in $hierarchies; do
        [ -d "$at$1" ] || mkdir "$at$1"
        for controller in memory pids; do
            [ ! -e "$at$1/cgroup.subtree_control" ] || echo "+$controller" > "$at$1/cgroup.subtree_control"
        done 2> /dev/null
    done
}
class_of() { if [ "$1" -eq 0 ]; then class=besteffort; else class=burstable; fi; }
manifest() { # manifest NAME REQUEST-MIB
    resources="{}"
    [ "$2" -eq 0 ] || resources="{requests: {memory: $2Mi}}"
    echo "apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default, uid: uid-of-$1}
spec: {terminationGracePeriodSeconds: 30, containers: [{name: app, resources: $resources}]}
status: {phase: Running, startTime: \"2026-01-01T00:00:00Z\"}"
}
pod() { # pod NAME [REQUEST-MIB]: its cgroups, with one for its container, and its manifest; without a request: best effort
    class_of "${2:-0}"
    group "/kubepods/$class"
    group "/kubepods/$class/poduid-of-$1"
    for at in $hierarchies; do mkdir "$at/kubepods/$class/poduid-of-$1/app"; done
    manifest "$1" "${2:-0}" > "$work/pods/$1.yaml"
}
in_pod() { # in_pod NAME HIERARCHY: sets $directory
    for directory in "$2"/kubepods/*/poduid-of-"$1"; do break; done
}
score_of() { # score_of POD: the oom_score_adj of its QoS class, as the runtime gives it to what it starts
    request=$(sed -n 's/.*memory: \([0-9]*\)Mi.*/\1/p' "$work/pods/$1.yaml")
    awk -v request="${request:-0}" '/^MemTotal/ {
        score = 1000 - int(request * 1024 * 1000 / $2)
        print (request == 0 ? 1000 : score > 999 ? 999 : score < 3 ? 3 : score)
    }' /proc/meminfo
}
run_in() { # run_in POD COMMAND...: in the background, inside; what it says goes to $work/POD.out
    name=$1 score=$(score_of "$1")
    shift
    (
        echo "$score" > /proc/self/oom_score_adj
        for at in $hierarchies; do
            in_pod "$name" "$at"
            echo 0 > "$directory/app/cgroup.procs" || exit
        done
        exec "$@"
    ) > "$work/$name.out" 2>&1 &
}
load_in() { # load_in POD vm_load's ARGUMENTS...: comes back when it holds what it should
    name=$1
    shift
    run_in "$name" vm_load "$@"
    wait_for 60 grep -q ^ready "$work/$name.out"
}
limit_pods() { # limit_pods MIB: all pods together
    file=memory.limit_in_bytes
    ! is_v2 || file=memory.max
    echo "$1M" > "$memory/kubepods/$file"
}
quiet_pods() { # quiet_pods COUNT MIB: within their requests
    for number in $(seq 1 "$1"); do
        pod "quiet$number" "$2"
        run_in "quiet$number" vm_load hold "$2"
    done
    wait_for 60 all_quiet "$1"
}
all_quiet() { [ "$(cat $work/quiet*.out | grep -c ^ready)" -eq "$1" ]; }
processes_of() { # processes_of POD: the pod's own and its container's
    in_pod "$1" "$memory"
    cat "$directory/cgroup.procs" "$directory/app/cgroup.procs"
}
gone() { [ -z "$(processes_of "$1")" ]; }
all_alive() { [ "$(cat "$memory"/kubepods/burstable/poduid-of-quiet*/app/cgroup.procs | grep -c .)" -eq "$1" ]; }

available() { awk '/^MemFree|^Inactive\(file\)/ { left += $2 } END { print int(left / 1024) }' /proc/meminfo; }
leave_only() { # leave_only MIB: of what is available; something that is in no pod takes the rest, until give_back
    vm_load hold $(($(available) - $1)) --first > /dev/null &
    filler=$!
}
give_back() { kill -KILL "$filler"; }

# --- the agent ---

settings= # a line below "evictd:"
configure() { # configure: the thresholds on stdin, with evictd's own settings
    cat > $work/config.yaml
    cat >> $work/config.yaml << END
evictd:
  podManifestPath: $work/pods
  socketPath: $work/evictd.sock
  statePath: $work/state
  eventLog: {path: $log, stdout: false}
  $settings
END
}
start_agent() { # start_agent [OPTION...]: evictd's configuration on stdin; comes back when it has looked once
    configure
    evictd run --config $work/config.yaml "$@" 2> $work/agent.err &
    agent=$!
    wait_for 60 happened AgentStarted
}
pods_available() { # in MiB, as the kubelet counts it, below limit_pods
    limit=memory.limit_in_bytes usage=memory.usage_in_bytes key=total_inactive_file
    ! is_v2 || limit=memory.max usage=memory.current key=inactive_file
    inactive=$(awk -v key="$key" '$1 == key { print $2 }' "$memory/kubepods/memory.stat")
    echo $((($(cat "$memory/kubepods/$limit") - $(cat "$memory/kubepods/$usage") + inactive) >> 20))
}
cross() { # cross MIB: a new hard threshold, below which the pods' memory is by that much
    echo "evictionHard: {allocatableMemory.available: $(($(pods_available) + $1))Mi}" | configure
    kill -HUP "$agent"
    wait_for 20 happened ConfigReloaded
}
happened() { grep -q "\"reason\":\"$1\".*${2:+\"name\":\"$2\"}" $log 2> /dev/null; } # happened REASON [POD]
evicted() { sed -n 's/.*"reason":"Evicting".*"pod":{[^}]*"name":"\([^"]*\)".*/\1/p' $log | sort -u | xargs; }
ask() { timeout 20 evictd status --socket $work/evictd.sock "$@"; }
fact() { # fact POD KEY: of the pod, as the agent sees it
    ask -o json | awk -v pod="\"$1\"," -v key="\"$2\":" '
        $1 == "\"rank\":" { here = 0 } $1 == "\"name\":" && $2 == pod { here = 1 }
        here && $1 == key { gsub(/[",]/, "", $2); print $2; exit }'
}
is() { [ "$(fact "$1" "$2")" = "$3" ]; } # is POD KEY VALUE

only_victim() { # only_victim POD QUIET-PODS: it is gone, the quiet ones live, the kernel killed nobody
    wait_for 60 happened Evicted "$1"
    wait_for 10 gone "$1"
    [ "$(evicted)" = "$1" ] || fail "evicted: $(evicted)"
    [ "$2" -eq 0 ] || check all_alive "$2"
    [ "$(vmstat oom_kill)" -eq "$oom_kills" ] || fail "the kernel's OOM killer was faster"
}
ended() { ! grep -q "^State:.[^Z]" "/proc/$agent/status" 2> /dev/null; }
nothing_frozen() { # on v1 no pod; on v2 nobody who lives, for there an empty cgroup may stay so
    states=$(cat "$freezer"/kubepods/freezer.state "$freezer"/kubepods/*/*/freezer.state 2> /dev/null)
    case $states in *FR*) return 1 ;; esac
    for events in "$memory"/kubepods/*/*/cgroup.events; do
        if grep -q '^frozen 1' "$events" && grep -q '^populated 1' "$events"; then return 1; fi
    done 2> /dev/null
}
stop_agent() { # it ends, cleanly, and soon
    kill -TERM "$agent"
    wait_for 20 ended
    wait "$agent" || fail "the agent ended with $?"
    refuse test -e /sys/fs/bpf/evictd
    cat $log
}

group /kubepods
oom_kills=$(vmstat oom_kill)
