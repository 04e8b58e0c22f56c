# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# One run's raw file to a line of the picture, every 5 ms: rows "SERIES,ms after the crossing,MiB left", both by the contender's
# own measure (numbers.awk: own()).
# usage: awk -F, -v name=SERIES -f curve.awk RUN.csv
/^# total/ { split($0, word, " "); line = word[3] * 0.15 }
/^[0-9]+,/ {
    n++
    at[n] = $1 / 1e6
    left[n] = name ~ /^(earlyoom|nohang)/ ? $3 : $2 + $4
    if (!crossed && left[n] < line) crossed = at[n]
}
END {
    if (!crossed) exit
    for (i = 1; i <= n; i++) {
        x = at[i] - crossed
        if (x < -200 || x > 1500 || (drawn && at[i] - drawn < 5)) continue
        drawn = at[i]
        printf "%s,%.1f,%.1f\n", name, x, left[i] / 1048576
    }
}
