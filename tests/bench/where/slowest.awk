# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Of each eviction, from the crossing seen to SIGKILL, what the host probably took of the main thread's time:
#   woken late    from sched_waking until the thread runs, where the CPU was idle meanwhile, beyond the median eviction's. The
#                 thread is a real-time one, which an idle CPU runs at once. On a virtual machine mostly the host is late;
#                 softirqs over the idle task and the exit from a deep idle state are the rest
#   CPU taken     the clock went on, and the thread's CPU time did not: steal time. It is known for the time between two
#                 sched_stat_runtime, and counts as far as it cannot lie before the crossing or after SIGKILL
#   slow memory   beside it another process found 500 pages of its own so slow (slow_memory.cpp) that the host must have
#                 dropped its mapping of the guest's memory, at most 50 ms before the crossing: what the eviction took
#                 beyond the median one
# What is left is what evictd and the kernel took, and what the host took without a trace.
# Input: events.jsonl of the agent, slow_memory's lines, ftrace's text. Times in us.
function number(text, name,    key) {
    key = "\"" name "\":"
    return match(text, key "[0-9]+") ? substr(text, RSTART + length(key), RLENGTH - length(key)) + 0 : -1
}
function field(text, name) {
    return match(text, " " name "=[0-9]+") ? substr(text, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : ""
}
# What two intervals have in common.
function overlap(from, to, begin, end) {
    from = from > begin ? from : begin
    to = to < end ? to : end
    return to > from ? to - from : 0
}
function beyond(value, usual) { return value > usual ? value - usual : 0 }

# All are in order of time: each search begins where the last one ended.
function attribute(i, begin, end,    j) {
    late[i] = taken[i] = 0
    while (first_wait < waits && wait_to[first_wait] < begin) first_wait++
    for (j = first_wait; j <= waits && wait_from[j] < end; j++)
        if (wait_idle[j]) late[i] += overlap(wait_from[j], wait_to[j], begin, end)
    while (first_slice < slices && slice_to[first_slice] < begin) first_slice++
    for (j = first_slice; j <= slices && slice_from[j] < end; j++)
        taken[i] += beyond(slice_taken[j], slice_to[j] - slice_from[j] - overlap(slice_from[j], slice_to[j], begin, end))
    slow[i] = 0
    for (j = 1; j <= drops; j++) if (overlap(drop_from[j], drop_to[j], begin - 50000, end) > 0) slow[i] = 1
    while (last < rehearsals && rehearsed[last + 1] < begin) last++
    since[i] = last ? sprintf("%.1f ms", (begin - rehearsed[last]) / 1000) : "none"
}
function leave_the_rest(    i, usual, usual_total) {
    usual = quantile(late, "", logged, 0.5)
    usual_total = quantile(total, "", logged, 0.5)
    for (i = 1; i <= logged; i++) {
        late[i] = beyond(late[i], usual)
        left[i] = total[i] - late[i] - taken[i]
        if (slow[i]) slow[i] = beyond(left[i], usual_total)
        left[i] -= slow[i]
    }
}
function say(what, value) {
    printf "%-22s %6d %8d %8d us\n", what, quantile(value, "", logged, 0.5), quantile(value, "", logged, 0.99),
        quantile(value, "", logged, 1)
}
function say_slowest(    n, i, at, said) {
    printf "\nthe slowest, us\n    total  woken late  CPU taken  slow memory     left  a rehearsal had ended before\n"
    for (n = 1; n <= shown && n <= logged; n++) {
        at = 0
        for (i = 1; i <= logged; i++) if (!(i in said) && (!at || total[i] > total[at])) at = i
        said[at] = 1
        printf "%9d %11d %10d %12d %8d %14s\n", total[at], late[at], taken[at], slow[at], left[at], since[at]
    }
}

FNR == 1 { file++ }
file == 1 {
    if (/"reason":"Evicted"/) total[++logged] = number($0, "total")
    next
}
NF == 2 && /^[0-9.]+ [0-9.]+$/ { # it was dropped since the reading before, 20 ms ago
    drop_from[++drops] = $1 * 1e6 - 20000
    drop_to[drops] = $2 * 1e6
    next
}
!match($0, /\[[0-9]+\] [^ ]+ +[0-9]+\.[0-9]+: /) { next }
{
    split(substr($0, RSTART, RLENGTH), head, " ")
    now = head[3] * 1e6
    what = event = substr($0, RSTART + RLENGTH)
    sub(/:.*/, "", event)
}
event == "sched_waking" { if (!running && !waking) waking = now }
event == "sched_switch" {
    running = field(what, "next_pid") == agent
    slice = running ? now : 0
    if (running) {
        wait_from[++waits] = waking ? waking : now
        wait_to[waits] = now
        wait_idle[waits] = field(what, "prev_pid") == 0
    }
    waking = 0
}
event == "sched_stat_runtime" {
    if (slice) {
        slice_from[++slices] = slice
        slice_to[slices] = now
        slice_taken[slices] = beyond(now - slice, field(what, "runtime") / 1000)
    }
    slice = now
}
event == "rehearse_r" { rehearsed[++rehearsals] = now }
event == "signal_generate" {
    if (now - killed > 100000) kill_at[++kills] = now # what follows sooner is SIGKILL again, to processes that were forked
    killed = now
}
END {
    if (!logged || kills != logged) {
        printf "slowest.awk: %d evictions logged, %d traced\n", logged, kills > "/dev/stderr"
        exit 1
    }
    first_wait = first_slice = 1
    for (i = 1; i <= logged; i++) {
        if (total[i] < 0) continue # no crossing that the kernel reported had caused it
        total[++measured] = total[i]
        attribute(measured, kill_at[i] - total[i], kill_at[i])
    }
    logged = measured
    printf "\n%-22s median      p99  longest\n", logged " evictions"
    say("crossing to SIGKILL", total)
    leave_the_rest()
    say("without the host", left)
    say_slowest()
    printf "\nmemory became slow for another process %d times\n", drops
}
