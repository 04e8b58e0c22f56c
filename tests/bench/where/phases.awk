# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Times between a probe and its return: of ticks that killed (more than 60 us in carry_out), of others, and of rehearsals.
# Without a kill carry_out takes what a pair of probes takes, 10 to 40 us on the machine of where.md; a kill takes 80 and more.
# Input: "TIME: EVENT: ..." of perf script.
function stamp(text, part) { sub(/:$/, "", text); split(text, part, "."); return part[1] % 100000 * 1e6 + part[2] / 1000 }
function note(kind, phase, us) { value[kind, phase, ++count[kind, phase]] = us; known[kind "," phase] = 1 }
function at(kind, phase, share) { return quantile(value, kind SUBSEP phase SUBSEP, count[kind, phase], share) }
{ now = stamp($1); event = $2; sub(/:$/, "", event) }
event == "rehearse" { rehearsing = now; next }
event == "rehearse_r" { if (rehearsing) note("rehearsal", "whole", now - rehearsing); rehearsing = 0; next }
rehearsing { next }
event == "tick" { for (phase in spent) delete spent[phase]; ticking = now; next }
!ticking { next }
event == "tick_r" {
    kind = spent["carry"] > 60 ? "kill" : "other"
    note(kind, "whole", now - ticking)
    if (kind == "kill") note(kind, "until the kill", carried - ticking)
    for (phase in spent) note(kind, phase, spent[phase])
    ticking = 0
    next
}
sub(/_r$/, "", event) {
    if (event in entered) spent[event] += now - entered[event]
    delete entered[event]
    if (event == "carry") carried = now
    next
}
{ entered[event] = now }
END {
    n = split("kill other rehearsal", kinds, " ")
    m = split("whole,until the kill,look,iter,meminfo,settle,join,decide,carry,reconcile,remember,publish", phases, ",")
    for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) if ((kinds[i] "," phases[j]) in known)
        printf "%-10s %-16s %5d times, median %8.1f, p90 %8.1f\n", kinds[i], phases[j], count[kinds[i], phases[j]],
            at(kinds[i], phases[j], 0.5), at(kinds[i], phases[j], 0.9)
}
