# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The matrix as a picture: a row a case, a column a boot, in each field how it ended and after how many seconds.
# usage: awk -f table.awk BUILD/vm/BOOT/results...     (lines "ok|not|skip CASE SECONDS", "total MACHINES SECONDS CPU-SECONDS")
BEGIN {
    whole = "whole boot" # with packing, and waiting for the other machines
    width = length(whole)
}
FNR == 1 {
    parts = split(FILENAME, part, "/")
    boots[++columns] = part[parts - 1]
}
$1 == "unbooted" { next }
$1 == "total" { total[columns] = $3; cpu[columns] = $4; next }
{
    if (!($2 in spent)) insert($2)
    if (length($2) > width) width = length($2)
    field[$2, columns] = $1
    seconds[$2, columns] = $3
    spent[$2] += $3
}
function insert(name,    r) { # in order, but the machine itself is first
    for (r = ++rows; r > 1 && cases[r - 1] != "host" && (cases[r - 1] > name || name == "host"); r--) cases[r] = cases[r - 1]
    cases[r] = name
}
function symbol(state) { return state == "ok" ? "✓" : state == "not" ? "✗" : state == "skip" ? "·" : " " }
function bars(count,    text, i) {
    for (i = 1; i <= count; i++) text = text "│     "
    return text
}
function print_sum(name, of,    c, all) {
    printf "%-*s ", width, name
    for (c = 1; c <= columns; c++) {
        printf "   %-3s", of[c]
        all += of[c]
    }
    printf " %5d s\n", all
}
END {
    for (c = 1; c <= columns; c++) printf "%-*s  %s┌ %s\n", width, "", bars(c - 1), boots[c]
    for (r = 1; r <= rows; r++) {
        printf "%-*s ", width, cases[r]
        for (c = 1; c <= columns; c++) {
            state = field[cases[r], c]
            printf " %s %-3s", symbol(state), state == "ok" || state == "not" ? seconds[cases[r], c] : ""
        }
        printf " %5d s\n", spent[cases[r]]
    }
    print_sum(whole, total)
    print_sum("of it CPU", cpu)
    print "✓ as it should be   ✗ not   · does not apply (the reason is above)   numbers: seconds"
}
