# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# runs.csv (numbers.awk) to Markdown tables: a table a case, one of costs, and whether evictd's targets are met.
# With -v brief=1 one table of all cases and one of the targets.
BEGIN {
    FS = ","
    title["slow"] = "A pod grows by 100 MiB/s"
    title["fast"] = "A pod grows by 500 MiB/s"
    title["full"] = "A pod grows as fast as it can"
    title["culprit"] = "The biggest process is not the culprit: eight processes of one pod grow by 500 MiB/s together, beside a quiet pod of 600 MiB"
    title["busy"] = "Every CPU is busy: two pods compute without end, and a BestEffort pod that holds 400 MiB in 4K pages grows"
    cases = split("slow fast full culprit busy", order, " ")
    contenders = split("kernel poller systemd-oomd systemd-oomd-fast oomd oomd-fast nohang nohang-fast earlyoom earlyoom-fast evictd", who, " ")
}
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    key = $1 SUBSEP $2
    if ($2 == "idle") { idle[$1] = $column["idle"]; rss[$1] = $column["rss_idle"]; next }
    runs[key]++
    mine = $column["by"] != "kernel" && $column["by"] != ""
    if ($1 == "kernel" ? $column["by"] == "kernel" : mine) {
        add("signal", key, $column["signal"])
        add("back", key, $column["back"])
        if ($column["signal"] != "" && $column["back"] != "") add("freed", key, $column["back"] - $column["signal"])
    }
    if ($column["right"] == "yes") right[key]++
    else wrong_ones(key, $column["victims"])
    if ($1 != "kernel" && !mine) lost[key]++
    if ($column["oom_kills"] > 0) oom[key]++
    add("lowest", key, $column["lowest"])
    add("gap", "all", $column["gap"])
    add("speed", $2, $column["speed"])
    if ($1 == "evictd" && $column["lowest"] < $column["bound"]) below[key]++
    if ($1 == "evictd" && $column["lowest"] < $column["bound_met"]) below_met[key]++
    if ($1 == "evictd") add("bound", key, $column["bound"])
    if ($column["cpu"] != "") add($2 == "busy" ? "cpu_busy" : "cpu", $1, $column["cpu"])
    if ($column["rss_most"] != "") add("most", $1, $column["rss_most"])
}
END {
    if (brief) brief_table()
    else {
        for (c = 1; c <= cases; c++) case_table(order[c])
        costs()
    }
    targets()
}

# Who was shot instead, every name once.
function wrong_ones(key, names,   i, n, name) {
    n = split(names, name, " ")
    for (i = 1; i <= n; i++)
        if (name[i] != "hog" && !((key, name[i]) in shot)) { shot[key, name[i]] = 1; innocent[key, ++wrong[key]] = name[i] }
}
function told(key) { # the first, and how many more over all runs
    return !wrong[key] ? "" : ": " innocent[key, 1] (wrong[key] > 1 ? ", " wrong[key] - 1 " more" : "")
}

function add(what, key, value) { if (value != "") { many[what, key]++; list[what, key, many[what, key]] = value + 0 } }

function sorted(what, key,   n, i, j, t) { # into v
    n = many[what, key] + 0
    for (i = 1; i <= n; i++) v[i] = list[what, key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n
}
function median(what, key,   n) { n = sorted(what, key); return n ? (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 : "" }
function short(x) { return x >= 100 || x <= -100 ? sprintf("%.0f", x) : x >= 10 || x <= -10 ? sprintf("%.1f", x) : sprintf("%.2f", x) }
function range(what, key,   n) { # "median (lowest..highest)"
    n = sorted(what, key)
    return n == 0 ? "never" : n == 1 ? short(v[1]) : short(median(what, key)) " (" short(v[1]) ".." short(v[n]) ")"
}

function back(key,   n) { # not of every run with a signal: the pod had its memory still when the run ended
    n = many["back", key] + 0
    return range("back", key) (n > 0 && n < many["signal", key] ? ", in " n " of " runs[key] : "")
}
function bold(name) { return name == "evictd" ? "**evictd**" : name }

function brief_table(   c, i, key) {
    print "| case | contender | crossing to signal, ms | crossing to memory back, ms | signal to memory back, ms | right victim | with a kernel OOM kill | lowest left, MiB |"
    print "|---|---|---|---|---|---|---|---|"
    for (c = 1; c <= cases; c++)
        for (i = 1; i <= contenders; i++) {
            key = who[i] SUBSEP order[c]
            if (!runs[key]) continue
            printf "| %s | %s | %s | %s | %s | %d of %d%s | %s | %s |\n", order[c], bold(who[i]), range("signal", key), back(key),
                range("freed", key), right[key], runs[key], told(key), oom[key] + 0 " of " runs[key], range("lowest", key)
        }
    print ""
}

function case_table(what,   i, key, shown) {
    for (i = 1; i <= contenders; i++) if (runs[who[i], what]) shown = 1
    if (!shown) return
    printf "## %s\n\nIt grew by %s MiB/s before the threshold.\n\n", title[what], range("speed", what)
    print "| contender | crossing to signal, ms | crossing to memory back, ms | signal to memory back, ms | right victim | lost to the kernel | with a kernel OOM kill | lowest left, MiB |"
    print "|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= contenders; i++) {
        key = who[i] SUBSEP what
        if (!runs[key]) continue
        printf "| %s | %s | %s | %s | %d of %d%s | %s | %s | %s |\n", bold(who[i]), range("signal", key),
            back(key), range("freed", key), right[key], runs[key], told(key),
            who[i] == "kernel" ? "" : lost[key] + 0 " of " runs[key], oom[key] + 0 " of " runs[key], range("lowest", key)
    }
    print ""
}

function costs(   i) {
    print "## What being there costs\n"
    print "| contender | idle, % of a CPU | during a run, CPU ms | during one with busy CPUs, CPU ms | resident idle, MiB | resident at most, MiB |"
    print "|---|---|---|---|---|---|"
    for (i = 2; i <= contenders; i++)
        if (many["cpu", who[i]])
            printf "| %s | %s | %s | %s | %s | %s |\n", bold(who[i]), idle[who[i]], range("cpu", who[i]), range("cpu_busy", who[i]), rss[who[i]], range("most", who[i])
    print ""
}

function best_peer(number, what,   i, m, best) { # lowest median of those that ever signalled by themselves
    best_name = ""
    for (i = 2; i < contenders; i++) {
        m = median(number, who[i] SUBSEP what)
        if (m != "" && (best_name == "" || m < best)) { best = m; best_name = who[i] }
    }
    return best
}

function beside(number, what, share,   m, best) { # evictd's median, the best peer's, and whether it is at most that share of it
    m = median(number, "evictd" SUBSEP what)
    best = best_peer(number, what)
    return best_name == "" || m == "" ? "no peer" : sprintf("%s / %s ms (%s): %s", short(m), short(best), best_name, verdict(m <= best * share))
}

function targets(   c, key, freed) {
    print (brief ? "### evictd's targets with that kernel\n" : "## evictd's targets\n")
    print "| case | right victim, all runs | no kernel OOM kill | crossing to signal, at most a tenth of the best peer's | crossing to memory back, not after the best peer's | signal to memory back, at most 20 ms | lowest left, never under the threshold minus 20 ms of growth | the same, from the first value seen under the threshold |"
    print "|---|---|---|---|---|---|---|---|"
    for (c = 1; c <= cases; c++) {
        key = "evictd" SUBSEP order[c]
        if (!runs[key]) continue
        freed = median("freed", key)
        printf "| %s | %d of %d: %s | %d: %s | %s | %s | %s | %d of %d below %s MiB: %s | %d of %d below: %s |\n", order[c], right[key], runs[key], verdict(right[key] == runs[key]),
            oom[key], verdict(!oom[key]), beside("signal", order[c], 0.1), beside("back", order[c], 1),
            freed == "" ? "never: " verdict(0) : short(freed) " ms: " verdict(freed <= 20), below[key], runs[key], range("bound", key), verdict(!below[key]), below_met[key], runs[key], verdict(!below_met[key])
    }
    if (brief) { print ""; return }
    print "\nFree memory moves in steps of 4 MiB here (huge pages, taken through per-CPU lists), and one step can be more than 20 ms of"
    print "growth: then the value that crosses is itself below the bound. Hence the last column."
    printf "\nThe witness's samples around a crossing lay %s ms apart.\n\n", range("gap", "all")
}
function verdict(ok) { return ok ? "met" : "**MISSED**" }
