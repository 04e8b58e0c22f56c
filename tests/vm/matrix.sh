#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Every boot of matrix.yaml, some at once, each with every case that applies there. Prints a line a case as it ends, and at the
# end a table of boots and cases with the seconds each took. Logs and doctor's answers stay in BUILD/vm/BOOT/.
# usage: matrix.sh [-b BUILD] [-B "BOOT..."] [-j MACHINES-AT-ONCE] [CASE...]     env: VM_BOOTS=part: all boots but those in
#        turns, and one of these
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$top/tests/vm

# Two: half of a case's time is sleeping and waiting, and an emulated CPU is a thread that takes a whole one of ours. With
# more, cases meet their time limits on a machine of two CPUs.
build=$top/build boots="" at_once=2
while getopts b:B:j: option; do
    case $option in
        b) build=$OPTARG ;; B) boots=$OPTARG ;; j) at_once=$OPTARG ;;
        *) sed -n '/^# usage:/,/^[^#]/s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))

all=$(awk -f "$here/matrix.awk" "$here/matrix.yaml") || exit 1
# All but those in turns, and one of these.
part() {
    local turn in_turns
    mapfile -t in_turns < <(awk -v turns=1 -f "$here/matrix.awk" "$here/matrix.yaml")
    turn=$(turn ${#in_turns[@]}) || { echo "$all"; return; }
    awk -v turns=0 -f "$here/matrix.awk" "$here/matrix.yaml"
    echo "${in_turns[turn]}"
}
left_out=""
case ${VM_BOOTS:-all} in
    all) ;;
    part)
        if [ -z "$boots" ]; then
            boots=$(part)
            left_out=$(grep -vxF "$boots" <<< "$all")
        fi
        ;;
    *) die "VM_BOOTS is all or part, not '$VM_BOOTS'" ;;
esac
boots=${boots:-$all}
for boot in $boots; do
    [[ $'\n'$all$'\n' == *$'\n'$boot$'\n'* ]] || die "no boot '$boot' (${all//$'\n'/ })"
done
mkdir -p "$build/vm" || exit 1
declare -A pid_of=()
trap 'kill "${pid_of[@]}" 2>/dev/null; wait' EXIT
trap 'exit 130' INT TERM

begin=$SECONDS
for boot in $boots; do
    rm -f "$build/vm/$boot/results"
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    EVICTD_VM_QUIET=1 "$here/run.sh" -b "$build" -B "$boot" "$@" &
    pid_of[$boot]=$!
done
results=()
for boot in $boots; do
    wait "${pid_of[$boot]}"
    status=$?
    unset "pid_of[$boot]"
    results+=("$build/vm/$boot/results")
    # A boot that cannot say what failed has failed all the same.
    if ! grep -q '^total ' "$build/vm/$boot/results" 2>/dev/null; then
        echo "not ok $boot: the boot ended with status $status before its cases did"
        mkdir -p "$build/vm/$boot"
        echo "not host 0" >> "$build/vm/$boot/results"
    fi
done

for boot in $left_out; do echo "skip $boot: not in this run, as it is booted in turns (VM_BOOTS=part; make vm boots all)"; done
echo
awk -f "$here/table.awk" "${results[@]}"
echo
cat "${results[@]}" | awk -v seconds=$((SECONDS - begin)) -v boots=${#results[@]} -v logs="$build/vm" '
    $1 == "not" { failed++ } $1 == "skip" { skipped++ }
    $1 == "ok" { ok++; cases += $2 != "host" }
    $1 == "unbooted" { unbooted = unbooted " " $2 }
    END {
        if (unbooted != "") print "not booted, as the kernel could not be fetched:" unbooted
        printf "%d boots: %d passed, %d failed, %d skipped, %d s; logs in %s\n", boots, ok, failed, skipped, seconds, logs
        exit failed > 0 || cases + 0 == 0
    }'
