# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Allocations, system calls, page faults and switches of the main thread, a tick: of those that sent a signal by pidfd, and
# of others. Rehearsals are left out. Input: "TIME: EVENT: ..." of perf script.
{ event = $2; sub(/:$/, "", event) }
event == "rehearse" { rehearsing = 1; next }
event == "rehearse_r" { rehearsing = 0; next }
rehearsing { next }
event == "tick" { for (what in seen) delete seen[what]; ticking = 1; killed = 0; phase = "1 look"; next }
!ticking { next }
event == "look_r" { phase = "2 decide"; next }
event == "decide_r" { phase = "3 kill"; next }
event == "carry_r" { phase = "4 afterwards"; next }
event == "tick_r" {
    kind = killed ? "kill" : "other"
    ticks[kind]++
    for (what in seen) sum[kind ", " what] += seen[what]
    ticking = 0
    next
}
event ~ /^lc_/ { seen[phase ": allocations"]++ }
event ~ /page_fault/ { seen[phase ": page faults"]++ }
event ~ /sched_switch/ { seen[phase ": switched out"]++ }
event ~ /sys_enter/ {
    for (i = 3; i < NF && $i != "NR"; i++);
    if ($(i + 1) == 424) killed = 1                      # pidfd_send_signal
    if ($(i + 1) != 335) seen[phase ": system calls"]++  # uretprobe, which is ours
}
END { for (what in sum) { split(what, part, ","); printf "%-40s %8.2f (%d ticks)\n", what, sum[what] / ticks[part[1]], ticks[part[1]] } }
