# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# For each of evictd's threads, its CPU time, how often it runs in each second (".": not at all, "#": 10 times and more), and
# who wakes it. Input: "TID NAME NANOSECONDS" before, the same after, then "COMM TID TIME: EVENT: ..." of perf script, with
# sched_switch and sched_waking; seconds=.
FILENAME != "-" { # before, after
    if (!($1 in name)) order[++n] = $1
    name[$1] = $2
    if (FILENAME == ARGV[1]) begun[$1] = $3
    else cpu[$1] = $3 - begun[$1]
    next
}
{
    if (!match($0, / [0-9]+\.[0-9]+: /)) next
    time = substr($0, RSTART + 1, RLENGTH - 3) + 0
    head = substr($0, 1, RSTART - 1)
    rest = substr($0, RSTART + RLENGTH)
    if (!start) start = time
    second = int(time - start)
}
rest ~ /sched_switch:/ {
    if (!match(rest, /next_pid=[0-9]+/)) { if (!match(rest, /==> .*:[0-9]+ \[/)) next; tid = substr(rest, RSTART, RLENGTH - 2); sub(/.*:/, "", tid) }
    else tid = substr(rest, RSTART + 9, RLENGTH - 9)
    if (tid in name && second < seconds) { ran[tid]++; at[tid, second]++ }
    next
}
rest ~ /sched_waking:/ {
    if (!match(rest, /pid=[0-9]+/)) { if (!match(rest, /:[0-9]+ \[/)) next; tid = substr(rest, RSTART + 1, RLENGTH - 3) }
    else tid = substr(rest, RSTART + 4, RLENGTH - 4)
    if (!(tid in name)) next
    match(head, /[0-9]+ *$/)
    waker = substr(head, RSTART) + 0
    comm = substr(head, 1, RSTART - 1)
    gsub(/^ +| +$/, "", comm)
    if (waker in name) comm = name[waker]
    if (waker == 0) comm = "timer or interrupt"
    woken[tid, comm]++
    wakers[comm]
}
END {
    printf "%-16s %9s %5s  %-*s  %s\n", "thread", "CPU", "times", seconds, "one column a second", "woken by"
    for (i = 1; i <= n; i++) {
        tid = order[i]
        total += ran[tid]
        all += cpu[tid]
        if (!ran[tid]) { never++; continue }
        strip = ""
        for (s = 0; s < seconds; s++) { c = at[tid, s]; strip = strip (!c ? "." : c < 10 ? c : "#") }
        by = ""
        for (comm in wakers) if (woken[tid, comm]) by = by (by ? ", " : "") comm " " woken[tid, comm]
        printf "%-16s %7.4f %% %5d  %s  %s\n", name[tid], cpu[tid] / seconds / 1e7, ran[tid], strip, by
    }
    printf "%-16s %7.4f %%\n", "together", all / seconds / 1e7
    printf "%d threads ran %d times, %.2f a second; %d did not run\n", n - never, total, total / seconds, never
}
