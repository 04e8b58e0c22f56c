#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Makes scale.svg and scale.md of the node benchmark's scale.csv. It measures nothing.
# usage: picture.sh SCALE.CSV DIRECTORY < LINES-ABOUT-THE-MACHINE
set -euo pipefail
[ $# -eq 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
here=$(dirname "$0")

# One series a measure, by the header's names; memory and CPU in units that fit between the times.
series() {
    awk -F, -v OFS=, '
        BEGIN {
            n = split("known_us status_us look_us snapshot_us decision_us kill_us rss_kib idle_ppm", order, " ")
            say["known_us"] = "start to all pods known (us)"
            say["status_us"] = "answer to evictd status (us)"; say["look_us"] = "whole look (us)"
            say["snapshot_us"] = "snapshot of usage (us)"; say["decision_us"] = "decision (us)"
            say["kill_us"] = "crossing to SIGKILL (us)"; say["rss_kib"] = "memory: VmRSS (KiB)"
            say["idle_ppm"] = "CPU at idle (us per second)"
        }
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { pods[++rows] = $1; for (i = 1; i <= n; i++) value[i, rows] = $column[order[i]] }
        END {
            print "series,x,y"
            for (i = 1; i <= n; i++) for (r = 1; r <= rows; r++) print say[order[i]], pods[r], value[i, r]
        }' "$1"
}

table() {
    awk -F, '
        function time(us) { return us < 10 ? sprintf("%.1f us", us) : us < 1000 ? sprintf("%.0f us", us) : us < 1e6 ? sprintf("%.*f ms", us < 1e5, us / 1000) : sprintf("%.2f s", us / 1e6) }
        function mib(kib) { return sprintf("%.1f MiB", kib / 1024) }
        NR == 1 {
            for (i = 1; i <= NF; i++) column[$i] = i
            print "| pods | cgroups | start to ready | to all pods known | snapshot | whole look | decision | crossing to SIGKILL: median, worst | of it detecting, looking and deciding | `status` answered | memory idle, at most | CPU at idle |"
            print "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
            next
        }
        {
            printf "| %d | %d | %s | %s | %s | %s | %s | %s, %s | %s, %s | %s | %s, %s | %.3f %% |\n", $column["pods"], $column["cgroups"],
                time($column["start_us"]), time($column["known_us"]), time($column["snapshot_us"]), time($column["look_us"]),
                time($column["decision_us"]), time($column["kill_us"]), time($column["kill_max_us"]), time($column["detect_us"]), time($column["in_look_us"]),
                time($column["status_us"]),
                mib($column["rss_kib"]), mib($column["rss_after_kib"]), $column["idle_ppm"] / 10000
        }' "$1"
}

document() {
    cat <<'END'
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Copyright The evictd authors -->
# Scale: 10 to 10,000 pods

From `make bench PARTS=scale KEEP=1`, which makes this page and its picture.

```
END
    cat
    printf '```\n\n![evictd on 10 to 10,000 pods](scale.svg)\n\n'
    table "$1"
    cat <<'END'

Every pod has a cgroup of its own and one of a container; ten pods have a sleeping process, the others are empty. Times are
medians. **Start** is from exec of the real agent until it says `AgentStarted`, and until the first look that had every pod
of the manifests. **Snapshot** is one pass of the BPF iterator, **whole look** that and joining it with the pods,
**decision** the policy over it with a threshold met: these three in CPU time, in a process that does nothing else. **Crossing to
SIGKILL** is the agent's own measurement of ten evictions, from the kernel's finding that the threshold is crossed to the
signal delivered, with a hog that grows as fast as it can; **detecting** has the walk in which the timer adds up all
cgroups' inactive file pages, and **looking** finds nothing in the CPU's caches any more. **Memory** is VmRSS at idle, and after the evictions and a
`status` of all pods. **CPU at idle** is that of all threads and BPF programs over 10 s, as a share of one CPU; `make bench` measures 60 s with 110 pods, which is less.
END
}

series "$1" | awk -v title="evictd on 10 to 10,000 pods" -v xlabel="pods" -v ylabel="in the unit of each line" \
    -v xlog=1 -v ylog=1 -f "$here/../plot.awk" > "$2/scale.svg"
document "$1" > "$2/scale.md"
