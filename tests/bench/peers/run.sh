#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Side by side with what people use instead: everybody in the same virtual machine, on the same pods and the same growing pod.
# Boots Debian 12 with its stock kernel, or another, under QEMU (emulated), plays the plan, makes the table and the picture. A run
# whose result is in the result directory is not repeated, so an interrupted comparison can be continued.
# usage: run.sh [-b BUILD] [-k BOOT] [-o RESULTS] [-n RUNS] [-c "CONTENDER..."] [-w "CASE..."] [-r]
#   -k  the kernel of this boot of tests/vm/matrix.yaml (6.1-v2). With another than 6.1-v2: fewer contenders, no table; the next
#       report shows those of sid-v2 as "the newest kernel". Exit status 75: that kernel cannot be fetched
#   -r  report only, from what is there     env: QUICK=1 (one run each), PEERS_KEEP=1 (leave the table in tests/bench alone)
#   contenders: kernel poller earlyoom[-fast] oomd[-fast] systemd-oomd[-fast] nohang[-fast] evictd
#   cases: idle slow fast full culprit busy
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../machine.sh
. "$(dirname "$0")/../machine.sh"
here=$top/tests/bench/peers
PATH=$PATH:/usr/sbin:/sbin

build=$top/build boot=6.1-v2 results="" newest="" runs=5 report_only=no
contenders="" cases=""
[ "${QUICK:-0}" != 1 ] || runs=1
while getopts b:k:o:n:c:w:r option; do
    case $option in
        b) build=$OPTARG ;; k) boot=$OPTARG ;; o) results=$OPTARG ;; n) runs=$OPTARG ;; c) contenders=$OPTARG ;; w) cases=$OPTARG ;;
        r) report_only=yes ;;
        *) sed -n '/^# usage:/,/^[^#]/s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
build=$(realpath "$build") || die "no build (run: make peers)"
if [ "$boot" = 6.1-v2 ]; then
    results=${results:-$build/peers} newest=$build/peers-sid-v2
    contenders=${contenders:-kernel poller earlyoom earlyoom-fast oomd oomd-fast systemd-oomd systemd-oomd-fast nohang nohang-fast evictd}
    cases=${cases:-idle slow fast full culprit busy}
else
    results=${results:-$build/peers-$boot}
    contenders=${contenders:-kernel earlyoom-fast evictd}
    cases=${cases:-slow fast full culprit busy}
fi
work=$results/work
mkdir -p "$results" "$work" || exit 1
programs=(evictd peers_observer peers_poller vm_load)
for program in "${programs[@]}"; do
    [ "$report_only" = yes ] || [ -x "$build/$program" ] || die "no $build/$program (run: make peers)"
done
qemu_pid=
# shellcheck disable=SC2317  # called by trap
stop() {
    [ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null
    gather
}
trap stop EXIT
trap 'exit 130' INT TERM

# Each round in another order, the same every time: a noisy minute hits all, and so does being the first.
plan() {
    local round what name
    for ((round = 1; round <= runs; round++)); do
        for what in $cases; do
            [ "$what" != idle ] || [ "$round" -eq 1 ] || continue
            while read -r name; do
                [ "$what" != idle ] || [ "$name" != kernel ] || continue
                [ -s "$results/$name.$what.$round.csv" ] || echo "$name.$what.$round $name $what $round"
            done < <(tr -s ' ' '\n' <<< "$contenders" | shuf --random-source=<(yes "$round$what"))
        done
    done
}

gather() { # what came through the port, a file a run; of a run without its end nothing is kept
    [ -s "$work/stream" ] || return 0
    awk -v results="$results" '
        { sub(/\r$/, "") }
        /^@@ run / { name = $3; lines = 0; next }
        /^@@ end / {
            if (name == $3) {
                file = results "/" name ".csv"
                for (i = 1; i <= lines; i++) print line[i] > file
                close(file)
            }
            name = ""
            next
        }
        name != "" { line[++lines] = $0 }' "$work/stream"
    rm -f "$work/stream"
}

share() { # the disk with the programs and the plan
    local program
    rm -rf "$work/share" "$work/share.img"
    mkdir -p "$work/share/bin"
    cp -r "$here/guest" "$work/share/"
    cp "$work/plan" "$work/share/plan"
    for program in "${programs[@]}"; do
        strip -o "$work/share/bin/$program" "$build/$program" || return 1
    done
    mke2fs -q -t ext4 -d "$work/share" "$work/share.img" 128M > /dev/null
}

# -erms and tb-size: as tests/vm/machine.sh says.
boot() { # one machine, until the plan is played or the machine is gone
    local seconds
    seconds=$((120 + 60 * $(wc -l < "$work/plan")))
    share || exit 1
    rm -f "$work/stream" "$work/console.log"
    timeout -k 5 "$seconds" qemu-system-x86_64 -accel "tcg,thread=multi,tb-size=64" -cpu "max,-erms" -m 2048 -smp 2 -nodefaults -display none \
        -no-reboot -kernel "$kernel/vmlinuz" -initrd "$disk/initrd.gz" \
        -drive "file=$disk/disk.img,if=virtio,format=raw,snapshot=on" \
        -drive "file=$work/share.img,if=virtio,format=raw,readonly=on" \
        -device virtio-serial -chardev "file,id=out,path=$work/stream" -device virtserialport,chardev=out,name=out \
        -serial stdio < /dev/null > >(tee "$work/console.log" | sed -un 's/\r$//; s/^peers: //p') 2>&1 \
        -append "console=ttyS0 loglevel=1 panic=-1 psi=1 cgroup_no_v1=all systemd.show_status=0" &
    qemu_pid=$!
    # A guest that says nothing at all hangs before its init (seen once in twenty boots); it is up after 20 s at the latest.
    for ((seconds = 0; seconds < 120; seconds++)); do
        if [ -s "$work/console.log" ] || ! kill -0 "$qemu_pid" 2>/dev/null; then break; fi
        sleep 1
    done
    [ -s "$work/console.log" ] || kill "$qemu_pid" 2>/dev/null
    wait "$qemu_pid"
    qemu_pid=
    gather
}

measure() {
    local before left silent=0
    need qemu-system-x86_64 qemu-system-x86
    need mke2fs e2fsprogs
    kernel=$(awk -v boot="$boot" -f "$top/tests/vm/matrix.awk" "$top/tests/vm/matrix.yaml" | sed -n 's/^kernel\t//p') || exit 1
    kernel=$("$top/tests/vm/kernel.sh" "$kernel") || exit
    [ -s "$results/source.txt" ] || tree_name > "$results/source.txt"
    disk=$("$here/root.sh" "$kernel" "${programs[@]/#/$build/}") || exit 1
    plan > "$work/plan"
    left=$(wc -l < "$work/plan")
    while [ "$left" -gt 0 ]; do
        before=$left
        echo "$left runs to play"
        boot
        plan > "$work/plan"
        left=$(wc -l < "$work/plan")
        # A machine that died takes one run with it, and another is booted; two that play nothing are no use.
        if [ "$left" -lt "$before" ]; then silent=0; else silent=$((silent + 1)); fi
        [ "$silent" -lt 2 ] || { tail -n 20 "$work/console.log"; die "the guest plays nothing ($work/console.log)"; }
    done
}

gather # of a comparison that was killed
[ "$report_only" = yes ] || measure
"$here/report.sh" "$results" "$newest" > "$work/peers.md" || die "no report from $results"
cat "$work/peers.md"
if [ "$boot" = 6.1-v2 ] && [ "${PEERS_KEEP:-0}" != 1 ] && [ "${QUICK:-0}" != 1 ]; then
    cp "$work/peers.md" "$top/tests/bench/peers.md"
    cp "$results/peers.svg" "$top/tests/bench/peers.svg"
fi
