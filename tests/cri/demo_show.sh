# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# What demo_play.sh shows of the disk: what is free, and where the threshold is. Sourced, never run.

# shellcheck disable=SC2154  # demo_play.sh has work, threshold; lib.sh has rig, top; show.sh the colours
# shellcheck source-path=SCRIPTDIR source=../tools/show.sh
. "$top/tests/tools/show.sh"
left=0       # MiB on the disk, when it was last measured
total=
measure() {
    local free size block
    read -r free size block < <(stat -f -c '%a %b %S' "$rig")
    left=$((free * block >> 20)) total=$((size * block >> 20))
}
bar() { # what is used, and where the threshold is
    local width=40 used mark i text='' colour=$green
    used=$(((total - left) * width / total)) mark=$(((total - threshold) * width / total))
    [ "$left" -ge "$threshold" ] || colour=$red
    for ((i = 0; i < width; i++)); do
        if [ "$i" -eq "$mark" ]; then text+='|'; elif [ "$i" -lt "$used" ]; then text+='█'; else text+='░'; fi
    done
    printf '%s%s%s %3dMi left' "$colour" "$text" "$plain" "$left"
}
