#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What a survey of all pods' files takes, against du over the same directories: 110 pods with 500,000 files, page cache
# warm and cold, in pairs of runs whose ratio is the result. As root: the files are in an ext4 of its own in a file, read
# with direct I/O, which only this script sees and which is deleted afterwards (4 GiB). Five minutes.
# usage: run.sh     env: BUILD (build), TMPDIR, PODS, FILES, PAIRS, REST (seconds at rest), BENCH_QUICK=1 (a tenth of the files, 3 pairs),
#                        THREADS ("2 4": walks with these numbers of threads, in turns; empty: as many as the agent has)
# Exit: 0 each walk is at least twice as fast as du, 1 not, 2 it could not be measured.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
[ "$(id -u)" -eq 0 ] || die "needs root to mount a filesystem (sudo $0)"
build=$(realpath "${BUILD:-$top/build}")
program=$build/evictd_disk_bench
[ -x "$program" ] || die "no $program (run: tests/tools/build.sh build evictd_disk_bench)"
# A mount namespace of its own: whatever happens, the mounts end with it.
[ "${EVICTD_DISK_BENCH:-}" = inside ] || EVICTD_DISK_BENCH=inside exec unshare -m --propagation private "$0"

pods=${PODS:-110} files=${FILES:-500000} pairs=${PAIRS:-7}
read -ra threads <<< "${THREADS:-0}" # 0: as the agent
[ "${BENCH_QUICK:-0}" != 1 ] || files=$((files / 10)) pairs=3
directory=$(mktemp -d)
loop=
# shellcheck disable=SC2317  # by the trap
clean_up() {
    umount "$directory/mnt" 2> /dev/null || true
    [ -z "$loop" ] || losetup -d "$loop" || true
    rm -rf --one-file-system "$directory"
}
trap clean_up EXIT
# Both nearly have the CPUs to themselves, whatever else runs here. Not by a real-time priority: the kernel leaves threads of
# the same one on the CPU where they began, and a walk of two threads was one CPU's in half of the runs.
alone=(nice -n -20)
now_ms() { local ns; ns=$(date +%s%N); echo $((ns / 1000000)); }

mkdir "$directory/mnt"
truncate -s 12G "$directory/image"
mkfs.ext4 -q -F -N $((files * 12 / 10 + 10000)) "$directory/image"
loop=$(losetup --show -f --direct-io=on "$directory/image")
attach() { mount -o noatime "$loop" "$directory/mnt"; }
# shellcheck disable=SC2317  # by name
cold() { umount "$directory/mnt" && attach; } # forgets this filesystem's caches, and those of no other
attach
"$program" make "$directory/mnt" "$pods" "$files"
sync -f "$directory/mnt"

du_run() { # prints BYTES MILLISECONDS
    local begin bytes
    begin=$(now_ms)
    bytes=$("${alone[@]}" du -s --block-size=1 "$directory"/mnt/pods/* | awk '{ sum += $1 } END { printf "%.0f", sum }')
    echo "$bytes $(($(now_ms) - begin))"
}
pair() { # pair PREPARE: for each pair a line for each number of threads
    local i du walk count
    for ((i = 0; i < pairs; i++)); do
        $1; read -ra du <<< "$(du_run)"
        for count in "${threads[@]}"; do
            $1; read -ra walk <<< "$("${alone[@]}" "$program" walk "$directory/mnt" "$count")" || die "the walk is not complete"
            [ "${du[0]}" = "${walk[0]}" ] || die "du counts ${du[0]} bytes, the walk ${walk[0]}"
            echo "$count ${du[1]} ${walk[2]} ${walk[3]} ${walk[4]}"
        done
    done
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
measure() { # measure LABEL PREPARE
    local all lines count
    all=$(pair "$2") || exit 2
    for count in "${threads[@]}"; do
        lines=$(grep "^$count " <<< "$all")
        show "$1" "$count" "$lines" || status=1
    done
}
show() { # show LABEL THREADS LINES: exit 1 where it is not twice as fast
    local lines=$3 ratio label=$1
    [ "$2" = 0 ] || label="$1, $2 threads"
    ratio=$(awk '{ printf "%.2f\n", $2 / $3 }' <<< "$lines" | median)
    printf '  %-5s du %6d ms, walk %6d ms (CPU %5d ms, %5d KiB resident): %s times as fast, medians of %d pairs, wanted 2: %s\n' "$label" \
        "$(awk '{ print $2 }' <<< "$lines" | median)" "$(awk '{ print int($3) }' <<< "$lines" | median)" \
        "$(awk '{ print int($4) }' <<< "$lines" | median)" "$(awk '{ print $5 }' <<< "$lines" | median)" "$ratio" "$pairs" \
        "$(awk -v ratio="$ratio" 'BEGIN { print (ratio >= 2 ? "met" : "MISSED") }')"
    awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 2) }'
}

echo "survey of $pods pods with $files files on ext4, $(nproc) CPUs, load $(cut -d ' ' -f 1 /proc/loadavg)"
status=0
du_run > /dev/null
measure warm :
measure cold cold
echo "  $("$program" survey "$directory/mnt" "${REST:-120}")"
exit "$status"
