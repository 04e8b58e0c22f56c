# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The share of each function in the samples between a tick's begin and its end. Input: "TIME: EVENT: ADDRESS NAME".
{ event = $2; sub(/:$/, "", event) }
event == "tick" { ticking = 1; next }
event == "tick_r" { ticking = 0; next }
!ticking || event != "cpu-clock" { next }
{
    name = $4
    for (i = 5; i <= NF; i++) name = name " " $i
    samples[name]++
    all++
    kernel += $3 ~ /^ffff/
}
END {
    printf "%5.1f %% of %d samples in the kernel\n", 100 * kernel / all, all
    for (name in samples) printf "%5.1f %% %s\n", 100 * samples[name] / all, substr(name, 1, 100)
}
