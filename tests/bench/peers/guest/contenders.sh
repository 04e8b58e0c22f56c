# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034,SC2154  # what the three scripts share
# Who is compared, and with which settings; each setting names where it is documented. Sourced by session.sh.
# "-fast" is a contender at the fastest its documentation allows; without it, as Debian ships it, but for the threshold.
# start NAME leaves the process in `daemon` (empty: nobody to start); stop NAME ends it.

threshold=15 # percent, for everybody who can be told one
out=/run/peers-daemon.log

background() { "$@" > "$out" 2>&1 < /dev/null & daemon=$!; }

await() { # await SECONDS COMMAND...: until it succeeds, as long as the daemon is there
    local tries=$(($1 * 20))
    shift
    until "$@" 2> /dev/null; do
        tries=$((tries - 1))
        [ -z "$daemon" ] || kill -0 "$daemon" 2> /dev/null || tries=0
        [ "$tries" -gt 0 ] || { echo "$contender does not start" >&2; tail -n 5 "$out" >&2; return 1; }
        sleep 0.05
    done
}

start() {
    daemon=
    case $1 in
        kernel) ;;
        poller) background peers_poller "$table" "$threshold" $((RANDOM * 10000 / 32768)) ;;
        # earlyoom(1): -m PERCENT[,KILL_PERCENT]: SIGTERM below the first, SIGKILL below the second, which is half of it unless
        # given. /etc/default/earlyoom has -r 3600. -r 0: no reports; -p: nice -20. Its poll period is adaptive and not
        # adjustable (100 ms when memory is low).
        earlyoom) background earlyoom -r 3600 -m "$threshold" && await 10 grep -q 'mem avail' "$out" ;;
        earlyoom-fast) background earlyoom -r 0 -m "$threshold,$threshold" -p && await 10 grep -q 'SIGKILL when' "$out" ;;
        nohang) nohang_config < /etc/nohang/nohang.conf > /run/nohang.conf && start_nohang ;;
        nohang-fast) nohang_config < /etc/nohang/nohang.conf | nohang_fast > /run/nohang.conf && start_nohang ;;
        # /etc/default/oomd, without the path of the hybrid layout, as it says.
        oomd) background oomd --interval 1 --config /etc/oomd/oomd.json && sleep 1 ;;
        oomd-fast) oomd_config > /run/oomd.json && background oomd --interval 1 --config /run/oomd.json && sleep 1 ;;
        systemd-oomd) start_systemd_oomd ;;
        systemd-oomd-fast) systemd_oomd_fast && start_systemd_oomd ;;
        evictd) start_evictd ;;
        *) echo "no contender $1" >&2; return 1 ;;
    esac
}

# The file's own comments: soft_threshold_min_mem for SIGTERM, hard_threshold_min_mem for SIGKILL. Debian's are 5 % and 2 %.
nohang_config() { sed "s/^soft_threshold_min_mem *=.*/soft_threshold_min_mem = $threshold %/"; }
# min_sleep and max_sleep may be as low as 0.01 s (the file's own comments); SIGKILL at the same line.
nohang_fast() {
    sed -e 's/^min_sleep *=.*/min_sleep = 0.01/' -e 's/^max_sleep *=.*/max_sleep = 0.01/' \
        -e "s/^hard_threshold_min_mem *=.*/hard_threshold_min_mem = $threshold %/"
}
start_nohang() { background nohang --monitor --config /run/nohang.conf && await 20 grep -qi 'monitoring.*started' "$out"; }

# docs/core_plugins.md. There is no detector of what is left on the node, so it is told what the pods may use: all but the
# threshold and what is not theirs. duration 0: at the first look; the loop's period is whole seconds (oomd(1)), so 1 is the
# fastest. Pressure above 1 % counts, too. post_action_delay 0: no pause after a kill.
oomd_config() {
    local pods="kubepods.slice/kubepods-pod*,kubepods.slice/kubepods-burstable.slice/*,kubepods.slice/kubepods-besteffort.slice/*"
    local used left limit
    used=$(< "$slice/memory.current")
    left=$(($(sed -n 's/^MemFree: *\([0-9]*\).*/\1/p; s/^Inactive(file): *\([0-9]*\).*/\1/p' /proc/meminfo | paste -sd+)))
    limit=$(((used + left * 1024 - capacity * threshold / 100) / 1024))
    cat << END
{"rulesets": [{"name": "node", "detectors": [
  ["pods use too much", {"name": "memory_above", "args": {"cgroup": "kubepods.slice", "threshold": "${limit}K", "duration": "0"}}],
  ["pressure", {"name": "pressure_above", "args": {"cgroup": "kubepods.slice", "resource": "memory", "threshold": "1", "duration": "0"}}]],
  "actions": [{"name": "kill_by_memory_size_or_growth", "args": {"cgroup": "$pods", "post_action_delay": "0"}}]}]}
END
}

# systemd.resource-control(5): ManagedOOMMemoryPressure on the pods' slice, its limit as low as it means anything; oomd.conf(5):
# DefaultMemoryPressureDurationSec is at least 1 s. ManagedOOMSwap has no meaning without swap.
systemd_oomd_fast() {
    mkdir -p /run/systemd/oomd.conf.d /run/systemd/system/kubepods.slice.d
    printf '[OOM]\nDefaultMemoryPressureDurationSec=1s\n' > /run/systemd/oomd.conf.d/99-fast.conf
    printf '[Slice]\nManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=1%%\n' > /run/systemd/system/kubepods.slice.d/fast.conf
    systemctl daemon-reload
}
start_systemd_oomd() {
    systemctl start systemd-oomd.service && daemon=$(systemctl show -p MainPID --value systemd-oomd.service)
}

start_evictd() {
    printf '%s\n' "evictionHard: {memory.available: $threshold%}" "evictd:" "  podManifestPath: $manifests" \
        "  eventLog: {path: /run/evictd-events.jsonl, stdout: false}" > /run/evictd.yaml
    rm -f /run/evictd/evictd.sock /run/evictd-events.jsonl
    background evictd run --config /run/evictd.yaml && await 30 test -S /run/evictd/evictd.sock
}

stop() {
    case $1 in
        systemd-oomd*)
            systemctl stop systemd-oomd.service systemd-oomd.socket
            if [ -e /run/systemd/oomd.conf.d/99-fast.conf ]; then
                rm -f /run/systemd/oomd.conf.d/99-fast.conf /run/systemd/system/kubepods.slice.d/fast.conf
                systemctl daemon-reload
            fi
            ;;
        *)
            local pid=$daemon
            [ -n "$pid" ] || return 0
            daemon= # await is not to wait for one that is there
            kill -TERM "$pid" 2> /dev/null
            await 5 ended "$pid" || kill -KILL "$pid"
            ;;
    esac
    daemon=
}
ended() { ! kill -0 "$1"; }

# On a CPU so far, in ns, all threads: what utime and stime count, but finer.
cpu_ns() { # cpu_ns PID
    local sum=0 file ns
    for file in /proc/"$1"/task/*/schedstat; do
        read -r ns _ < "$file" && sum=$((sum + ns))
    done 2> /dev/null
    echo "$sum"
}
status_kib() { sed -n "s/^$2:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$1/status" 2> /dev/null; } # status_kib PID VmRSS|VmHWM
