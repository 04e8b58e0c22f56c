# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for the files that source this
# What the attacks share, on top of tests/integration/lib.sh: hostile pods, innocent neighbours, a threshold that is crossed
# on purpose, and the agent's CPU time. Sourced, never run.
# env: EVICTD, the program; ATTACKER (beside it); ADVERSARY_SECONDS (20), over which CPU time is averaged

# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
ATTACKER=${ATTACKER:-$(dirname "$EVICTD")/attacker}
[ -x "$ATTACKER" ] || { echo "not ok no program $ATTACKER"; exit 1; }
eval "plain_$(declare -f not_ok)"
not_ok() { # with why the agent does what it does, and the events
    plain_not_ok "$@"
    timeout 5 "$EVICTD" status --socket "$work/run/evictd.sock" 2>&1 | sed -n '2,3s/^/    status: /p'
    [ ! -s "$log" ] || tail -n 6 "$log" |
        sed -E 's/^.*"time":"[^T]*T([^Z]{12})[^"]*".*"reason":"([^"]*)","message":"([^"]*)".*$/    \1 \2: \3/' | cut -c 1-240
}
starts_within=30 # seconds: several agents start at once, beside what attacks them
uid_of() { printf 'adadadad-0000-4000-8000-%012x' "$(printf %s "$1" | cksum | cut -d' ' -f1)"; }

# ---- who lives, who attacks

declare -A innocent_pid
innocent() { # innocent NAME [MIB]: holds less than it requests, and must live whatever happens
    add_pod "$1" burstable "$(uid_of "$1")" 64Mi && start_in "$1" "exec $ATTACKER hold ${2:-8}" || return 1
    innocent_pid[$1]=$started
    wait_for 20 holds "$1" "${2:-8}"
}
innocents() { # innocents COUNT [MIB]
    local number
    for ((number = 1; number <= $1; number++)); do innocent "innocent$number" "${2:-8}" || return 1; done
}
innocents_live() { # and none of them was chosen
    local pod
    for pod in "${!innocent_pid[@]}"; do
        alive "${innocent_pid[$pod]}" || { echo "    $pod is dead"; return 1; }
        ! logged "\"reason\":\"(Evicting|Evicted)\".*\"name\":\"$pod\"" || { echo "    $pod was chosen"; return 1; }
    done
}
stay_alive() { # stay_alive SECONDS: the innocents do
    local end=$((SECONDS + $1))
    while [ "$SECONDS" -lt "$end" ]; do
        innocents_live || return 1
        sleep 0.1
    done
}

hostile() { # hostile POD [QOS [REQUEST]]: a pod that is to attack
    add_pod "$1" "${2:-besteffort}" "$(uid_of "$1")" "${3:-}"
}
attack() { # attack POD ARGUMENT...: the attacker in the pod, set up; its pid is in $started
    local pod=$1 quoted
    shift
    rm -f "$work/ready.$pod"
    printf -v quoted ' %q' "$ATTACKER" --ready "$work/ready.$pod" "$@"
    start_in "$pod" "exec$quoted" && wait_for 60 test -e "$work/ready.$pod"
}
begin_with_dentries() { # innocents, an agent, and the pod "names": the kernel remembers 200,000 names for it
    begin 192
    directory=$(mktemp -d /var/tmp/evictd-test-XXXXXX)
    trap 'rmdir "$directory"; end_attack; clean_up' EXIT
    innocents 4 16
    start_agent
    attack_begins
    hostile names
    attack names dentries "$directory" 200000
}
take_descriptors() { # take_descriptors [SPARE]: the agent has no others left: so many numbers below the limit are free
    local limit least=1048576 spare try
    for try in 1 2 3 4 5; do # one that is open for a moment only would be a spare one
        limit=0 spare=${1:-0}
        while [ -e "/proc/$agent/fd/$limit" ] || [ $((spare--)) -gt 0 ]; do limit=$((limit + 1)); done
        [ "$limit" -ge "$least" ] || least=$limit
        [ "$try" -eq 5 ] || sleep 0.02
    done
    prlimit --pid "$agent" --nofile="$least:8192"
}
dies() { wait_for "${2:-10}" is_empty "${pod_path[$1]}"; } # dies POD [SECONDS]: to its last process
chosen() { logged "\"reason\":\"(Evicting|Evicted)\".*\"name\":\"$1\""; } # chosen POD

# ---- the threshold

hard() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }
soft() { # soft MIB MAX-POD-GRACE-SECONDS: met for a second, then SIGTERM and that long
    hard 1
    echo "evictionSoft: {allocatableMemory.available: $1Mi}"
    echo "evictionSoftGracePeriod: {allocatableMemory.available: 1s}"
    echo "evictionMaxPodGracePeriod: $2"
}
# memory.stat may be 2 s old although it was just read: it is read again until all that is charged has a kind.
available() { # in MiB, as the kubelet counts it: the controller's own files, dying cgroups included
    local limit=memory.limit_in_bytes usage=memory.usage_in_bytes inactive accounted kernel=0 used left try
    ! is_v2 || limit=memory.max usage=memory.current
    for ((try = 0; try < 25; try++)); do
        is_v2 || kernel=$(cat "$pods_root/memory.kmem.usage_in_bytes" 2> /dev/null || echo 0)
        read -r inactive accounted < <(awk -v kernel="$kernel" -v keys="$(is_v2 && echo anon file kernel sock || echo total_rss total_cache)" '
            BEGIN { count = split(keys, wanted); for (i = 1; i <= count; i++) kinds[wanted[i]] }
            $1 == "total_inactive_file" { whole = $2 }
            $1 == "inactive_file" { own = $2 }
            $1 in kinds { kernel += $2 }
            END { printf "%d %d\n", whole == "" ? own : whole, kernel }' "$pods_root/memory.stat")
        used=$(cat "$pods_root/$usage") left=$((used - accounted))
        [ "${left#-}" -gt $((4 << 20)) ] || break
        sleep 0.1
    done
    echo $((($(cat "$pods_root/$limit") - used + inactive) >> 20))
}
cross() { reload "$(hard $(($(available) + $1)))"; } # cross MIB: so much is missing now
calm() { reload "$(hard 4)"; }

begin() { # begin [LIMIT-MIB [NAME]]: a node of our own; start_agent comes when the pods are there
    needs_node "${1:-192}" "${2:-$(basename "$0" .sh)}"
    write_config "$(hard 4)"
}

# ---- the agent's CPU time

cpu_ms() { # of all threads of the agent, alive and ended
    awk -v tick="$(getconf CLK_TCK)" '{ sub(/^.*\) /, ""); print int(($12 + $13) * 1000 / tick) }' "/proc/$agent/stat"
}
attack_begins() { began_at=${EPOCHREALTIME//[!0-9]/} began_cpu=$(cpu_ms); }
# The budget is 5 % of one core. Machines that run tests are noisy: the check fails at three times that.
attack_costs() { # waits until the attack has lasted $ADVERSARY_SECONDS
    local passed left per_mille
    left=$((${ADVERSARY_SECONDS:-20} * 1000 - (${EPOCHREALTIME//[!0-9]/} - began_at) / 1000))
    [ "$left" -le 0 ] || sleep "$((left / 1000)).$(printf %03d $((left % 1000)))"
    passed=$(((${EPOCHREALTIME//[!0-9]/} - began_at) / 1000))
    per_mille=$((($(cpu_ms) - began_cpu) * 1000 / passed))
    echo "    cpu: $((per_mille / 10)).$((per_mille % 10)) % of one core over $((passed / 1000)) s"
    [ "$per_mille" -le 150 ]
}
log_kib() { du -ck "$work"/log/* 2> /dev/null | awk 'END { print $1 + 0 }'; }

finish() { # after every attack: the agent is there, ends cleanly, and nothing is left
    check "the agent survived it and ends with 0" stop_agent
    check "no pod is left frozen" none_frozen
    check "no pin is left" test ! -e "/sys/fs/bpf/$name"
    exit "$failed"
}
none_frozen() {
    ! grep -q . < <(find "/sys/fs/cgroup/freezer/$name" -name freezer.state -exec grep -lE 'FR(OZEN|EEZING)' {} + 2> /dev/null) &&
        ! grep -q . < <(find "/sys/fs/cgroup/$name" -name cgroup.freeze -exec grep -lx 1 {} + 2> /dev/null)
}

# Hostile pods hop, fork and hide: they are stopped as a whole before they are ended.
mounts_of_test=() # what a file mounted
end_attack() {
    local mount state=/sys/fs/cgroup/freezer/$name/freezer.state
    if [ -n "$agent" ] && [ -e "/proc/$agent" ]; then
        kill -CONT "$agent" 2> /dev/null
    fi
    if [ -e "$state" ]; then
        find "${state%/*}" -mindepth 1 -name freezer.state -exec sh -c 'echo THAWED > "$1"' _ {} \; 2> /dev/null
        echo FROZEN > "$state"
        processes_of "$name" | xargs -r kill -KILL 2> /dev/null
        echo THAWED > "$state"
    elif [ -e "/sys/fs/cgroup/$name/cgroup.kill" ]; then
        echo 1 > "/sys/fs/cgroup/$name/cgroup.kill"
    fi
    for mount in "${mounts_of_test[@]}"; do umount -l "$mount" 2> /dev/null; done
}
trap 'end_attack; clean_up' EXIT
