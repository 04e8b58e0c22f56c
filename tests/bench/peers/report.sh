#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The comparison's raw files to a table on stdout, and RESULTS/runs.csv and RESULTS/peers.svg beside them. Remarks on these
# runs are taken from RESULTS/remarks.md, if there is one. Measures nothing. NEWEST: results with another kernel.
# usage: report.sh RESULTS [NEWEST]
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../machine.sh
. "$(dirname "$0")/../machine.sh"
here=$top/tests/bench/peers
results=$1 newest=${2:-}
shopt -s nullglob
files=("$results"/*.*.[0-9]*.csv)
[ ${#files[@]} -gt 0 ] || die "no runs in $results"
awk -v header=1 -f "$here/numbers.awk" "${files[@]}" > "$results/runs.csv"

# A run in which the host had other things to do is none: the pod did not grow as it was told to.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { asked = $2 == "slow" ? 100 : $2 == "fast" || $2 == "culprit" ? 500 : 0; speed = $column["speed"] }
    asked && speed != "" && (speed < asked * 0.8 || speed > asked * 1.2) {
        print "report.sh: disturbed, delete it and play it again: " $1 "." $2 "." $3 ".csv, " speed " MiB/s" }' "$results/runs.csv" >&2

version() { sed -n "s/^$1 //p" "${2:-$results}/versions.csv" 2>/dev/null | head -n 1; }
rounds() { awk -F, 'NR > 1 && $3 > most { most = $3 } END { print most + 0 }' "$1/runs.csv"; } # rounds RESULTS: played

cat << END
# Side by side with what people use instead

Measured $(date -u -r "${files[-1]}" +%F) by \`make peers\`: everybody in the same virtual machine, on the same pods and the same
growing pod. Every number is a median of up to $(rounds "$results") runs with (lowest..highest); raw samples stay in \`build/peers\`.

| | |
|---|---|
| machine | QEMU, emulated (TCG), 2 vCPU, $(version memory), on $(nproc) x $(cpu_model) |
| kernel | $(version kernel), stock Debian, pure cgroup v2, PSI on, no swap |
| evictd | $(version evictd), commit $(cat "$results/source.txt" 2> /dev/null || echo "not known") |
| earlyoom | $(version earlyoom) |
| nohang | $(version nohang), on python3 $(version python3) |
| oomd | $(version oomd) |
| systemd-oomd | $(version systemd-oomd), systemd as PID 1 |
| poller | \`tests/bench/peers/poller.cpp\`: the kubelet's formula and order every 10 s |

END
awk -f "$here/table.awk" "$results/runs.csv"
newest_kernel() {
    local raw=("$newest"/*.*.[0-9]*.csv)
    [ -n "$newest" ] && [ ${#raw[@]} -gt 0 ] || return 0
    awk -v header=1 -f "$here/numbers.awk" "${raw[@]}" > "$newest/runs.csv"
    printf '## The newest kernel\n\n%s of Debian sid, measured %s, %s runs. All else is as above, with fewer contenders.\n\n' \
        "$(version kernel "$newest")" "$(date -u -r "${raw[-1]}" +%F)" "$(rounds "$newest")"
    awk -v brief=1 -f "$here/table.awk" "$newest/runs.csv"
}
newest_kernel
cat "$here/method.md"
[ ! -s "$results/remarks.md" ] || { printf '\n## About these runs\n\n'; cat "$results/remarks.md"; }

# The picture: of every contender the run whose signal came at its median, or the last if it never came.
picture() {
    local name round
    echo "series,x,y"
    for name in evictd earlyoom-fast nohang-fast oomd-fast systemd-oomd-fast poller kernel; do
        round=$(awk -F, -v name="$name" '$1 == name && $2 == "fast" { print ($4 == "" ? 1e9 : $4) "," $3 }' "$results/runs.csv" |
            sort -g | awk -F, '{ round[NR] = $2 } END { if (NR) print round[int((NR + 1) / 2)] }')
        [ -z "$round" ] || awk -F, -v name="$name" -f "$here/curve.awk" "$results/$name.fast.$round.csv"
    done
}
picture > "$results/picture.csv"
line=$(awk '/^# total/ { printf "%.0f", $3 * 0.15 / 1048576; exit }' "${files[@]}")
[ "$(wc -l < "$results/picture.csv")" -le 1 ] ||
    awk -v title="Memory left while a pod grows by 500 MiB/s" -v xlabel="ms after the threshold was crossed" \
        -v ylabel="MiB left, as each of them counts" -v yline="$line,threshold 15 %" -f "$top/tests/bench/plot.awk" \
        "$results/picture.csv" > "$results/peers.svg"
