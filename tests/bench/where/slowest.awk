# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Of each eviction, from the crossing seen to SIGKILL, what the host took of the main thread's time:
#   woken late    from sched_waking until the thread runs, where the CPU was idle meanwhile: it has the highest priority, so an
#                 idle CPU that does not run it at once was halted, and the host had not yet let it run again
#   CPU taken     the clock ran, and the thread's CPU time did not: steal time. Between two sched_stat_runtime, so up to a
#                 tick of it may be before the crossing or after SIGKILL; no more is counted than the eviction took beyond the median
# Of both only what exceeds the median eviction's counts. What is left is what evictd and the kernel took.
# Input: events.jsonl of the agent, then ftrace's text. Times in us.
function number(text, name) { return match(text, "\"" name "\":[0-9]+") ? substr(text, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : -1 }
function field(text, name) { return match(text, " " name "=[0-9]+") ? substr(text, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : "" }
function quantile(value, n, share,    i, j, one, sorted) {
    for (i = 1; i <= n; i++) {
        one = value[i]
        for (j = i - 1; j > 0 && sorted[j] > one; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = one
    }
    return sorted[int(n * share + 0.9999)]
}
function overlap(from, to, begin, end) { from = from > begin ? from : begin; to = to < end ? to : end; return to > from ? to - from : 0 }
function beyond(value, usual) { return value > usual ? value - usual : 0 }

FNR == NR {
    if (/"reason":"Evicted"/ && (total = number($0, "total")) >= 0) {
        totals[++logged] = total
        detects[logged] = number($0, "detect")
    }
    next
}
!match($0, /\[[0-9]+\] [^ ]+ +[0-9]+\.[0-9]+: /) { next }
{
    split(substr($0, RSTART, RLENGTH), head, " ")
    now = head[3] * 1e6
    rest = substr($0, RSTART + RLENGTH)
    event = rest
    sub(/:.*/, "", event)
}
event == "sched_waking" { if (!running && !waking) waking = now; next }
event == "sched_switch" {
    if (field(rest, "next_pid") == agent) {
        waits++
        wait_from[waits] = waking ? waking : now
        wait_to[waits] = now
        wait_idle[waits] = field(rest, "prev_pid") == 0
        running = slice = now
    } else running = 0
    waking = 0
    next
}
event == "sched_stat_runtime" {
    if (slice) {
        taken = now - slice - field(rest, "runtime") / 1000
        slices++
        slice_from[slices] = slice
        slice_to[slices] = now
        slice_taken[slices] = taken > 0 ? taken : 0
    }
    slice = now
    next
}
event == "rehearse_r" { rehearsed[++rehearsals] = now; next }
event == "sys_enter" {
    if (now - killed > 20000) kill_at[++kills] = now
    killed = now
}
END {
    if (kills < logged) { printf "slowest.awk: %d evictions logged, %d traced\n", logged, kills > "/dev/stderr"; exit 1 }
    skipped = kills - logged
    w = s = r = 1
    for (i = 1; i <= logged; i++) {
        end = kill_at[i + skipped]
        begin = end - totals[i]
        late[i] = taken_of[i] = 0
        while (w < waits && wait_to[w] < begin) w++
        for (j = w; j <= waits && wait_from[j] < end; j++) if (wait_idle[j]) late[i] += overlap(wait_from[j], wait_to[j], begin, end)
        while (s < slices && slice_to[s] < begin) s++
        for (j = s; j <= slices && slice_from[j] < end; j++) if (overlap(slice_from[j], slice_to[j], begin, end)) taken_of[i] += slice_taken[j]
        while (r < rehearsals && rehearsed[r + 1] < begin) r++
        ago[i] = rehearsals ? begin - rehearsed[r] : -1
    }
    usual = quantile(totals, logged, 0.5)
    usual_late = quantile(late, logged, 0.5)
    for (i = 1; i <= logged; i++) {
        host_late[i] = beyond(late[i], usual_late)
        host_taken[i] = taken_of[i] < beyond(totals[i] - host_late[i], usual) ? taken_of[i] : beyond(totals[i] - host_late[i], usual)
        left[i] = totals[i] - host_late[i] - host_taken[i]
    }
    printf "\n%d evictions       median      p99  longest\n", logged
    printf "crossing to SIGKILL %6d %8d %8d us\n", usual, quantile(totals, logged, 0.99), quantile(totals, logged, 1)
    printf "without the host    %6d %8d %8d us\n", quantile(left, logged, 0.5), quantile(left, logged, 0.99), quantile(left, logged, 1)
    printf "\nthe slowest, us\n    total  woken late  CPU taken   left   last rehearsal ended before the crossing\n"
    for (n = 1; n <= shown && n <= logged; n++) {
        at = 0
        for (i = 1; i <= logged; i++) if (!(i in said) && (!at || totals[i] > totals[at])) at = i
        said[at] = 1
        printf "%9d %11d %10d %6d %11.1f ms\n", totals[at], host_late[at], host_taken[at], left[at], ago[at] / 1000
    }
}
