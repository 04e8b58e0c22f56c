#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# oom_score_adj of real pods under the real agent: set to what the QoS class says, drift repaired, the first victim raised
# while memory is short, and everything put back, also after SIGKILL.
# env: EVICTD, the program
# shellcheck disable=SC2317,SC2016,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 256 "oom_score_adj is kept at what the QoS class says" "the first victim is raised while memory is short"

score() { cat "/proc/$1/oom_score_adj" 2> /dev/null; }
has_score() { [ "$(score "$1")" = "$2" ]; }
all_have() { # all_have POD SCORE: every process, and there are some
    local pid pids
    pids=$(processes_of "${pod_path[$1]}")
    [ -n "$pids" ] || return 1
    for pid in $pids; do has_score "$pid" "$2" || return 1; done
}
adjusted() { logged "\"reason\":\"OOMScoreAdjusted\".*$1"; }

capacity=$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) * 1024))
request=$((capacity / 1048576 / 4)) # MiB: a quarter of the node
burstable=$((1000 - 1000 * (request << 20) / capacity))

add_pod asking burstable 11111111-0000-4000-8000-000000000001 "${request}Mi" 5
add_pod humble besteffort 11111111-0000-4000-8000-000000000002
start_in asking "$(hold 100)"
asking=$started
start_in humble "$(hold 20)"
humble=$started
wait_for 20 holds asking 100 || not_ok "the pods take their memory"
wait_for 20 holds humble 20
# A cgroup like a pod's that no manifest goes with, and a process in no pod at all.
pod_path[stray]=$name/kubepods/besteffort/pod11111111-0000-4000-8000-000000000003
make_cgroup "${pod_path[stray]}/c1"
start_in stray "sleep 600"
stray=$started
stray_score=$(score "$stray")
own_score=$(score $$)

# ---- enforced

write_config "evictionHard: {allocatableMemory.available: 4Mi}"
start_agent
check "a Burstable pod's processes get their share of the node" wait_for 10 all_have asking "$burstable"
check "a BestEffort pod's processes get 1000" wait_for 10 all_have humble 1000
check "it is told, once a pod, with the pod" adjusted "Set oom_score_adj of [0-9]+ processes.*\"name\":\"asking\""
check "who is in no known pod is left alone" has_score "$stray" "$stray_score"
check "and so are all others" has_score $$ "$own_score"
check "status says that it is enforced" eval 'run 0 status --socket "$work/run/evictd.sock" -o wide && says "oom_score_adj +enforced"'

echo 77 > "/proc/$asking/oom_score_adj"
check "what a pod writes is set back" wait_for 5 has_score "$asking" "$burstable"
start_in asking "sleep 600 & wait"
check "so are forked processes" wait_for 15 all_have asking "$burstable"

before=$(count '"OOMScoreAdjusted"')
start_in humble 'while true; do echo 500 > /proc/self/oom_score_adj; done'
writer=$started
check "who writes in a loop is left alone for a while, and that is told" wait_for 25 adjusted "leaves this pod alone"
check "without a flood in the log" [ "$(count '"OOMScoreAdjusted"')" -le $((before + 6)) ]
kill -KILL "$writer"
check "the agent ends cleanly" stop_agent

# ---- a dry run writes nothing

echo 5 > "/proc/$humble/oom_score_adj"
start_agent --dry-run
check "a dry run says what it would set" wait_for 10 adjusted "Dry run: would have set.*\"name\":\"humble\""
check "and sets nothing" has_score "$humble" 5
stop_agent

# ---- steered: near the threshold, which some 130 MiB in use leave 60 MiB below

settings="oomScoreAdjPolicy: off"
echo 300 > "/proc/$humble/oom_score_adj"
write_config "evictionHard: {allocatableMemory.available: 64Mi}"
start_agent
check "while memory is not short nobody is raised" has_score "$humble" 300
own=" $(processes_of "${pod_path[humble]}" | tr '\n' ' ')"
start_in humble "$(hold 30)"
check "while it is, the first victim's processes have 1000" wait_for 15 all_have humble 1000
check "and nobody else's" eval '! all_have asking 1000'
check "that is told" wait_for 5 adjusted "Raised oom_score_adj.*\"name\":\"humble\""
check "nobody had to be evicted" eval '! logged "\"reason\":\"Evicting\""'
kill -KILL "$agent"
wait "$agent" 2> /dev/null
check "after SIGKILL they still have it" has_score "$humble" 1000
remaining() { [ "$(usage_mib humble)" -lt 40 ]; }
for pid in $(processes_of "${pod_path[humble]}"); do
    [[ $own == *" $pid "* ]] || kill -KILL "$pid" 2> /dev/null
done
wait_for 10 remaining
start_agent
check "the next agent puts back what they had" wait_for 10 has_score "$humble" 300
check "and forgets about it" wait_for 5 eval '[ ! -e "$work/state/raised_scores" ]'
stop_agent

# ---- put back when the agent ends

start_in humble "$(hold 30)"
start_agent
wait_for 15 has_score "$humble" 1000
check "an agent that ends puts everything back" eval 'stop_agent && has_score "$humble" 300'

exit "$failed"
