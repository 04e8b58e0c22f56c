#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Google Benchmark's CSV of evictd_bench as lines of figures.tsv: CPU times in the order of first appearance; what is not
# one repetition (_mean, _median, ...) is left out.
# usage: decide_figures.sh < CSV
exec awk -F, '
    { gsub(/"/, ""); name = $1 }
    name !~ /^(decide|replay)/ || name ~ /_(mean|median|stddev|cv)$/ { next }
    {
        if (name ~ /^decide_reclaiming/) { name = "decide_reclaiming, 250 pods, " (name ~ /0$/ ? "carried along" : "judged") }
        else if (sub(/^replay_/, "replay of 1,000 steps and 100 pods, as ", name) == 0) { sub("/", ", ", name); name = name " pods" }
        if (!(name in samples)) order[++n] = name
        samples[name] = samples[name] "\t" $4
        unit[name] = $5
    }
    END { for (i = 1; i <= n; i++) printf "decide\t%s\t%s%s\n", order[i], unit[order[i]], samples[order[i]] }'
