# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# One run's raw file (guest/session.sh, observer.cpp) to one line of numbers; report.sh makes the table of them.
# usage: awk -v header=1 -f numbers.awk RUN.csv...     times in ms, memory in MiB; an empty field: it did not happen
BEGIN {
    MiB = 1048576
    if (header) print "contender,case,round,signal,back,by,right,victims,oom_kills,lowest,bound,bound_met,cpu,idle,rss_idle,rss_most,gap,speed,error"
}
FNR == 1 { if (NR > 1) tell(); forget() }
/^(contender|case|round|error|oom_kills|cpu_ns|idle_s|idle_cpu_ns|rss_idle_kib|rss_most_kib) / { value[$1] = $2; next }
/^pid / { pod[$2] = $3; next }
/^# / { value[$2] = $3; next }
/signal_generate/ { if (/ res=0/) signal(); next }
/^[0-9]+,/ { split($0, field, ","); sample(field[1] + 0, field[2] + field[4], field[3] + 0, field[5] + 0) }
END { if (NR) tell() }

function forget() {
    split("", value); split("", pod); split("", shot); victims = ""
    first_at = first_by = crossing = back = peak = lowest = before_at = quiet = speed = 0
}

# The growth is counted from its start to the crossing: as it was, not as it was asked for.
# What earlyoom and nohang go by is MemAvailable; the kubelet's formula is what the others go by, or are measured against.
function own(kubelet, available) { return value["contender"] ~ /^(earlyoom|nohang)/ ? available : kubelet }

function signal(   at, who) {
    match($0, / [0-9]+\.[0-9]+: signal_generate/)
    at = substr($0, RSTART + 1, RLENGTH - 18) * 1e9
    match($0, / pid=[0-9]+/)
    who = pod[substr($0, RSTART + 5, RLENGTH - 5)]
    if (who != "" && !(who in shot)) { shot[who] = 1; victims = victims (victims == "" ? "" : " ") who }
    if (!first_at) { first_at = at; first_by = / code=128 / ? "kernel" : value["contender"] }
}

function sample(at, kubelet, available, held,   measure, line) {
    line = value["total"] * 0.15
    measure = own(kubelet, available)
    if (at < value["go"]) { quiet = kubelet; before = measure; before_at = at; return }
    if (!lowest || kubelet < lowest) lowest = kubelet
    if (!crossing && measure < line) {
        gap = at - before_at
        met = kubelet
        crossing = before_at + (at - before_at) * (before > measure ? (before - line) / (before - measure) : 1)
    }
    if (!speed && measure < line) speed = (quiet - kubelet) / (at - value["go"])
    before = measure; before_at = at
    if (held > peak) peak = held
    if (!back && peak > 32 * MiB && held < peak / 10) back = at
}

function tell(   right) {
    right = victims == "" ? "" : victims == "hog" ? "yes" : "no"
    printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", value["contender"], value["case"], value["round"],
        crossing && first_at ? sprintf("%.2f", (first_at - crossing) / 1e6) : "",
        crossing && back ? sprintf("%.1f", (back - crossing) / 1e6) : "", first_at ? first_by : "", right, victims,
        value["oom_kills"], lowest ? sprintf("%.1f", lowest / MiB) : "",
        value["total"] ? sprintf("%.1f", (value["total"] * 0.15 - 20e6 * speed) / MiB) : "",
        crossing ? sprintf("%.1f", (met - 20e6 * speed) / MiB) : "", value["cpu_ns"] == "" ? "" : sprintf("%.1f", value["cpu_ns"] / 1e6),
        value["idle_s"] ? sprintf("%.3f", value["idle_cpu_ns"] / value["idle_s"] / 1e7) : "",
        value["rss_idle_kib"] == "" ? "" : sprintf("%.1f", value["rss_idle_kib"] / 1024),
        value["rss_most_kib"] == "" ? "" : sprintf("%.1f", value["rss_most_kib"] / 1024), crossing ? sprintf("%.1f", gap / 1e6) : "",
        speed ? sprintf("%.0f", speed * 1e9 / MiB) : "", value["error"]
}
