# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The table of pressure.sh: for each file, named after who decides, its lines "DECIDED ENDED FULL RATE" in milliseconds and
# MiB/s. Exit status 1: evictd's median is over 50 ms.
function base(path) { sub(/.*\//, "", path); return path }
{
    who = base(FILENAME)
    if (!(who in count)) order[++files] = who
    n = ++count[who]
    decided[who, n] = $1; ended[who, n] = $2
    if ($3 != "-") full[who, ++fulls[who]] = $3
    rate[++rates] = $4
}
function sorted(values, who, n,  i, j, value) { # into `list`
    for (i = 1; i <= n; i++) {
        value = values[who, i] + 0
        for (j = i - 1; j >= 1 && list[j] > value; j--) list[j + 1] = list[j]
        list[j + 1] = value
    }
}
function median(n) { return (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2 }
function row(label, values, who, n,  bar, i) {
    sorted(values, who, n)
    bar = ""
    for (i = 0; i < int(median(n) / longest * 40 + 0.5) || i < 1; i++) bar = bar "█"
    printf "  %-28s %8.0f ms   %6.0f to %6.0f   %2d   %s\n", label, median(n), list[1], list[n], n, bar
    return median(n)
}
END {
    for (f = 1; f <= files; f++) {
        who = order[f]
        sorted(ended, who, count[who])
        if (median(count[who]) > longest) longest = median(count[who])
    }
    for (n = 1; n <= rates; n++) { all["", n] = rate[n] }
    sorted(all, "", rates)
    printf "writer at %d MiB/s (%d to %d)\n", median(rates), list[1], list[rates]
    print "  since the crossing              median        spread      rounds"
    for (f = 1; f <= files; f++) {
        who = order[f]
        m = row(who ": decided", decided, who, count[who])
        if (who == "evictd") ours = m
        row(who ": no process is left", ended, who, count[who])
        if (fulls[who] > 0) {
            sorted(full, who, fulls[who])
            printf "  %s: the filesystem was full %d of %d times, %d to %d ms after the crossing\n", who, fulls[who], count[who], list[1], list[fulls[who]]
        } else printf "  %s: the filesystem was never full\n", who
    }
    exit !(ours <= 50)
}
