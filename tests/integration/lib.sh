# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for who sources this
# What the tests of the whole program share: checks, and a node of our own: a small memory cgroup with pods in it, and an
# agent that looks at nothing else. Whatever was started or made is gone when the test ends. Sourced, never run.
# env: EVICTD, the program

export LC_ALL=C.UTF-8
unset NO_COLOR
: "${EVICTD:?names the program to test}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d /tmp/evictd-test.XXXXXX)
chmod 755 "$work"
name=evictd-test-$$
failed=0 # what a test ends with
agent=

ok() { echo "ok $1"; }
skip() { echo "skip $1: $2"; }
not_ok() { # not_ok NAME: with what was seen last
    failed=1
    [ ! -s "$work/out" ] || sed 's/^/    out: /' "$work/out" | head -n 30
    [ ! -s "$work/err" ] || sed 's/^/    err: /' "$work/err" | head -n 30
    [ -z "${agent_log:-}" ] || tail -n 10 "$agent_log" | sed 's/^/    agent: /'
    echo "not ok $1"
}
check() { # check NAME COMMAND...
    local what=$1
    shift
    if "$@"; then ok "$what"; else not_ok "$what"; fi
}

run() { # run STATUS ARGUMENT...: evictd, with this exit status; what it says is in $work/out and $work/err
    local want=$1 got=0
    shift
    timeout -k 5 60 "$EVICTD" "$@" > "$work/out" 2> "$work/err" < /dev/null || got=$?
    [ "$got" -eq "$want" ] || { echo "    evictd $*: status $got, not $want"; return 1; }
}
says() { grep -qE -- "$1" "$work/out"; }
complains() { grep -qE -- "$1" "$work/err"; }
one_error_line() { [ "$(wc -l < "$work/err")" -eq 1 ] && grep -qE '^evictd: .+: .+' "$work/err"; }

valid_json() { # valid_json FILE: one document, or one a line
    if command -v jq > /dev/null; then jq -e . "$1" > /dev/null 2>&1
    elif command -v python3 > /dev/null; then
        python3 -c 'import json,sys
text = open(sys.argv[1]).read()
try: json.loads(text)
except ValueError: [json.loads(line) for line in text.splitlines()]' "$1"
    else [ "$(head -c 1 "$1")" = "{" ]; fi
}

wait_for() { # wait_for SECONDS COMMAND...: until it succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}
gone() { ! alive "$1"; }
alive() { # alive PID: and no zombie
    local state
    state=$(sed -E 's/^.*\) (.).*/\1/' "/proc/$1/stat" 2> /dev/null) && [ "$state" != Z ] && [ "$state" != X ]
}
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

# ---- a node of our own

hierarchies=() # mount points in which every pod has a cgroup
find_hierarchies() {
    if grep -qw memory /sys/fs/cgroup/cgroup.controllers 2> /dev/null; then
        hierarchies=(/sys/fs/cgroup)
        return
    fi
    local controller
    for controller in memory freezer pids; do
        if [ -d "/sys/fs/cgroup/$controller" ] && mountpoint -q "/sys/fs/cgroup/$controller"; then
            hierarchies+=("/sys/fs/cgroup/$controller")
        fi
    done
    [[ "${hierarchies[*]:-}" == */memory* ]]
}
is_v2() { [ "${hierarchies[0]}" = /sys/fs/cgroup ]; }

needs_node() { # needs_node LIMIT-MIB TEST...: makes the node, or skips these tests
    local limit=$1 test why=""
    shift
    if [ "$(id -u)" -ne 0 ]; then why="needs root"
    elif ! find_hierarchies; then why="no memory controller is mounted at /sys/fs/cgroup"
    elif ! make_node "$limit"; then why="no cgroup with a memory limit can be made"
    fi
    [ -n "$why" ] || return 0
    for test in "$@"; do skip "$test" "$why"; done
    exit 0
}

make_cgroup() { # make_cgroup PATH: in every hierarchy; on v2 with the controllers all the way down
    local mount path part
    for mount in "${hierarchies[@]}"; do
        mkdir -p "$mount/$1" || return 1
    done
    is_v2 || return 0
    path=/sys/fs/cgroup
    for part in ${1//\// }; do
        [ "$path" = /sys/fs/cgroup ] || echo "+memory +pids" > "$path/cgroup.subtree_control" || return 1
        path+=/$part
    done
}

make_node() { # make_node LIMIT-MIB
    local bytes=$(($1 << 20)) file
    make_cgroup "$name/kubepods/burstable" && make_cgroup "$name/kubepods/besteffort" || return 1
    pods_root=${hierarchies[0]}/$name/kubepods
    if is_v2; then file=memory.max; else file=memory.limit_in_bytes; fi
    # A hog is let loose only behind this.
    echo "$bytes" > "$pods_root/$file" && [ "$(cat "$pods_root/$file")" -eq "$bytes" ] || return 1
    mkdir -p "$work/pods"
}

declare -A pod_path
add_pod() { # add_pod NAME burstable|besteffort UID [REQUEST [PRIORITY]]: its cgroup and its manifest
    pod_path[$1]=$name/kubepods/$2/pod$3
    make_cgroup "${pod_path[$1]}/c1" || return 1
    write_manifest "$1" "$3" "${4:-}" "${5:-0}"
}
write_manifest() { # write_manifest NAME UID REQUEST PRIORITY
    cat > "$work/pods/.$1" << END
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default, uid: $2}
spec:
  priority: $4
  terminationGracePeriodSeconds: 30
  containers:
  - name: c1
    image: none
    ${3:+resources: {requests: {memory: $3\}\}}
status: {phase: Running}
END
    mv "$work/pods/.$1" "$work/pods/$1.yaml"
}
remove_pod() { # remove_pod NAME: whatever is left of it
    rm -f "$work/pods/$1.yaml"
    empty_cgroup "${pod_path[$1]}"
}

# shellcheck disable=SC2016  # expanded there, not here
# Runs in a process of its own: goes into the pod's cgroup, and on only if it is there.
enter='
    path=$1; shift
    for mount in "$@"; do [ "$mount" != -- ] || break; echo $$ > "$mount/$path/cgroup.procs" || exit 97; done
    while [ "$1" != -- ]; do shift; done; shift
    grep -qE "^[0-9]+:(|.*memory.*):/$path\$" /proc/self/cgroup || exit 98
    eval "$1"'
start_in() { # start_in POD SCRIPT: its pid is in $started
    bash -c "$enter" "$name" "${pod_path[$1]}/c1" "${hierarchies[@]}" -- "$2" > /dev/null 2>> "$work/hogs" < /dev/null &
    started=$!
    disown "$started"
}
hold() { echo "{ head -c ${1}M /dev/zero; sleep 600; } | tail"; } # hold MIB: a script that takes so much and keeps it
usage_mib() { # usage_mib POD
    local file=memory.usage_in_bytes
    ! is_v2 || file=memory.current
    echo $(($(cat "${hierarchies[0]}/${pod_path[$1]}/$file") >> 20))
}
holds() { [ "$(usage_mib "$1")" -ge "$2" ]; } # holds POD MIB

processes_of() { # processes_of PATH: in all of its cgroups
    find "${hierarchies[0]}/$1" -name cgroup.procs -exec cat {} + 2> /dev/null
}
is_empty() { [ -z "$(processes_of "$1")" ]; }
empty_cgroup() { # empty_cgroup PATH: ends what is in it, and removes it
    local mount pid tries
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        for pid in $(processes_of "$1"); do kill -KILL "$pid" 2> /dev/null; done
        for mount in "${hierarchies[@]}"; do
            find "$mount/$1" -name freezer.state -exec sh -c 'echo THAWED > "$1"' _ {} \; 2> /dev/null
            find "$mount/$1" -name cgroup.freeze -exec sh -c 'echo 0 > "$1"' _ {} \; 2> /dev/null
        done
        is_empty "$1" && break
        sleep "0.0$tries"
    done
    for mount in "${hierarchies[@]}"; do
        find "$mount/$1" -depth -type d -exec rmdir {} + 2> /dev/null
    done
}

settings= # one more of evictd's own settings
intents=  # evictd.intentsPath, where it has to be on a tmpfs
write_config() { # write_config THRESHOLDS...: each a top-level line; evictd's own settings are ours
    { printf '%s\n' "$@"; cat << END; } > "$work/config.yaml"
cgroupRoot: /$name
evictionPressureTransitionPeriod: 1s
evictd:
  podManifestPath: $work/pods
  socketPath: $work/run/evictd.sock
  statePath: $work/state
  intentsPath: ${intents:-$work/run/intents}
  bpffsPath: /sys/fs/bpf/$name
  eventLog: {path: $work/log/events.jsonl, stdout: false}
  $settings
END
}

answers() { "$EVICTD" status --socket "$work/run/evictd.sock" > /dev/null 2>&1; }
# shellcheck disable=SC2120  # mostly without
start_agent() { # start_agent [ARGUMENT...]: with $work/config.yaml; ready when it answers
    agent_log=$work/agent.log
    "${wrap[@]}" "$EVICTD" run --config "$work/config.yaml" "$@" > "$agent_log" 2>&1 < /dev/null &
    agent=$!
    echo "$agent" > "$work/agent.pid"
    wait_for "${starts_within:-10}" answers || { not_ok "the agent starts"; exit 1; }
}
wrap=() # in front of the agent
stop_agent() { # stop_agent: its exit status
    local status=0
    kill -TERM "$agent"
    wait "$agent" || status=$?
    agent=
    return "$status"
}
reload() { # reload THRESHOLDS...: a new config, and it is in force (or refused)
    local before
    before=$(count '"Config(Reloaded|Rejected)"')
    [ $# -eq 0 ] || write_config "$@"
    kill -HUP "$agent"
    wait_for 5 more_than "$before" '"Config(Reloaded|Rejected)"'
}
log=$work/log/events.jsonl
count() { grep -cE "$1" "$log" 2> /dev/null || true; }
more_than() { [ "$(count "$2")" -gt "$1" ]; }
logged() { grep -qE "$1" "$log" 2> /dev/null; }
evicted() { grep -q "\"name\":\"$1\"" < <(grep '"reason":"Evicted"' "$log" 2> /dev/null); } # evicted POD

clean_up() {
    trap - EXIT INT TERM
    trap '' PIPE # a reader that went away does not end this
    if [ -n "$agent" ] && kill -0 "$agent" 2> /dev/null; then
        kill -TERM "$agent"
        ( sleep 5; kill -KILL "$agent" 2> /dev/null ) &
        wait "$agent" 2> /dev/null
        kill "$!" 2> /dev/null
    fi
    if [ -n "${pods_root:-}" ]; then empty_cgroup "$name"; fi
    [ -z "$name" ] || rm -rf "/sys/fs/bpf/${name:?}" # a directory of pins, or none
    rm -rf "$work"
}
trap 'clean_up' EXIT
trap 'exit 130' INT TERM
