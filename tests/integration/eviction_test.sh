#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Who is evicted, how, and who is not: real processes with real memory below a cgroup of our own. A victim is prepared first;
# then the threshold is raised over what is available, so that every case begins at a known moment.
# shellcheck disable=SC2317,SC2016,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 192 "evictions"
uid=bbbbbbbb-0000-4000-8000-0000000000
hard() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }
soft() { # soft MIB GRACE MAX-POD-GRACE-SECONDS
    hard 4
    echo "evictionSoft: {allocatableMemory.available: $1Mi}"
    echo "evictionSoftGracePeriod: {allocatableMemory.available: $2}"
    echo "evictionMaxPodGracePeriod: $3"
}
calm() { reload "$(hard 4)"; }
# Quiet and small throughout; nobody may touch them.
add_pod quiet burstable "${uid}01" 64Mi
add_pod boss besteffort "${uid}02" "" 2000000000
start_in quiet "$(hold 8)"
quiet=$started
start_in boss "$(hold 16)"
boss=$started
wait_for 10 holds quiet 8
wait_for 10 holds boss 16
http=127.0.0.1:$((20000 + $$ % 10000))
settings="httpAddress: $http"
bystanders_live() { alive "$quiet" && alive "$boss" && [ "$(count '"reason":"Evicted".*"pod":\{[^}]*(quiet|boss)')" -eq 0 ]; }
write_config "$(hard 4)"

# ---- a dry run first
start_agent --dry-run
add_pod dry besteffort "${uid}03"
start_in dry "$(hold 48)"
dry_victim=$started
wait_for 10 holds dry 48
dry_run() {
    reload "$(hard 160)" && wait_for 5 logged '"reason":"(Evicting|Evicted)".*dry.*"dry_run":true' || return 1
    sleep 0.5
    alive "$dry_victim" && bystanders_live
}
check "--dry-run says whom it would evict, and touches nobody" dry_run
dry_status() { run 0 status --socket "$work/run/evictd.sock" && says 'DRY RUN' && says 'would be evicted'; }
check "status says that it is a dry run" dry_status
check "the dry run ends with 0" stop_agent
remove_pod dry
rm -f "$log"
write_config "$(hard 4)"
start_agent

# ---- the hog
add_pod hog besteffort "${uid}04"
hog() {
    reload "$(hard 64)" || return 1
    start_in hog 'tail /dev/zero'
    wait_for 10 evicted hog && wait_for 5 gone "$started" && wait_for 5 is_empty "${pod_path[hog]}" && bystanders_live
}
check "a pod that grows at full speed is evicted, and only it" hog
measured() { grep -qE '"latency_us":\{[^}]*"act":[0-9]+' < <(grep '"reason":"Evicted"' "$log" | grep '"name":"hog"'); }
check "its record has the latency" measured
no_oom() { ! logged '"reason":"OOMKilling".*(hog|quiet|boss)'; }
check "the kernel's OOM killer had nothing to do" no_oom
scrape() { # what Prometheus would, in $work/out
    exec 3<> "/dev/tcp/${http/://}" && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3 > "$work/out"
    exec 3>&-
}
scraped() {
    scrape && says '^evictd_evictions_total\{signal="allocatableMemory.available"\} 1$' &&
        says '^evictd_eviction_duration_seconds_count\{phase="act"\} 1$' && says '^evictd_pods\{running="true"\} [1-9]' &&
        says '^evictd_threshold\{signal="allocatableMemory.available",kind="hard"\} 67108864$'
}
check "/metrics counts it, and has its latency" scraped
shown() { run 0 status --socket "$work/run/evictd.sock" && says 'default/hog'; }
check "status shows the past eviction" shown
id_of_hog() { grep '"reason":"Evicted"' "$log" | grep '"name":"hog"' | sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p' | tail -n 1; }
explained() { # explained [ID]: on one page
    run 0 explain "$@" --socket "$work/run/evictd.sock" && says '^default/hog was evicted' && says 'SIGKILL [0-9:.]+' &&
        says '64Mi │' && says 'latency .* act ' && says 'VICTIM ORDER' && says 'default/boss .*critical'
}
check "explain says of the last eviction who, why, how fast, and what led to it" explained
check "explain finds it by its id" eval 'explained "$(id_of_hog)"'
check "and by the beginning of it" eval 'explained "$(id_of_hog | cut -c 1-6)"'
grew() { grep -qE '"history":\{.*"growth":\{[^}]*"pod":"default/hog"' < <(grep '"reason":"Evicted"' "$log"); }
check "its record has who grew" grew
explained_json() { run 0 explain -o json --socket "$work/run/evictd.sock" && valid_json "$work/out" && says '"available": \['; }
check "explain -o json is one document" explained_json
unknown_id() { run 1 explain 0000000000 --socket "$work/run/evictd.sock" && one_error_line && complains 0000000000; }
check "1: an id that nothing has" unknown_id
id_shown() { run 0 status --socket "$work/run/evictd.sock" && says "$(id_of_hog | cut -c 1-8)" && run 0 events --reason Evicted --socket "$work/run/evictd.sock" && says "id=$(id_of_hog)"; }
check "status and events show the id" id_shown
remembered() {
    local before
    before=$(id_of_hog)
    stop_agent && start_agent && explained "$before"
}
check "another agent explains it, too" remembered
remove_pod hog
calm

# ---- victims that make it hard
evict_prepared() { # evict_prepared POD PID: takes it by a hard threshold
    reload "$(hard 160)" && wait_for 5 evicted "$1" && wait_for 5 gone "$2" && wait_for 5 is_empty "${pod_path[$1]}" && bystanders_live
}
prepare() { # prepare POD NUMBER SCRIPT: a pod that holds its memory
    add_pod "$1" besteffort "${uid}$2" && start_in "$1" "$3" && wait_for 10 holds "$1" 48
}

stopped() {
    prepare stopped 05 "$(hold 48)" || return 1
    local pid
    for pid in $(processes_of "${pod_path[stopped]}"); do kill -STOP "$pid"; done
    evict_prepared stopped "$started"
}
check "a stopped victim dies" stopped
remove_pod stopped
calm

freeze() { # freeze PATH
    if is_v2; then echo 1 > "/sys/fs/cgroup/$1/cgroup.freeze"
    else echo FROZEN > "/sys/fs/cgroup/freezer/$1/freezer.state"; fi
}
frozen() { # frozen NUMBER BELOW-THE-POD
    prepare "frozen$1" "$1" "$(hold 48)" && freeze "${pod_path[frozen$1]}$2" && evict_prepared "frozen$1" "$started"
}
if is_v2 || [ -d "/sys/fs/cgroup/freezer/$name" ]; then
    check "a frozen victim dies" frozen 06 ""
    remove_pod frozen06
    calm
    check "a victim with a frozen container dies" frozen 16 /c1
    remove_pod frozen16
    calm
else
    skip "a frozen victim dies" "no freezer is mounted"
fi

# Four chains of processes: each forks the next and ends, so that no list of pids is true for long.
forker() {
    prepare forker 07 "next() { sleep 0.005; next & }; for i in 1 2 3 4; do next & done; $(hold 48)" || return 1
    evict_prepared forker "$started" || return 1
    sleep 0.2
    is_empty "${pod_path[forker]}"
}
check "a victim that forks while it is killed dies with all its children" forker
remove_pod forker
calm

polite() {
    prepare polite 08 "trap 'echo > $work/asked; kill \$!; exit' TERM; { $(hold 48); } & wait" || return 1
    reload "$(soft 160 1s 20)" || return 1
    wait_for 10 evicted polite && [ -e "$work/asked" ] && wait_for 5 gone "$started" && bystanders_live
}
check "a soft threshold asks with SIGTERM first" polite
remove_pod polite
calm

deaf() {
    prepare deaf 09 "trap '' TERM; $(hold 48)" || return 1
    reload "$(soft 160 1s 2)" && wait_for 5 logged '"reason":"Evicting".*deaf' || return 1
    sleep 1
    alive "$started" || { echo "    killed before its grace period was over"; return 1; }
    wait_for 5 evicted deaf && wait_for 2 gone "$started" && is_empty "${pod_path[deaf]}" && bystanders_live
}
check "a victim that ignores SIGTERM gets its grace period, then dies" deaf
remove_pod deaf
calm

# The same name, the same uid, even the same path: but another cgroup, and innocent.
reborn() {
    prepare reborn 10 "trap '' TERM; $(hold 48)" || return 1
    local first=$started
    reload "$(soft 130 1s 3)" && wait_for 5 logged '"reason":"Evicting".*reborn' || return 1
    empty_cgroup "${pod_path[reborn]}"
    # Small, so that nothing is short any more: what could still come is the kill that was decided.
    make_cgroup "${pod_path[reborn]}/c1" && start_in reborn "trap '' TERM; $(hold 4)" || return 1
    sleep 4
    gone "$first" && alive "$started" && bystanders_live
}
check "a pod that was removed and re-made before the kill is not touched" reborn
remove_pod reborn

# ---- and the end
thawed() { ! find /sys/fs/cgroup/freezer/"$name" -name freezer.state -exec grep -H FROZEN {} + 2> /dev/null; }
check "nothing is left frozen" thawed
check "the bystanders live, also the critical pod that was bigger" bystanders_live
check "no kernel event was lost" bash -c "! grep -q KernelEventsLost '$log'"
check "SIGTERM ends the agent with 0" stop_agent

# ---- the same without BPF
settings="bpf: off"
write_config "$(hard 4)"
start_agent
add_pod slow besteffort "${uid}17"
without_bpf() {
    start_in slow "$(hold 48)" && wait_for 10 holds slow 48 || return 1
    reload "$(hard 100)" && sleep 0.2 && ! evicted slow || return 1
    local first=$started
    start_in slow "$(hold 56)" # crosses the line by itself
    wait_for 10 evicted slow && wait_for 5 gone "$first" && is_empty "${pod_path[slow]}" && bystanders_live
}
check "without BPF the right pod goes all the same" without_bpf
looked() { run 0 explain --socket "$work/run/evictd.sock" && says '^default/slow was evicted' && says '│.*[▁▂▃▄▅▆▇█]'; }
check "without BPF it is explained all the same, from the agent's own looks" looked
said() { logged '"SignalSourceChanged"' && run 0 status --socket "$work/run/evictd.sock" && says 'timed look'; }
check "it is said, as an event and in status, that BPF is not used" said
check "SIGTERM ends that agent, too" stop_agent
exit "$failed"
