#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd npd by node-problem-detector's protocol: exit status, one line that it does not cut, and an answer in time
# whatever the agent or its socket does. Debian has no node-problem-detector; its rules (custom plugin monitor): exit 0 OK,
# 1 problem, else unknown; of stdout the first max_output_length bytes; killed after its timeout.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

plugin=$top/deploy/node-problem-detector/evictd-monitor.json
socket=$work/run/evictd.sock

answers_with() { # answers_with STATUS PATTERN CONDITION [ARGUMENT...]: within 4 s, a line of at most 80 bytes
    local status=$1 pattern=$2 began=$EPOCHREALTIME
    shift 2
    run "$status" npd "$@" --socket "$socket" || return 1
    [ $((${EPOCHREALTIME/./} - ${began/./})) -lt 4000000 ] || { echo "    not within 4 s"; return 1; }
    [ "$(wc -l < "$work/out")" -eq 1 ] && [ "$(wc -c < "$work/out")" -le 81 ] && says "$pattern"
}

# ---- the plugin config
config_holds() { # as NPD validates it: every permanent rule has its condition, no rule's timeout is above the global one
    valid_json "$plugin" || return 1
    command -v jq > /dev/null || return 0
    jq -e '.plugin == "custom" and .pluginConfig.timeout == "5s" and
        ([.rules[].condition] - [.conditions[].type] == []) and all(.rules[]; .type == "permanent" and .timeout == "4s")' \
        "$plugin" > /dev/null
}
check "the plugin config is valid" config_holds
rules_run() { # every rule's arguments are a call that evictd takes
    local arguments
    command -v jq > /dev/null || return 0
    while read -r arguments; do
        # shellcheck disable=SC2086  # words
        run 2 $arguments --socket "$work/nobody.sock" && [ "$(wc -l < "$work/out")" -eq 1 ] || return 1
    done < <(jq -r '.rules[].args | join(" ")' "$plugin")
}
check "every rule of it is a call that is answered" rules_run

# ---- without an agent
check "2: no agent" answers_with 2 '^unknown: no agent is running$' MemoryPressure
wrong() { run 2 npd Pressure && one_error_line && complains 'expected MemoryPressure'; }
check "2: a condition that does not exist" wrong
bad_config() {
    printf 'evictd:\n  socketPth: x\n' > "$work/broken.yaml"
    run 2 npd MemoryPressure --config "$work/broken.yaml" && says '^unknown: ' && complains 'broken.yaml:2: '
}
check "2: a config with a fault is unknown, not a problem of the node" bad_config

if command -v python3 > /dev/null; then
    peer() { # peer SCRIPT: listens at $socket; the script has the listening socket as s
        mkdir -p "$work/run"
        rm -f "$socket"
        python3 -c "import socket,sys,time
s = socket.socket(socket.AF_UNIX); s.bind('$socket'); s.listen(0)
$1" &
        peer=$!
        wait_for 5 test -S "$socket"
    }
    peer_ends() { kill "$peer"; wait "$peer" 2> /dev/null; rm -f "$socket"; }
    peer 'time.sleep(60)'
    check "2: a peer that accepts and says nothing" answers_with 2 '^unknown: ' MemoryPressure
    check "2: likewise where events are asked for" answers_with 2 '^unknown: ' OOMKilling
    full_backlog() { # nothing more can be queued: connect(2) itself waits
        python3 -c "import socket,time
held = []
try:
    while True:
        c = socket.socket(socket.AF_UNIX); c.setblocking(False); held.append(c); c.connect('$socket')
except BlockingIOError: pass
print('full', flush=True); time.sleep(30)" > "$work/full" &
        local holder=$!
        wait_for 5 grep -q full "$work/full" && answers_with 2 '^unknown: ' MemoryPressure
        local status=$?
        kill "$holder"; wait "$holder" 2> /dev/null
        return "$status"
    }
    check "2: a peer whose queue of connections is full" full_backlog
    peer_ends
    peer 'while True:
    c, _ = s.accept()
    try:
        while True: c.sendall(b" "); time.sleep(0.3)
    except OSError: pass'
    check "2: a peer that sends a byte now and then" answers_with 2 '^unknown: the agent does not answer in time$' MemoryPressure
    blocked_alarm() { # the caller's signal mask and dispositions are inherited
        python3 -c "import os,signal,sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); signal.signal(signal.SIGALRM, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])" "$EVICTD" npd MemoryPressure --timeout 300ms --socket "$socket" > "$work/out"
        [ $? -eq 2 ]
    }
    check "2: likewise when the caller blocks and ignores SIGALRM" blocked_alarm
    peer_ends
else
    skip "peers that hang" "python3 is missing"
fi

# ---- with an agent
needs_node 96 "npd with an agent"
# What is used, by a pod that no eviction touches.
add_pod boss besteffort cccccccc-0000-4000-8000-000000000001 "" 2000000000
start_in boss "$(hold 16)"
wait_for 10 holds boss 16
high() { echo "evictionHard: {allocatableMemory.available: ${1}Mi}"; }
write_config "$(high 4)"
start_agent
check "0: no pressure" answers_with 0 '^allocatableMemory.available [0-9]+[KM]i, threshold 4Mi$' MemoryPressure
check "0: no threshold on process IDs" answers_with 0 '^no threshold is configured for PIDPressure$' PIDPressure
check "0: no threshold on stalls" answers_with 0 '^no threshold is configured on memory stalls$' MemoryStall
oom_kills() {
    answers_with 0 '^no OOM kill in 5m' OOMKilling || answers_with 2 '^OOM kills cannot be detected on this node$' OOMKilling
}
check "OOM kills: none, or it is said that they are not seen" oom_kills
pressure() { reload "$(high 90)" && wait_for 5 answers_with 1 '^allocatableMemory.available [0-9]+[KM]i below 90Mi \(hard\)$' MemoryPressure; }
check "1: pressure, with the figures" pressure
short() { run 1 npd MemoryPressure --max-output-length 20 --socket "$socket" && [ "$(wc -c < "$work/out")" -eq 21 ]; }
check "a shorter limit cuts the line" short
held() {
    write_config "$(high 4)"
    sed -i 's/^evictionPressureTransitionPeriod: .*/evictionPressureTransitionPeriod: 1h/' "$work/config.yaml"
    reload && answers_with 1 '^MemoryPressure held; ' MemoryPressure
}
check "1: the transition period holds the condition" held
disk() {
    reload "evictionHard: {allocatableMemory.available: 4Mi, nodefs.available: 1%}" || return 1
    # Measured or not: never OK without a figure.
    "$EVICTD" npd DiskPressure --socket "$socket" > "$work/out"
    case $? in 0) says '^nodefs.available [0-9]' ;; 2) says '^not measured: nodefs.available' ;; *) return 1 ;; esac
}
check "a disk that is not measured is unknown" disk
if command -v setpriv > /dev/null && as_nobody true 2> /dev/null; then
    install -m 755 "$EVICTD" "$work/evictd"
    chmod 755 "$work/run"
    other_user() {
        as_nobody "$work/evictd" npd MemoryPressure --socket "$socket" > "$work/out" 2> "$work/err"
        [ $? -eq 2 ] && says '^unknown: only root may ask it$'
    }
    check "2: another user" other_user
fi
hung() {
    kill -STOP "$agent"
    answers_with 2 '^unknown: the agent does not answer in time$' MemoryPressure
    local status=$?
    kill -CONT "$agent"
    return "$status"
}
check "2: the agent hangs" hung
stuck_reader() { # nobody reads stdout and the pipe is full: it ends all the same
    local got=0
    mkfifo "$work/pipe"
    exec 8<> "$work/pipe"
    timeout 5 dd if=/dev/zero of="$work/pipe" bs=4096 count=1000 oflag=nonblock 2> /dev/null
    timeout 10 "$EVICTD" npd MemoryPressure --timeout 1s --socket "$socket" >&8 2> /dev/null || got=$?
    exec 8>&-
    [ "$got" -eq 2 ]
}
check "2: a reader of stdout that does not read" stuck_reader
check "the agent ends with 0" stop_agent
check "2: after the agent" answers_with 2 '^unknown: ' MemoryPressure
exit "$failed"
