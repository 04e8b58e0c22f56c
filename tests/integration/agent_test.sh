#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A running agent, from outside: what it answers, how it reloads, ends, refuses a second one, and takes bad manifests and a
# full disk. Who is evicted, and how, is eviction_test.sh's.
# shellcheck disable=SC2317,SC2016,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

web=aaaaaaaa-0000-4000-8000-000000000001
db=aaaaaaaa-0000-4000-8000-000000000002
needs_node 128 "a running agent"
add_pod web burstable $web 64Mi
add_pod db besteffort $db "" 1000
start_in web "$(hold 8)"
start_in db "$(hold 16)"
wait_for 10 holds db 16
quiet="evictionHard: {allocatableMemory.available: 8Mi}"
write_config "$quiet"
socket=(--socket "$work/run/evictd.sock")
start_agent

# ---- status, rank
both_pods() { run 0 status "${socket[@]}" && says 'default/(web|db)' && says 'web' && says 'db' && says 'allocatableMemory.available' && [ ! -s "$work/err" ]; }
check "status shows the pods and the signal" wait_for 5 both_pods
wide() { run 0 status -o wide "${socket[@]}" && says "$db"; }
check "status -o wide has the uids" wide
json() { run 0 status -o json "${socket[@]}" && valid_json "$work/out" && says "\"uid\": \"$web\"" && says '"sources"'; }
check "status -o json is JSON" json
yaml() { run 0 status -o yaml "${socket[@]}" && says "uid: \"?$web" && ! says '^\{'; }
check "status -o yaml is YAML" yaml
by_config() { run 0 status --config "$work/config.yaml" && says web; }
check "status finds the socket by the agent's config" by_config
no_root() { as_nobody "$EVICTD" --version > /dev/null 2>&1; }
if no_root; then
    forbidden() { as_nobody "$EVICTD" status "${socket[@]}" > "$work/out" 2> "$work/err"; [ $? -eq 4 ] && one_error_line && complains sudo; }
    check "4: status without root" forbidden
else
    skip "4: status without root" "nobody cannot start $EVICTD"
fi
rank() {
    run 0 rank --signal memory.available "${socket[@]}" && says web && says db || return 1
    [ "$(grep -nE '\bdb\b' "$work/out" | head -n 1 | cut -d: -f1)" -lt "$(grep -nE '\bweb\b' "$work/out" | head -n 1 | cut -d: -f1)" ]
}
check "rank puts the pod above its request first" rank
scale_down() {
    run 0 rank --order scale-down "${socket[@]}" && says 'WHY BEFORE THE NEXT' && says 'default/web' || return 1
    run 0 rank --order scale-down -o json "${socket[@]}" && valid_json "$work/out" && says '"order": "scale-down"' && says '"phase": "Running"'
}
check "rank --order scale-down" scale_down
rank_json() { run 0 rank -o json "${socket[@]}" && valid_json "$work/out" && says '"place"'; }
check "rank -o json is JSON, with a reason for each place" rank_json
every_signal() {
    run 0 rank --signal pid.available "${socket[@]}" && says 'web .* runs [0-9]+ processes' || return 1
    run 0 rank --signal nodefs.inodesFree "${socket[@]}" && says 'web .* uses [0-9]+ inodes' || return 1
    run 0 rank --signal imagefs.available "${socket[@]}" && says 'web .* its request'
}
check "rank has an order for every signal, in its unit" every_signal
agent_found() { run 0 doctor --config "$work/config.yaml" "${socket[@]}" && says "ok +agent +pid $agent,"; }
check "doctor names the running agent and does not disturb it" agent_found
check "the agent answers after doctor has looked" answers
small_pages() { grep -q "^THP_enabled:[[:space:]]*0" "/proc/$agent/status"; }
check "once it is started, no page fault of the agent's clears a huge page" small_pages

# ---- --watch
watched() { timeout --preserve-status -s INT 2.5 "$EVICTD" status --watch -o json "${socket[@]}" > "$work/out" 2> "$work/err" && [ "$(wc -l < "$work/out")" -ge 2 ] && valid_json "$work/out"; }
check "status --watch -o json: a line a second, and Ctrl-C ends it with 0" watched
if command -v script > /dev/null; then
    redrawn() {
        script -qefc "stty cols 90 rows 24; timeout --foreground --preserve-status -s INT 2.5 $EVICTD status --watch ${socket[*]}" /dev/null < /dev/null > "$work/out" || return 1
        grep -q $'\x1b\\[?1049h' "$work/out" && grep -q $'\x1b\\[?1049l' "$work/out" && [ "$(grep -c $'\x1b\\[H' "$work/out")" -ge 2 ] && grep -q web "$work/out"
    }
    check "status --watch redraws in place on a terminal, and gives it back" redrawn
else
    skip "status --watch redraws in place on a terminal, and gives it back" "script(1) is missing"
fi

# ---- events
started() { run 0 events "${socket[@]}" && says 'AgentStarted' && [ ! -s "$work/err" ]; }
check "events tells what happened" started
events_json() { run 0 events -o json "${socket[@]}" && valid_json "$work/out" && says '^\{"v":1,"time":"[0-9T:.-]+Z","node":'; }
check "events -o json is one JSON object a line" events_json
chosen() { run 0 events --since 1h --reason AgentStarted -o json "${socket[@]}" && [ "$(wc -l < "$work/out")" -eq 1 ]; }
check "events --since --reason picks" chosen
none() { run 0 events --since 1h --reason Evicted "${socket[@]}" && [ ! -s "$work/out" ]; }
check "events without a match is empty, and fine" none
one_line() { "$EVICTD" events "${socket[@]}" 2> "$work/err" | head -n 1 > "$work/out"; [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$work/err" ] && [ "$(wc -l < "$work/out")" -eq 1 ]; }
check "a reader that closes the pipe ends events quietly" one_line
follow_one_line() { timeout 5 "$EVICTD" events --follow --since 1h "${socket[@]}" 2> "$work/err" | head -n 1 > "$work/out"; [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$work/err" ]; }
check "a reader that closes the pipe ends events --follow at once" follow_one_line
"$EVICTD" events --follow -o json "${socket[@]}" > "$work/followed" 2> "$work/follow-err" &
follower=$!
sleep 0.3

# ---- SIGHUP
good_reload() { reload "evictionHard: {allocatableMemory.available: 9Mi}" && logged '"ConfigReloaded"' && run 0 status "${socket[@]}" && says '9Mi'; }
check "SIGHUP: a good config is in force" good_reload
bad_reload() { reload "evictionHard: {allocatableMemory.available: nine}" && logged 'ConfigRejected.*config\.yaml:1' && run 0 status "${socket[@]}" && says '9Mi'; }
check "SIGHUP: a bad config is refused with its line, and the old one stays" bad_reload
check "events --follow sees it happen" wait_for 5 grep -q ConfigRejected "$work/followed"
ended() { kill -INT "$follower" && wait "$follower" && [ ! -s "$work/follow-err" ] && valid_json "$work/followed"; }
check "Ctrl-C ends events --follow with 0" ended
write_config "$quiet"

# ---- broken manifests
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: broken\nspec: [\n' > "$work/pods/broken.yaml"
check "a manifest that is no YAML is told by file and line" wait_for 5 logged 'PodRejected.*broken\.yaml:[0-9]+'
sed "s/name: web/name: thief/" "$work/pods/web.yaml" > "$work/pods/zz-thief.yaml"
check "a manifest with the UID of another is told" wait_for 5 logged 'PodRejected.*zz-thief\.yaml'
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: far, namespace: default}\n' > "$work/outside.yaml"
ln -s "$work/outside.yaml" "$work/pods/link.yaml"
check "a manifest that is a link out of the directory is told" wait_for 5 logged 'PodRejected.*link\.yaml'
head -c 20M /dev/zero | tr '\0' 'a' > "$work/huge" && mv "$work/huge" "$work/pods/huge.yaml"
check "a huge manifest is told" wait_for 5 logged 'PodRejected.*huge\.yaml'
check "the other pods are still there" both_pods
rm -f "$work"/pods/{broken,zz-thief,link,huge}.yaml

# ---- a second one
second() { run 75 run --config "$work/second.yaml" && one_error_line && complains "$agent"; }
sed "s#run/evictd.sock#run/second.sock#; s#$name\$#$name-2#; s#log/events#log/second#" "$work/config.yaml" |
    sed "s#^cgroupRoot: .*#cgroupRoot: /$name#" > "$work/second.yaml"
check "a second agent for the same pods is refused, and told who holds them" second
sed "s#^cgroupRoot: .*#cgroupRoot: /$name-nowhere#" "$work/config.yaml" > "$work/second.yaml"
check "a second agent on the same socket is refused, and told who listens" second
check "the first agent still answers" answers
pins_kept() { [ -z "$(command -v bpftool)" ] || [ ! -d /sys/fs/bpf ] || ! grep -q '"chosen":"/sys' <("$EVICTD" status -o json "${socket[@]}" | tr -d ' \n') || [ -e "/sys/fs/bpf/$name/thresholds" ]; }
check "the first agent's pins are still there" pins_kept

# ---- the end
check "SIGTERM ends the agent with 0" stop_agent
check "it said that it ended" logged '"AgentStopped"'
nothing_left() { [ ! -e "$work/run/evictd.sock" ] && [ ! -e "/sys/fs/bpf/$name" ]; }
check "socket and pins are gone with it" nothing_left
check "3: status after its end" run 3 status "${socket[@]}"
restarts() { start_agent && stop_agent; }
check "another one starts in its place" restarts
killed() { start_agent; kill -KILL "$agent"; wait "$agent" 2> /dev/null; start_agent && stop_agent && nothing_left; }
check "after SIGKILL the next one cleans up what was left" killed

# ---- no pods' cgroup yet
late() {
    sed "s#^cgroupRoot: .*#cgroupRoot: /$name/late#" "$work/config.yaml" > "$work/late.yaml"
    mv "$work/late.yaml" "$work/config.yaml"
    start_agent || return 1
    run 0 status -o json "${socket[@]}" && ! says '"cgroup_id"' || return 1
    make_cgroup "$name/late/kubepods/besteffort/pod$db" || return 1
    late_pod() { run 0 status -o json "${socket[@]}" && says '"cgroup_id"'; }
    wait_for 5 late_pod && stop_agent
}
check "an agent that starts before there are pods finds them when they come" late
write_config "$quiet"

# ---- a full disk
full_disk() {
    # The file system is there for the agent and its children only.
    wrap=(unshare -m --propagation private bash -c 'mount -t tmpfs -o size=64k none "$0" && exec "$@"' "$work/log")
    start_agent
    wrap=()
    inside=(nsenter -t "$agent" -m)
    wait_for 5 "${inside[@]}" grep -q AgentStarted "$log" || return 1
    "${inside[@]}" dd if=/dev/zero of="$work/log/filler" bs=4k > /dev/null 2>&1
    for _ in $(seq 40); do kill -HUP "$agent"; sleep 0.02; done # each is an event of some 250 bytes
    wait_for 5 grep -q 'event log' "$agent_log" || return 1
    answers || return 1
    "$EVICTD" status -o json "${socket[@]}" > "$work/out" && grep -qE '"event log lines": [1-9]' "$work/out" || return 1
    run 0 events "${socket[@]}" && complains '^evictd: event log: [0-9]+ events? could not be written' || return 1
    "${inside[@]}" rm "$work/log/filler"
    kill -HUP "$agent"
    wait_for 5 "${inside[@]}" grep -q 'KernelEventsLost.*event log' "$log" && stop_agent
}
mkdir -p "$work/log"
if unshare -m --propagation private true 2> /dev/null; then
    check "a full disk for the event log: it keeps working, counts, and says so when there is room" full_disk
else
    skip "a full disk for the event log: it keeps working, counts, and says so when there is room" "no private mounts here"
fi
exit "$failed"
