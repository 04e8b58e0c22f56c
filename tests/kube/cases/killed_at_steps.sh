#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd is killed with SIGKILL at one system call after the other of an eviction, by strace, and started again: each pod
# ends as evicted once, none runs again, none is lost, and no other pod is touched.
# needs: node
# in turns
# env: STEPS: of those below (all)
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../evictions.sh
. "$(dirname "$0")/../evictions.sh"
command -v strace > /dev/null || { skip "evictd is killed at each step" "there is no strace"; exit 0; }

# A step's pod has its name. THREAD SYSCALL NUMBER: SIGKILL as that thread enters its Nth such call since it was traced.
# With "api-waits" the API server does not answer before evictd has written its ledger.
declare -A steps=(
    [kill]="evictd pidfd_send_signal 1"              # the intent is noted, nothing is signalled
    [release]="evictd-release process_mrelease 1"    # SIGKILL is on its way
    [handed-on]="evictd-statuses write 1"            # the request is not handed over yet
    [sent]="evictd-kube sendto 1"                    # and not sent
    [answered]="evictd-kube recvfrom 1 api-answers"  # the answer is there and was not read
    [ledger-made]="evictd-intents openat 2 api-waits"
    [ledger-written]="evictd-intents write 1 api-waits"
    [ledger-renamed]="evictd-intents renameat,renameat2 1 api-waits"
    [event-written]="evictd-events fsync,fdatasync 1 api-waits" # the event Evicted is nowhere else
    [cleared]="evictd-intents unlinkat 2 api-answers" # the eviction is over, and the ledger without the intent
    [again]="evictd-statuses write 1" # see second_kill
)
order=(kill release handed-on sent answered ledger-made ledger-written ledger-renamed event-written cleared again)
[ -z "${STEPS:-}" ] || read -ra order <<< "$STEPS"

ledger=$work/state/intents
thread() { # thread NAME: of the agent
    local task
    for task in /proc/"$agent"/task/*; do
        [ "$(cat "$task/comm")" != "$1" ] || { basename "$task"; return; }
    done
    return 1
}
is_traced() { ! grep -q '^TracerPid:.0$' "/proc/$agent/task/$1/status"; }
api_server() { kill "-$1" "$(sed -n 1p "$rig/apiserver.pid" | cut -d' ' -f1)"; } # api_server STOP|CONT
attach() { # attach THREAD SYSCALL NUMBER
    local tid
    tid=$(thread "$1") || { echo "    there is no thread $1"; return 1; }
    strace -q -p "$tid" -e "trace=$2" -e "inject=$2:signal=KILL:when=$3" -o "$work/strace" 2> "$work/err" &
    tracer=$!
    wait_for 5 is_traced "$tid"
}
is_there() { grep -qE '^([0-9]+ +)?[a-z_0-9]+\(' "$work/strace"; } # strace saw the call
dies() { # dies: as strace has it, and the agent is no more
    local status=0
    wait_for 40 gone "$agent" || { echo "    the step was not reached"; kill "$tracer"; return 1; }
    wait "$agent" 2> /dev/null || status=$?
    agent=
    wait "$tracer" 2> /dev/null
    [ "$status" -eq 137 ] && is_there
}
has_ledger() { [ -s "$ledger" ]; }
has_none() { ! has_ledger; }
killed_at() { # killed_at STEP
    local words go status=0
    go=/proc/$(container_pid "$1")/root/tmp/go # asked while the API server answers
    read -ra words <<< "${steps[$1]}"
    # These threads work for the pods before it too, until they were watched for long enough.
    case ${words[0]} in evictd-intents | evictd-statuses) wait_for 40 has_none || return 1 ;; esac
    case ${words[3]:-} in
    api-answers)
        api_server STOP
        [ "${words[0]}" != evictd-intents ] || attach "${words[@]:0:3}" || return 1
        if ! { touch "$go" && wait_for 10 has_ledger; }; then
            api_server CONT
            return 1
        fi
        [ "${words[0]}" = evictd-intents ] || attach "${words[@]:0:3}" || return 1
        api_server CONT
        ;;
    api-waits) api_server STOP && attach "${words[@]:0:3}" && touch "$go" ;;
    *) attach "${words[@]:0:3}" && touch "$go" ;;
    esac
    dies || status=1
    [ "${words[3]:-}" != api-waits ] || api_server CONT
    return "$status"
}
# The pod runs again before the API server knows anything, and the next agent is killed as it kills it again.
second_kill() {
    wait_for 30 runs again || { echo "    the kubelet does not start it again"; return 1; }
    wrap+=(strace -f -q -e trace=pidfd_send_signal -e inject=pidfd_send_signal:signal=KILL:when=1 -o "$work/strace")
    "${wrap[@]}" "$EVICTD" run --config "$work/config.yaml" > "$work/agent.log" 2>&1 < /dev/null &
    agent=$!
    wrap=("${wrap[0]}")
    wait_for 20 gone "$agent" || { echo "    the second kill was not reached"; kill "$agent"; return 1; }
    wait "$agent" 2> /dev/null
    agent=
    is_there
}
step() { # step STEP
    local status=0
    killed_at "$1" || status=1
    [ "$1" != again ] || second_kill || status=1
    [ -n "$agent" ] || start_agent
    [ "$status" -eq 0 ] || return 1
    wait_for 40 is_shown "$1" || { echo "    $1 is $(jsonpath "pod/$1" '{.status.phase}')"; return 1; }
}

write_config "evictionHard: {allocatableMemory.available: 700Mi}"
start_agent
make_pod bystander "" "" vm_load hold 20
for pod in "${order[@]}"; do hog "$pod"; done
all_ready() {
    local pod
    for pod in bystander "${order[@]}"; do ready "$pod" || { echo "    $pod is not ready"; return 1; }; done
}
check "the pods run" all_ready
innocent=$(container_pid bystander)
is_untouched() { [ "$(container_pid bystander)" = "$innocent" ] && ! evicted bystander; }
for pod in "${order[@]}"; do check "killed at $pod, the eviction is carried through" step "$pod"; done

check "none of the pods runs again within $watched s" stays_dead "${order[@]}"
targets() {
    local pod
    for pod in "${order[@]}"; do is_target "$pod" || { echo "    $pod has no DisruptionTarget"; return 1; }; done
}
check "each has its DisruptionTarget" targets
evicted_events() { # evicted_events POD: COUNT of each
    kubectl get events --field-selector "involvedObject.name=$1,reason=Evicted" \
        -o 'jsonpath={range .items[?(@.source.component=="evictd")]}{.count} {end}'
}
has_one_event() { [ "$(evicted_events "$1")" = "1 " ]; }
one_event_each() {
    local pod
    for pod in "${order[@]}"; do
        wait_for 10 has_one_event "$pod" || { echo "    events of $pod: $(evicted_events "$pod")"; return 1; }
    done
}
check "each has one event Evicted" one_event_each
check "no other pod was touched" is_untouched
no_taint() { ! jsonpath node/n1 '{.spec.taints[*].key}' | grep -q evictd; }
check "no taint is left" wait_for 10 no_taint
check "each was watched to the end" wait_for 40 has_none
check "it ends with 0" stop_agent
no_intent() { # nor a part of a ledger
    ! compgen -G "$ledger*" > /dev/null && run 0 undo --config "$work/config.yaml" && ! says "is not over"
}
check "no intent is left" no_intent
exit "$failed"
