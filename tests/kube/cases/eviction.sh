#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# An eviction beside a kubelet: the pod is dead within milliseconds, the API server shows it as Failed (Evicted), and the
# kubelet does not start it again; also with the API server away, and with evictd killed at any moment.
# needs: node
# env: EVICTIONS (10), KILLS (5): how many; TOGETHER (5): pods at once
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../evictions.sh
. "$(dirname "$0")/../evictions.sh"
evictions=${EVICTIONS:-10} kills=${KILLS:-5} together=${TOGETHER:-5}

write_config "evictionHard: {allocatableMemory.available: 700Mi}"
start_agent
first_eviction() {
    hog first && ready first && grow first && wait_for 10 evicted first && wait_for 5 is_shown first && is_target first
}
check "a pod over the threshold is killed, and Failed in the API" first_eviction
check "its DisruptionTarget has the kubelet's message" eval \
    'jsonpath pod/first "{.status.conditions[?(@.type==\"DisruptionTarget\")].message}" | grep -q "^The node was low on resource: memory. "'
check "it does not run again within $watched s" stays_dead first
check "and the watch ends" wait_for 5 of_pod EvictionSettled first
remove first

# When the API server shows a pod as Failed, by a watch of this test's own: "SECONDS POD" each, the first time.
watch_pods() {
    local version
    version=$(kubectl get pods -o 'jsonpath={.metadata.resourceVersion}')
    mkfifo "$work/watch"
    curl -sN --cacert "$rig/pki/ca.crt" -H "Authorization: Bearer $(cat "$rig/admin.token")" \
        "$(cat "$rig/url")/api/v1/namespaces/default/pods?watch=1&resourceVersion=$version" > "$work/watch" &
    watch=$!
    perl -MTime::HiRes=time -ne '
        BEGIN { $| = 1 }
        my $now = time;
        printf "%.6f %s\n", $now, $1 if /"phase":"Failed"/ && /"metadata":\{"name":"([^"]+)"/ && !$seen{$1}++
        ' < "$work/watch" > "$work/failed" &
}
# Of the pods of $work/failed: milliseconds from the kernel's event of the crossing to SIGKILL, and to that.
spans() {
    perl -MTime::Local -ne '
        BEGIN { open my $in, "<", shift; while (<$in>) { my ($at, $pod) = split; $failed{$pod} = $at } }
        next unless /"reason":"Evicting"/ && /"time":"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(\.\d+)Z"/;
        my $killed = timegm($6, $5, $4, $3, $2 - 1, $1) + $7;
        my ($pod) = /"pod":\{[^}]*"name":"([^"]+)"/ or next;
        my ($total) = /"latency_us":\{[^}]*"total":(\d+)/ or next;
        printf "%.3f %.1f\n", $total / 1000, ($failed{$pod} - $killed) * 1000 + $total / 1000 if $failed{$pod};
        ' "$work/failed" "$log"
}
spread() { # spread COLUMN < NUMBERS
    sort -n -k "$1,$1" | awk -v c="$1" '{ v[NR] = $c } function at(p) { return v[int((NR - 1) * p) + 1] }
        END { if (NR) printf "median %s ms, 10th to 90th percentile %s to %s, longest %s (of %d)", at(.5), at(.1), at(.9), v[NR], NR }'
}
round() { # round FIRST: pods of one round, each of them evicted
    local names=() i pod
    for ((i = $1; i < $1 + together && i < evictions; i++)); do names+=("hog-$i"); done
    for pod in "${names[@]}"; do hog "$pod" 400; done
    for pod in "${names[@]}"; do ready "$pod" || return 1; done
    for pod in "${names[@]}"; do grow "$pod" && wait_for 20 evicted "$pod" || return 1; done
    stays_dead "${names[@]}"
    local status=$?
    remove "${names[@]}"
    wait_until 30 no_pod_cgroups
    return "$status"
}
rounds() {
    local i
    for ((i = 0; i < evictions; i += together)); do round "$i" || return 1; done
}
watch_pods
check "$evictions evictions, $together pods at a time: none runs again" rounds
times() {
    kill "$watch" && wait "$watch" 2> /dev/null
    spans > "$work/spans"
    echo "    crossing to SIGKILL: $(spread 1 < "$work/spans")"
    echo "    crossing to Failed, as a watch on the API server shows it: $(spread 2 < "$work/spans")"
    echo "    killed again: $(count '"reason":"EvictedPodRestarted"')"
    [ -s "$work/spans" ]
}
check "each says how long that took" times

api_away() {
    local pid
    hog away && ready away && pid=$(container_pid away) && api_server_down && touch "/proc/$pid/root/tmp/go" &&
        wait_for 10 evicted away && wait_for 10 of_pod EvictionNotDelivered away
}
check "with the API server away it is killed all the same" api_away
check "and killed again as the kubelet starts it" wait_for 30 of_pod EvictedPodRestarted away
# The pauses between requests have become long, and the server refuses the first ones while it starts.
known_soon() { kube_up && hog after && wait_for 15 status_says default/after; }
check "a pod that is made when the server is back is known soon" known_soon
delivered() { wait_for 60 of_pod EvictionReported away && wait_for 20 is_shown away && stays_dead away; }
check "and the eviction is delivered" delivered
remove after
remove away

killed_at_random() {
    local i delay
    for ((i = 0; i < kills; i++)); do
        hog "crash-$i" && ready "crash-$i" && grow "crash-$i" || return 1
        delay=$(printf '0.%03d' $((650 + RANDOM % 300))) # it takes 0.8 s to reach the threshold
        sleep "$delay"
        kill -KILL "$agent" && wait "$agent" 2> /dev/null
        agent=
        start_agent
        wait_for 40 is_shown "crash-$i" || { echo "    killed after $delay s: crash-$i is not Failed"; return 1; }
        # Killed between SIGKILL and PATCH: the kubelet may have started it again, and the next agent kills it again.
        if ! wait_for 40 of_pod EvictionSettled "crash-$i" || runs "crash-$i" || ! is_shown "crash-$i"; then
            echo "    killed after $delay s"
            grep -F "\"crash-$i\"" "$log" | sed 's/^/    /'
            return 1
        fi
        remove "crash-$i"
        wait_until 30 no_pod_cgroups
    done
}
check "evictd is killed $kills times during an eviction: each is carried through" killed_at_random

check "it ends with 0" stop_agent
exit "$failed"
