#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Boots one machine of matrix.yaml in QEMU (emulated: no KVM, no root, no network) and runs tests/vm/cases in it, as many as
# possible in one boot. Prints "ok", "not ok" or "skip" a case; of a failed one its log, the kernel's, and how to look inside.
# usage: run.sh [-h] [-b BUILD] [-B BOOT] [-m MIB] [-c CPUS] [-a KERNEL-ARGUMENTS] [-q QEMU-ARGUMENTS] [-i] [CASE...]
#   -B BOOT  a name in matrix.yaml (its first); -m, -c, -a, -q change or add to what stands there
#   -i CASE  a shell in the guest instead, the case ready at /cases/CASE/run; leave with poweroff -f or Ctrl-A x
#   env: EVERY=1 (also the slow cases that would say nothing new in this boot), SILENCE=300 (seconds without output
#        after which a machine counts as hung)
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$top/tests/vm cases=$top/tests/vm/cases
# shellcheck source-path=SCRIPTDIR source=case.sh
. "$here/case.sh"
# shellcheck source-path=SCRIPTDIR source=machine.sh
. "$here/machine.sh"
need qemu-system-x86_64 qemu-system-x86
PATH=$PATH:/usr/sbin:/sbin
need mke2fs e2fsprogs

build=$top/build boot="" interactive=no
own_memory="" own_cpus="" own_append="" own_qemu=""
usage() { sed -n '/^# usage:/,/^[^#]/s/^# //p' "$0"; }
while getopts hb:B:m:c:a:q:i option; do
    case $option in
        b) build=$OPTARG ;; B) boot=$OPTARG ;; i) interactive=yes ;;
        m) own_memory=$OPTARG ;; c) own_cpus=$OPTARG ;; a) own_append=$OPTARG ;; q) own_qemu=$OPTARG ;;
        h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
# How to come back to this machine.
again="tests/vm/run.sh -b $build -B ${boot:=$(awk -f "$here/matrix.awk" "$here/matrix.yaml" | head -n 1)}"
again+="${own_memory:+ -m $own_memory}${own_cpus:+ -c $own_cpus}${own_append:+ -a ${own_append@Q}}${own_qemu:+ -q ${own_qemu@Q}}"
read_boot "$boot"
memory=${own_memory:-$memory} cpus=${own_cpus:-$cpus} append="$append $own_append" qemu="$qemu $own_qemu"
if [ $# -eq 0 ]; then named=no && [ "${EVERY:-0}" != 1 ] || named=yes; mapfile -t wanted < <(case_names); else named=yes wanted=("$@"); fi
for name in "${wanted[@]}"; do check_case "$name"; done
prepare_machine
fetched=$?

passed=0 failed=0 qemu_pid=""
rm -f "$work"/*.forgiven.log
: > "$work/results" # STATE CASE SECONDS, for matrix.sh
stop() { [ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null; rm -f "$work"/{disk.img,initrd.gz,monitor.in,monitor.out}; }
trap stop EXIT
trap 'exit 130' INT TERM

say() { # say STATE CASE SECONDS TEXT: one block, also where several machines talk at once
    echo "$1 $2 $3" >> "$work/results"
    (flock 9 && printf '%s\n' "${1/not/not ok} $boot $2: $4") 9> "$build/vm/.say"
}
# The kernel of another Debian release cannot be had here: no fault of ours, and no success either.
if [ "$fetched" -eq 75 ]; then
    say skip host 0 "the kernel '$kernel' cannot be fetched"
    echo "unbooted $boot" >> "$work/results"
    echo "total 0 $SECONDS 0" >> "$work/results"
    exit 75
fi
[ "$fetched" -eq 0 ] || exit 1

pass() { passed=$((passed + 1)); say ok "$1" "$2" "$3 ($2 s)"; }
fail() { # fail CASE SECONDS REASON LOG: what its tests said of failures, then the logs, as a block of indented lines
    local said
    said=$(grep -aE -A6 ': Failure$|^\[  FAILED  \] .*ms\)' "$4" | head -n 30 | sed 's/^/  | /')
    failed=$((failed + 1))
    say not "$1" "$2" "$3${said:+
$said}
  ---- output ----
$(tail -n 80 "$4" | sed 's/^/  /')
  ---- kernel log ----
$(tail -n 30 "${4%.log}.dmesg" 2>/dev/null | sed 's/^/  /')
  ---- look inside: $again -i ${1/#host/${wanted[0]}}"
}

judge() { # judge CASE STATUS SECONDS: what the case promised against what it did
    local name=$1 status=$2 seconds=$3 log=$work/$1.log wrong
    if [ "$name" = host ]; then
        if [ "$status" -eq 0 ]; then pass host "$seconds" "a $kernel kernel, $cgroups, has $has"; return; fi
        fail host "$seconds" "not the machine that matrix.yaml says: $(sed -n 's/^WRONG //p' "$log" | paste -sd';')" "$log"
        return
    fi
    wrong=$(verdict "$name" "$status" "$seconds" "$(limit_of "$name")" "$log")
    if [ -n "$wrong" ]; then fail "$name" "$seconds" "$wrong" "$log"; else pass "$name" "$seconds" "$(value "$name" NAME)"; fi
}

# One line of the guest's console; follows the marks of guest/run_cases.
hear() { # hear LINE
    local name status seconds
    case $1 in
        "@@ begin "*)
            running=${1#@@ begin } into=$work/$running.log
            rm -f "$work/$running".{log,dmesg}
            [ "$running" = host ] && deadline=$((SECONDS + 60)) || deadline=$((SECONDS + $(limit_of "$running") + 30))
            ;;
        "@@ file "*) into=$work/$(basename "${1#@@ file }"); : > "$into" ;;
        "@@ dmesg "*) into=$work/$running.dmesg; : > "$into" ;;
        "@@ end "*)
            read -r _ _ name status seconds <<< "$1"
            into=$work/boot.log running="" deadline=$((SECONDS + 60)) finished+=" $name "
            [ "$name" != host ] || host=$status
            [[ $name == host && $boots -gt 1 && $status -eq 0 ]] || judge "$name" "$status" "$seconds"
            ;;
        *) printf '%s\n' "$1" >> "$into" ;;
    esac
}

# Seconds without a line of output after which a machine counts as hung. A case prints something more often, or has a limit
# that is lower.
silence=${SILENCE:-300}

# Sends an NMI to a machine that has printed nothing for too long. The kernel is told to panic at an NMI of unknown cause
# (unknown_nmi_panic), and then prints a backtrace. Sets $end to how the machine ended, with the place in the kernel, and
# $deaf to yes if nothing was printed even then.
wake() { # wake CONSOLE
    local line until=$((SECONDS + 60))
    end="no word in time"
    deaf=yes
    echo nmi 1<> "$work/monitor.in"
    while [ "$SECONDS" -lt "$until" ] && IFS= read -r -t 20 line <&"$1"; do
        line=${line//$'\r'/}
        deaf=no
        printf '%s\n' "$line" >> "$into"
        [[ $line != *RIP:* || $end == *" at an NMI "* ]] || end="no word in time; at an NMI it was at ${line#*RIP: }"
    done
    [ "$deaf" = no ] || end="no word in time, and none to an NMI"
    kill -KILL "$qemu_pid" 2>/dev/null
}

# One boot. Judges every case that ends; leaves the name of one that was under way when the machine died in $running, and in
# $end how the machine ended.
run_boot() { # run_boot CASE...
    local line console status left
    pack "$@" || exit 1
    rm -f "$work"/monitor.{in,out}
    mkfifo "$work"/monitor.{in,out} || exit 1
    exec {console}< <(exec "${machine[@]}" -serial stdio -append "$arguments" -chardev "pipe,id=monitor,path=$work/monitor" \
        -mon chardev=monitor < /dev/null 2>&1)
    qemu_pid=$! running="" finished="" host="" into=$work/boot.log
    : > "$into"
    deadline=$((SECONDS + 90)) # to init it takes 3 s on a quiet machine
    end=late deaf=no
    while left=$((deadline - SECONDS)) && [ "$left" -gt 0 ]; do
        IFS= read -r -t $((left < silence ? left : silence)) line <&"$console" || { [ $? -gt 128 ] || end=ended; break; }
        hear "${line//$'\r'/}"
    done
    [ "$end" != late ] || wake "$console"
    exec {console}<&-
    wait "$qemu_pid" 2>/dev/null
    status=$?
    [ "$end" != ended ] || end="QEMU ended with status $status"
    qemu_pid=""
}

if [ "$interactive" = yes ]; then
    [ $# -eq 1 ] || die "-i wants one case"
    pack "$1" || exit 1
    echo "run it with: sh /cases/$1/run"
    "${machine[@]}" -serial mon:stdio -append "$arguments evictd.shell"
    exit
fi

pending=()
for name in "${wanted[@]}"; do
    reason=$(why_not "$name" "$named") absent=""
    for program in $(value "$name" NEEDS) without_bpf; do [ -x "$build/$program" ] || absent=$program; done
    if [ -n "$reason" ]; then
        say skip "$name" 0 "$reason"
    elif [ -n "$absent" ]; then
        : > "$work/$name.log"
        fail "$name" 0 "no $build/$absent (make vm builds it)" "$work/$name.log"
    else
        pending+=("$name")
    fi
done

# What is the emulator's fault, and why: the case is tried once more in a new machine. The kernel patches its own code (static
# keys) behind a breakpoint; emulated, another CPU may take that breakpoint after it is gone, and the kernel panics: "Oops:
# int3". Or it takes the breakpoint for ever where the 5-byte nop is long back: a soft lockup at that nop. And a machine that
# does not even answer an NMI is taken for one that the emulator runs no more, unless its kernel had trouble before. No other
# death is forgiven, and these once a case.
emulator_fault() { # emulator_fault CASE: prints why
    local logs=("$work/$1".{log,dmesg})
    [[ $forgiven != *" $1 "* ]] || return 1
    if grep -qs "Oops: int3" "${logs[@]}"; then
        echo "int3 where the kernel patched its code"
    elif grep -qs "soft lockup" "${logs[@]}" && grep -qsE "Code: .*<(0f> 1f 44 00 00|cc>)" "${logs[@]}"; then
        echo "soft lockup where the kernel patched its code"
    elif [ "$deaf" = yes ] && ! grep -qsE "panic|BUG:|Oops|RIP:|lockup|rcu: INFO|WARNING:" "${logs[@]}"; then
        echo "no answer to an NMI"
    else
        return 1
    fi
}

# A machine that ends or hangs before its first case says nothing of evictd: once, another is tried.
boots=0 forgiven="" unborn=no
while [ ${#pending[@]} -gt 0 ]; do
    boots=$((boots + 1))
    run_boot "${pending[@]}"
    if [ "${host:-0}" -ne 0 ]; then
        for name in "${pending[@]}"; do say skip "$name" 0 "the machine is not what it should be"; done
        break
    fi
    # The machine went down under a case: that one has failed, the others get a new machine.
    dead=""
    for name in "${pending[@]}"; do
        if [[ $finished != *" $name "* ]]; then
            dead=${running/#host}
            if [ -n "$dead" ] && fault=$(emulator_fault "$dead"); then
                forgiven+=" $dead "
                cat "$work/$dead".{log,dmesg} > "$work/$dead.forgiven.log" 2> /dev/null
                echo "note $boot $dead: the emulator failed ($fault), see $work/$dead.forgiven.log; once more in a new machine"
                dead=""
            elif [ -n "$dead" ]; then
                fail "$dead" 0 "the machine died or hung: $end" "$work/$dead.log"
            elif [[ -z ${finished//[ ]/} || $finished = " host " ]] && [ "$unborn" = no ]; then
                unborn=yes
                echo "note $boot: the machine did not come up ($end); a new one is tried once. What it said:"
                tail -n 60 "$work/boot.log" | sed 's/^/  /'
            elif [[ -z ${finished//[ ]/} || $finished = " host " ]]; then
                dead=$name
                fail "$dead" 0 "the machine did not come up: $end" "$work/boot.log"
            else
                dead=$name
                fail "$dead" 0 "the machine died before this case began: $end" "$work/boot.log"
            fi
            break
        fi
    done
    rest=()
    for name in "${pending[@]}"; do [[ "$finished $dead " == *" $name "* ]] || rest+=("$name"); done
    pending=(${rest[@]+"${rest[@]}"})
done

times > "$work/times" # of this shell, then of what it started: the machines and their packing
echo "total $boots $SECONDS $(awk -F'[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$work/times")" >> "$work/results"
[ -n "${EVICTD_VM_QUIET:-}" ] ||
    echo "$boot, kernel $(basename "$kernel_dir"): $passed passed, $failed failed, $boots boot(s), $SECONDS s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
