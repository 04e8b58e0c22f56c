#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd with real pods' cgroups and a server that answers as Kubernetes 1.36.2 does (newer/): what 1.20 does not have, and
# what goes wrong on the way.
# needs: api
# in turns
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../newer.sh
. "$(dirname "$0")/../newer.sh"
needs_node 300 "newer_server"
newer_up || { not_ok "the server starts"; exit 1; }
trap 'newer_down; kube_down; rm -rf "/dev/shm/$name"; clean_up' EXIT

intents=/dev/shm/$name/intents
settings="nodeName: n1
  kubeconfig: $newer/kubeconfig
  kubelet: {url: \"$(cat "$newer/kubelet.url")\", caFile: $newer/ca.crt, podsSocket: $newer/pods-api/pods-api.sock}"
pods_socket=$newer/pods-api/pods-api.sock
write_config "evictionHard: {allocatableMemory.available: 100Mi}"
status() { run 0 status --socket "$work/run/evictd.sock" -o json; }
status_says() { status && tr -d ' \n' < "$work/out" > "$work/flat" && mv "$work/flat" "$work/out" && says "$1"; }
healthy() { status_says '"pod_source_states"' && ! says '"fault":"[^"]'; }
knows() { status_says "\"default/$1\"|\"name\":\"$1\""; }
asked() { grep -cE "$1" "$newer/requests"; } # asked PATTERN: how often
new_pod() { # new_pod NAME [STATUS]: in the server and as cgroups; its UID is in ${uid[NAME]}
    uid[$1]=$(control POST /pods -d "{\"metadata\": {\"name\": \"$1\"}, \"spec\": {\"nodeName\": \"n1\", \"futureField\": {\"a\": [1]},
        \"restartPolicy\": \"Sometimes\", \"terminationGracePeriodSeconds\": 30, \"containers\": [{\"name\": \"c1\", \"image\": \"none\",
        \"resources\": {\"requests\": {\"memory\": \"64Mi\"}, \"futureResource\": null}}]},
        \"status\": {\"phase\": \"Running\", \"qosClass\": \"Burstable\"${2:+, $2}}}")
    pod_path[$1]=$name/kubepods/burstable/pod${uid[$1]}
    make_cgroup "${pod_path[$1]}/c1"
}
declare -A uid

# ---- what 1.20 does not have

new_pod web && new_pod db '"containerStatuses": [{"name": "c1", "allocatedResources": {"memory": "80Mi"}}]'
start_agent
check "pods come by a streaming list" wait_for 10 knows web
one_request() { [ "$(asked '^GET /api/v1/pods')" -eq 1 ] && [ "$(asked 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan')" -eq 1 ]; }
check "which is one request, and the watch too" one_request
check "fields and values that evictd does not know cost no pod" knows db
kubelet_heard() { [ "$(asked '^GET /pods$')" -ge 1 ] && healthy; }
check "the kubelet's list needs nodes/pods and not nodes/proxy" wait_for 10 kubelet_heard
allocated() { status_says '"name":"db"[^{]*}[^}]*"request":83886080|"name":"db".*"request":83886080'; }
check "what the kubelet has allocated replaces the request" wait_for 10 allocated

hog() { start_in "$1" "$(hold "$2")"; }
in_api() { control GET "/pods/default/$1" > "$work/out" && says "$2"; }
hard() { hog web 220 && wait_for 10 evicted web && wait_for 5 in_api web '"phase":"Failed","qosClass":"Burstable","reason":"Evicted"'; }
check "a pod over the threshold is killed, and Failed in the API" hard
marked() { in_api web '"evictd.io/evicted":"[^"]+"' && says '"observedGeneration":1,"reason":"TerminationByKubelet","status":"True","type":"DisruptionTarget"'; }
check "with a new annotation value, which ends it for good, and DisruptionTarget" marked
stays() { sleep 1.5; in_api web '"phase":"Failed"' && says '"reason":"Evicted"' && [ "$(asked '^PATCH .*/pods/web/status')" -eq 1 ]; }
check "a reason that is away for a moment is no cause for another request" stays
check "the watch of it ends" wait_for 20 logged '"reason":"EvictionSettled"'
control DELETE /pods/default/web && empty_cgroup "${pod_path[web]}"

soft_config() { write_config "evictionHard: {memory.available: 10Mi}" "evictionSoft: {allocatableMemory.available: 100Mi}" "evictionSoftGracePeriod: {allocatableMemory.available: 1s}" "evictionMaxPodGracePeriod: 5"; }
soft() {
    stop_agent && soft_config && start_agent && wait_for 10 knows db && control POST '/budget?refuse=2' &&
        hog db 220 && wait_for 20 eval '! control GET /pods/default/db > /dev/null'
}
check "a soft eviction asks policy/v1, and again after 429 and Retry-After" soft
tries() { [ "$(asked '^POST .*/pods/db/eviction')" -eq 3 ]; }
check "three times, for two refusals" tries
empty_cgroup "${pod_path[db]}"

# ---- trouble: no source that fails empties the table

new_pod a && new_pod b
write_config "evictionHard: {memory.available: 10Mi}"
# shellcheck disable=SC2119  # the configuration as it is
reload > /dev/null
check "pods that were created are known" wait_for 5 eval 'knows a && knows b'
fault() { control POST /fault -d "$1"; }
survives() { # survives WHAT FAULT-PATTERN [SECONDS]: the fault is reported, a and b stay, and it is heard again
    cut_connections
    wait_for 20 status_says "\"fault\":\"[^\"]*$1" && knows a && knows b && fault_ends && wait_for "${2:-40}" healthy && knows a && knows b
    calm "$?"
}
calm() { sleep 1.1; control POST /touch; return "$1"; } # a watch that lasts and brings something begins the back-off anew
fault_ends() { control POST /faults/none; }
cut_connections() { control POST /connections/cut; }
for code in 403 409 422 429 500; do
    fault "{\"Of\": \"/api/v1/pods?\", \"Status\": $code, \"Times\": 2, \"RetryAfter\": 3}"
    check "$code to the watch of pods" survives "refused:$code"
done
fault '{"Of": "/api/v1/pods?", "Status": 502, "Times": 2, "Body": "<html>a proxy</html>"}'
check "a proxy's page" survives "refused:502"
cut_list() {
    control POST /events/forget
    fault '{"Of": "/api/v1/pods?", "Times": 2, "Cut": 700}'
    survives 'transfer|HTTP|stream|error|EOF|closed'
}
check "a list that is cut in the middle of an object" cut_list
slow() { fault '{"Of": "/api/v1/pods?", "Delay": "3s"}' && new_pod c && cut_connections && wait_for 15 knows c && knows a && wait_for 40 healthy; calm "$?"; }
check "a server that answers after 3 s" slow
again() {
    local before=${uid[a]}
    control DELETE /pods/default/a && empty_cgroup "${pod_path[a]}" && new_pod a && [ "${uid[a]}" != "$before" ] &&
        wait_for 30 status_says "\"uid\":\"${uid[a]}\"" && wait_for 10 eval '! status_says "\"uid\":\"$before\""'
}
check "a pod that is created again under its name is another" again
rotated() {
    openssl rand -hex 16 > "$newer/token" && newer_tokens "$(cat "$newer/token")" && cut_connections && sleep 1 && wait_for 30 healthy && knows a
}
cp "$newer/token" "$newer/first-token"
check "a token that was rotated is used without a restart" rotated

tls() { # tls FROM TO FAULT: a certificate of the same authority, valid from and to
    newer_certificate "$1" "$2" && cut_connections && wait_for 30 status_says "\"fault\":\"[^\"]*$3" && knows a && knows b &&
        newer_certificate "1 day ago" "1 day" && cut_connections && wait_for 60 healthy && knows a
}
check "a certificate that has expired is refused" tls "2 days ago" "1 day ago" "expired"
check "so is one of the next hour, as for a clock that is an hour slow" tls "1 hour" "2 days" "notyetvalid"

# ---- the kubelet's Pods API: a real gRPC server on a Unix socket

watched() { status_says "\"name\":\"kubelet$pods_socket\",\"age_seconds\":[0-9]+}" && ! says '"name":"kubelethttps'; }
polled() { status_says '"name":"kubelethttps[^"]*","age_seconds":[0-9]+}'; }
all_known() { knows a && knows b && knows c; }
api_away() { fault '{"Of": "/api/v1/pods?", "Status": 503, "Times": 1000000}' && cut_connections && wait_for 70 status_says '"fault":"[^"]*refused:503'; }
check "without its socket the kubelet's /pods is asked" eval 'polled && all_known'
check "where its socket appears it is watched, and /pods is not asked" eval 'control POST /podsapi/up && wait_for 30 watched && all_known'
by_socket() {
    local before
    before=$(asked '^GET /pods$')
    api_away && new_pod e && wait_for 5 knows e && control DELETE /pods/default/e && empty_cgroup "${pod_path[e]}" && wait_for 10 eval '! knows e' && all_known &&
        [ "$(asked '^GET /pods$')" -eq "$before" ]
}
check "while the API server is away, a new pod comes from there, and a deleted one goes" by_socket
large() { # a hostile pod that is too large to be read costs no other pod
    { printf '{"metadata": {"name": "large", "annotations": {"x": "' && head -c 2000000 /dev/zero | tr '\0' x && printf '"}}, "spec": {"nodeName": "n1", "containers": [{"name": "c1"}]}}'; } > "$work/large.json"
    control POST /pods -d "@$work/large.json" > /dev/null && new_pod f && wait_for 5 knows f && ! knows large && watched && all_known &&
        control DELETE /pods/default/large && control DELETE /pods/default/f && empty_cgroup "${pod_path[f]}"
}
check "a message larger than the limit costs its pod alone" large
check "the API server is heard again" eval 'fault_ends && wait_for 60 healthy && watched'
falls_back() { # falls_back WHY CONTROL-PATH: /pods is asked instead, with all pods, and the socket's fault is shown
    control POST "$2" && wait_for 20 status_says "\"fault\":\"[^\"]*$1[^\"]*/podsisaskedinstead\"" && all_known && wait_for 20 polled && all_known
}
check "a kubelet without the service: /pods is asked instead" falls_back UNIMPLEMENTED /podsapi/without
check "one that starts (FAILED_PRECONDITION): too" falls_back FAILED_PRECONDITION "/podsapi/refuse?code=9"
check "UNAVAILABLE: too" falls_back UNAVAILABLE "/podsapi/refuse?code=14"
check "once it answers it is watched again" eval 'control POST /podsapi/up && wait_for 90 watched && all_known'
gone() { # after so many faults the socket is tried again 16 s later or more, and only then is it known to be gone
    control POST /podsapi/down && wait_for 20 polled && all_known && wait_for 90 healthy && control POST /podsapi/up && wait_for 90 watched && all_known
}
check "a kubelet that goes, its streams cut, and comes back" gone
only_root() {
    chmod 777 "$newer/pods-api" && control POST /podsapi/up && wait_for 20 status_says '"fault":"[^"]*othersmaywritetoit' && wait_for 20 polled && all_known &&
        chmod 750 "$newer/pods-api" && wait_for 90 watched
}
check "a socket that others may replace is not believed" only_root

no_secrets() {
    local file
    for file in "$newer/token" "$newer/first-token"; do
        ! grep -rlF -e "$(cat "$file")" "$work/log" "$work/agent.log" "$work/state" "$work/out" "$work/config.yaml" || return 1
    done
    status && ! grep -qF -e "$(cat "$newer/token")" "$work/out"
}
check "no token is in a log, an event, the state or status" no_secrets
check "evictd ends" stop_agent
exit "$failed"
