#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# 200 agents' watches and requests on one API server: what they ask of it while idle, and when all evict at once. Requests are
# counted by the server (apiserver_request_total; a watch counts when it ends, so those that are open are counted too).
# needs: api
# in turns
# env: AGENTS (200), IDLE (20 s; a watch lasts 5 to 10 minutes, so 900 shows how often they are renewed), KUBE_AGENTS (beside evictd)
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
program=${KUBE_AGENTS:-$(dirname "$EVICTD")/kube_agents}
agents=${AGENTS:-200} idle=${IDLE:-20}
[ -x "$program" ] || { skip "many_agents" "no $program (tests/tools/build.sh build kube_agents)"; exit 0; }
trap 'stop_agents; kube_down; clean_up' EXIT
pid=
# shellcheck disable=SC2317  # the trap calls it
stop_agents() { [ -z "$pid" ] || kill "$pid" 2> /dev/null; }

objects() { # a node and a pod for each
    local i
    for i in $(seq 0 $((agents - 1))); do
        cat << END
---
{apiVersion: v1, kind: Node, metadata: {name: load-$i}}
---
apiVersion: v1
kind: Pod
metadata: {name: load-$i, namespace: default}
spec: {nodeName: load-$i, terminationGracePeriodSeconds: 0, containers: [{name: main, image: none}]}
END
    done
}
created() { objects | kubectl create -f - > /dev/null; }
check "$agents nodes and pods are made" created

# Of the user evictd alone there is no figure: the rest of the rig asks for other things, or nothing.
requests() { # requests FILE: counters of what evictd asks for
    kubectl get --raw /metrics | awk '/^apiserver_request_total\{/ && /resource="(pods|nodes|events)"/ && /verb="(LIST|WATCH|GET|PATCH|POST)"/ {
        match($0, /resource="[a-z]+"/); resource = substr($0, RSTART + 10, RLENGTH - 11)
        match($0, /subresource="[a-z]*"/); sub_ = substr($0, RSTART + 13, RLENGTH - 14)
        match($0, /verb="[A-Z]+"/); verb = substr($0, RSTART + 6, RLENGTH - 7)
        match($0, /code="[0-9]+"/); code = substr($0, RSTART + 6, RLENGTH - 7)
        count[verb " " resource (sub_ == "" ? "" : "/" sub_) " " code] += $NF
    } END { for (one in count) print one, count[one] }' | sort > "$1"
}
watches() { # those that are open, of pods with a field selector: the scope tells
    kubectl get --raw /metrics | awk '/^apiserver_longrunning_gauge\{/ && /resource="pods"/ && /verb="WATCH"/ { all += $NF } END { print all + 0 }'
}
made() { # made FILE FILE PATTERN: how many more in the second
    awk -v pattern="$3" 'FNR == NR { before[$1 " " $2 " " $3] = $4; next } ($1 " " $2 " " $3) ~ pattern { all += $4 - before[$1 " " $2 " " $3] } END { print all + 0 }' "$1" "$2"
}
line() { wait_for "$1" grep -q "^$2" "$work/agents.out"; } # line SECONDS WORD

before_all=$(watches)
requests "$work/start"
mkfifo "$work/go" && exec {go}<> "$work/go"
"$program" "$rig/evictd.kubeconfig" "$agents" "$idle" > "$work/agents.out" 2> "$work/agents.err" <&"$go" &
pid=$!
check "all of them list their pods" line 120 listed
requests "$work/idle-begin"
open_watches() { [ $(($(watches) - before_all)) -eq "$agents" ]; }
check "each has one watch open" open_watches
line $((idle + 30)) idle
requests "$work/mass-begin"
echo >&"$go"
check "all evict at once, and each is answered" line 120 reported
line 30 settled
requests "$work/mass-end"
echo >&"$go"
report() { # report FILE FILE: what was made between them, by verb, resource and answer
    awk 'FNR == NR { before[$1 " " $2 " " $3] = $4; next } { n = $4 - before[$1 " " $2 " " $3]; if (n > 0) print "      " n, $1, $2, $3 }' "$1" "$2"
}

echo "    start:"
report "$work/start" "$work/idle-begin"
idle_requests=$(made "$work/idle-begin" "$work/mass-begin" '.')
echo "    idle: $idle_requests requests of $agents agents in $idle s; $(sed -n 's/^listed kib_each: //p' "$work/agents.out") KiB of memory for each"
few_requests() { # an open watch is renewed after 450 s on average, a node is read again after 600
    awk -v n="$idle_requests" -v agents="$agents" -v idle="$idle" 'BEGIN {
        rate = n / agents / idle
        printf "    at 5,000 nodes: %.1f requests a second by what was counted\n", rate * 5000
        exit rate * 5000 < 50 ? 0 : 1 }'
}
report "$work/idle-begin" "$work/mass-begin"
check "idle, 5,000 of them make less than 50 requests a second" few_requests

patches() { made "$work/mass-begin" "$work/mass-end" "^PATCH pods/status $1"; }
echo "    $(grep '^reported' "$work/agents.out")"
echo "    requests: $(made "$work/mass-begin" "$work/mass-end" '.') in all, $(patches 200) PATCH pods/status accepted; $(grep -c 'answered 429' "$work/agents.err") answers 429 seen by clients"
report "$work/mass-begin" "$work/mass-end"
# A request whose answer was lost is sent again, and the server may have accepted the first one. A 4xx is an answer.
lost_answers() { grep -E '^load-[0-9]+: ' "$work/agents.err" | grep -vcE 'the API server answered 4[0-9][0-9]'; }
once_each() {
    local patches lost
    patches=$(patches 200) lost=$(lost_answers)
    [ "$lost" -le $((agents / 20)) ] && [ "$patches" -ge "$agents" ] && [ "$patches" -le $((agents + lost)) ] && return
    echo "    $patches accepted for $agents agents; $lost answers lost"
    sed 's/^/    /' "$work/agents.err" | tail -n 5
    return 1
}
check "with one PATCH for each pod that counts" once_each
bounded() { [ "$(made "$work/mass-begin" "$work/mass-end" '.')" -le $((agents * 6)) ]; } # pod; node read, taints, conditions; read again
check "and no more requests than the client's limits allow" bounded
not_held_up() { sed -nE 's/^reported.*held up ms: median ([0-9.]+) .*/\1/p' "$work/agents.out" | awk '{ exit $1 < 2 ? 0 : 1 }'; }
check "which holds up no kill path" not_held_up
all_failed() { [ "$(kubectl get pods --field-selector status.phase=Failed --no-headers | grep -c '^load-')" -eq "$agents" ]; }
check "all pods are Failed" all_failed
wait "$pid"
pid=
# Not the rig's own node: its kubelet registers once, and the next case needs it.
kubectl get nodes -o name | grep '^node/load-' | xargs -r "$kube/kubectl" delete > /dev/null 2>&1
exit "$failed"
