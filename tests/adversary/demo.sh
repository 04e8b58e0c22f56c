#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd demo --scenario forkbomb: a pod forks as fast as it can, and is evicted before the node has no PIDs left. The machine
# is in no danger: the threshold is a little below what it has available now, and the pod's cgroup bounds its tasks. What it
# makes is removed in the end, also when this is interrupted or killed.
# usage: demo.sh     env: EVICTD (build/evictd), ATTACKER (beside it)
# exit status: 0 all happened as it should, 1 not, 130 interrupted
# shellcheck disable=SC2317  # watch_until calls functions by name
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
die() { echo "evictd: demo: $1" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || die "needs root (sudo)"
EVICTD=$(realpath "${EVICTD:-$here/../../build/evictd}")
[ -x "$EVICTD" ] || die "$EVICTD: not built (make build)"
ATTACKER=${ATTACKER:-$(dirname "$EVICTD")/attacker}
"$here/../tools/build.sh" "$(dirname "$ATTACKER")" attacker > /dev/null || die "$ATTACKER cannot be built"
export EVICTD ATTACKER
no_color=${NO_COLOR:-}
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
# shellcheck source-path=SCRIPTDIR source=pids.sh
. "$(dirname "${BASH_SOURCE[0]}")/pids.sh"
NO_COLOR=$no_color
# shellcheck source-path=SCRIPTDIR source=../tools/show.sh
. "$top/tests/tools/show.sh"

trap 'echo; exit 130' INT TERM HUP
# Should this be killed, its pods and its agent are ended all the same.
clean_up_after() {
    trap '' INT TERM HUP
    while alive "$$"; do sleep 0.2; done
    [ -d "$work" ] || exit 0
    agent=$(cat "$work/agent.pid" 2> /dev/null)
    pods_root=made # whatever of it is there
    end_attack
    clean_up
    [ -z "$agent" ] || kill -KILL "$agent" 2> /dev/null
}
fails() { # fails WHAT: it cannot be played
    echo "evictd: demo: $1" >&2
    tail -n 5 "$work/agent.log" >&2 2> /dev/null
    exit 1
}

# ---- what is shown: the node's tasks, from where they were to a little beyond the line

most=2000 # tasks of the bomb
below=300 # of which so many cross the line
measure() { tasks=$(running); }
bar() { bar_of "$tasks"; }
bar_of() { # bar_of TASKS
    local width=40 used mark i text='' colour=$green
    mark=$((width * 3 / 4)) used=$((($1 - line + below) * width * 3 / (4 * below)))
    [ "$1" -le "$line" ] || colour=$red
    for ((i = 0; i < width; i++)); do
        if [ "$i" -eq "$mark" ]; then text+='|'; elif [ "$i" -lt "$used" ]; then text+='█'; else text+='░'; fi
    done
    printf '%s%s%s %5d tasks' "$colour" "$text" "$plain" "$1"
}
arm() { # the line is $below tasks away
    line=$(($(running) + below)) threshold=$(($(allowed) - $(running) - below))
}
config() { echo "evictionHard: {allocatableMemory.available: 4Mi, pid.available: $threshold}"; }
oom_kills() { # which of the innocents the kernel ended: their own cgroups say it
    local pod
    for pod in "${!innocent_pid[@]}"; do
        ! grep -qsE '^oom_kill [1-9]' "${hierarchies[0]}/${pod_path[$pod]}"/c1/memory.{oom_control,events} || echo ", the OOM killer ended $pod"
    done
}
picture() { # picture FROM: what was counted since, in twelve lines, until no more than the line was
    local last step next=0 at count
    last=$(awk -v line="$line" '$2 >= line { last = $1 } END { print last }' "$work/tasks")
    step=$(((${last:-$1} - $1) / 10 + 1))
    while read -r at count; do
        if [ $((at - $1)) -lt "$next" ] || [ $((at - $1)) -gt $((11 * step)) ]; then continue; fi
        printf '  %4d ms  %s\n' $(((at - $1) / 1000)) "$(bar_of "$count")"
        next=$((at - $1 + step))
    done < "$work/tasks"
}

# ---- the play

[ $(($(allowed) - $(running))) -gt $((4 * most)) ] || fails "this machine has too few PIDs left: at most $(allowed), and $(running) are taken"
find_hierarchies || fails "no memory controller is mounted at /sys/fs/cgroup"
clean_up_after &
disown
make_node 1024 || fails "no cgroup with a memory limit can be made"
arm
title "evictd demo, forkbomb: a pod forks as fast as it can; it is evicted before the node has no PIDs left"
for pod in db web cron; do innocent "$pod" || fails "pod $pod cannot be started"; done
say "three pods run, and have nothing to do with it"
hostile crawler || fails "pod crawler cannot be made"
[ -e "$(pids_of crawler)/pids.max" ] || fails "no pids controller is mounted: nothing would bound the fork bomb"
bound crawler "$most" || fails "the fork bomb cannot be bounded"
arm
write_config "$(config)"
start_agent > "$work/failure" || fails "evictd does not start"
is_known() { "$EVICTD" status --socket "$work/run/evictd.sock" 2> /dev/null | grep -q 'default/crawler '; }
watch_until 10 is_known || fails "evictd does not see the pods"
arm
reload "$(config)" || fails "the threshold is not taken"
say "evictd runs: it evicts when fewer than $threshold of $(allowed) PIDs are available, $below tasks from here"

title "default/crawler forks, and so does each of its processes"
count_tasks_beside
began=${EPOCHREALTIME//[!0-9]/}
attack crawler bomb || fault "the fork bomb did not start"
ended() { dies crawler 0; }
watch_until 20 reported Evicted crawler || fault "default/crawler was not evicted"
watch_until 10 ended || fault "a process of default/crawler lives"
count_tasks_ends
peak=$(cat "$work/peak")
title "the tasks of the node meanwhile (| is the line; ended tasks count until they are reaped)"
picture "$began"
title "does any other pod have to go?"
watch_for 2
say "no more is reported"

# ---- the verdict

said=$(innocents_live) || fault "a bystander ended or was chosen: ${said#"${said%%[! ]*}"}$(oom_kills)"
[ "$(events_of Evicted | wc -l)" -eq "$(events_of Evicted crawler | wc -l)" ] || fault "another pod was evicted"
others=$(($(running) - line + below))
[ ${#faults[@]} -eq 0 ] || [ "$others" -lt "$below" ] ||
    fault "other programs of this machine have begun $others tasks meanwhile, more than the line was away: play it when they are done"
crossed=$(awk -v from="$began" -v line="$line" '$1 >= from && $2 >= line { print $1; exit }' "$work/tasks")
evicted=$(first_of Evicted crawler)
if [ -z "$crossed" ] || [ -z "$evicted" ]; then fault "no time can be told"; fi
title verdict
if [ ${#faults[@]} -gt 0 ]; then
    echo "${red}FAILED: this is not what should have happened.$plain"
    printf '  %s\n' "${faults[@]}"
    exit 1
fi
emptied=$(time_of "$evicted")
rate=$((below * 1000000 / (crossed - began)))
cat << END
${green}OK: default/crawler was evicted, and only it.$plain
  From its first fork until its last process was gone: $(((${emptied//[!0-9]/} - began) / 1000)) ms. At most $((peak - line)) tasks were beyond the line.
  The other 3 pods live.
  The kubelet counts every 10 s: at this rate, $rate tasks a second, $(allowed) PIDs last $((threshold / rate)) s.
END
exit 0
