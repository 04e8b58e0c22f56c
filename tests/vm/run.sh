#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Boots a stock Debian kernel in QEMU (emulated: no KVM, no root, no network) and runs tests/vm/cases in it, as many as
# possible in one boot. Prints "ok", "not ok" or "skip" a case; of a failed one its log, the kernel's, and how to look inside.
# usage: run.sh [-b BUILD] [-k KERNEL] [-m MIB] [-c CPUS] [-a KERNEL-ARGUMENTS] [-i] [CASE...]
#   -i CASE  a shell in the guest instead, the case ready at /cases/CASE/run; leave with poweroff or Ctrl-A x
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$top/tests/vm
need qemu-system-x86_64 qemu-system-x86
PATH=$PATH:/usr/sbin:/sbin
need mke2fs e2fsprogs

build=$top/build kernel=6.1 memory=2048 cpus=2 append="" interactive=no
while getopts b:k:m:c:a:i option; do
    case $option in
        b) build=$OPTARG ;; k) kernel=$OPTARG ;; m) memory=$OPTARG ;; c) cpus=$OPTARG ;; a) append=$OPTARG ;;
        i) interactive=yes ;;
        *) sed -n '5,6s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
    for file in "$here"/cases/*.case; do set -- "$@" "$(basename "$file" .case)"; done
fi
[ "$interactive" = no ] || [ $# -eq 1 ] || die "-i wants one case"
for name in "$@"; do
    [ -r "$here/cases/$name.case" ] ||
        die "no case '$name' ($(cd "$here/cases" && printf '%s\n' *.case | sed 's/\.case$//' | paste -sd' '))"
done

kernel_dir=$("$here/kernel.sh" "$kernel") || exit 1
work=$build/vm/$kernel
mkdir -p "$work" || exit 1
qemu_pid=
stop() { [ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null; rm -f "$work/disk.img"; }
trap stop EXIT
trap 'exit 130' INT TERM

values() { sed -n "/^RUN:/q; s/^$2: *//p" "$here/cases/$1.case"; } # values CASE KEY: one a line
value() { values "$1" "$2" | tail -n 1; }
limit_of() { local seconds; seconds=$(value "$1" TIMEOUT); echo "${seconds:-60}"; }

pack() { # pack CASE...: initramfs and an empty disk
    local name programs=() program
    rm -rf "$work/cases"
    mkdir -p "$work/cases"
    for name in "$@"; do
        mkdir -p "$work/cases/$name"
        sed '1,/^RUN:/d' "$here/cases/$name.case" > "$work/cases/$name/run"
        limit_of "$name" > "$work/cases/$name/timeout"
        echo "$name" >> "$work/cases/order"
        for program in $(value "$name" NEEDS); do
            [[ " ${programs[*]-} " == *" $build/$program "* ]] || programs+=("$build/$program")
        done
    done
    "$here/initramfs.sh" "$work/initrd.gz" "$kernel_dir" "$work/cases" ${programs[@]+"${programs[@]}"} || return 1
    rm -f "$work/disk.img"
    truncate -s 2G "$work/disk.img" && mke2fs -q -F -t ext4 "$work/disk.img"
}

# loglevel=1: the kernel's chatter would run through the cases' output; it is in dmesg. A panic is printed all the same.
qemu=(qemu-system-x86_64 -accel "tcg,thread=multi" -cpu max -m "$memory" -smp "$cpus" -nodefaults -display none -no-reboot
    -kernel "$kernel_dir/vmlinuz" -initrd "$work/initrd.gz"
    -drive "file=$work/disk.img,if=virtio,format=raw,cache=unsafe")
arguments="console=ttyS0 loglevel=1 panic=-1 oops=panic psi=1 cgroup_no_v1=all $append"

passed=0 failed=0
fail() { # fail CASE REASON LOG DMESG
    failed=$((failed + 1))
    echo "not ok $1: $2"
    echo "  ---- output ----"
    tail -n 80 "$3" | sed 's/^/  /'
    echo "  ---- kernel log ----"
    tail -n 30 "$4" 2>/dev/null | sed 's/^/  /'
    echo "  ---- look inside: tests/vm/run.sh -b $build -k $kernel -m $memory -c $cpus${append:+ -a ${append@Q}} -i $1"
}

judge() { # judge CASE STATUS SECONDS: what the case promised against what it did
    local name=$1 status=$2 seconds=$3 log=$work/$1.log wrong="" wanted pattern
    wanted=$(value "$name" EXIT)
    if [ "$seconds" -ge "$(limit_of "$name")" ]; then
        wrong="no end after $(limit_of "$name") s"
    elif [ "$status" -ne "${wanted:-0}" ]; then
        wrong="exit status $status, not ${wanted:-0}"
    fi
    while IFS= read -r pattern; do
        [ -z "$pattern" ] || grep -qE -- "$pattern" "$log" || wrong="${wrong:+$wrong; }no line matches '$pattern'"
    done < <(values "$name" EXPECT)
    while IFS= read -r pattern; do
        [ -z "$pattern" ] || ! grep -qE -- "$pattern" "$log" || wrong="${wrong:+$wrong; }a line matches '$pattern'"
    done < <(values "$name" REFUSE)
    if [ -n "$wrong" ]; then
        fail "$name" "$wrong" "$log" "$work/$name.dmesg"
    else
        passed=$((passed + 1))
        echo "ok $name: $(value "$name" NAME) ($seconds s)"
    fi
}

# One boot. Judges every case that ends; leaves the name of one that was under way when the machine died in `running`.
boot() { # boot CASE...
    local limit=60 name line console into
    for name in "$@"; do limit=$((limit + $(limit_of "$name") + 6)); done
    pack "$@" || exit 1
    exec {console}< <(exec timeout -k 5 "$limit" "${qemu[@]}" -serial stdio -append "$arguments" < /dev/null 2>&1)
    qemu_pid=$! running="" into=$work/boot.log
    : > "$into"
    while IFS= read -r line <&"$console"; do
        line=${line//$'\r'/}
        case $line in
            "@@ begin "*) running=${line#@@ begin }; into=$work/$running.log; : > "$into" ;;
            "@@ dmesg "*) into=$work/$running.dmesg; : > "$into" ;;
            "@@ end "*)
                read -r _ _ name status seconds <<< "$line"
                into=$work/boot.log running=""
                finished+=" $name "
                judge "$name" "$status" "$seconds"
                ;;
            *) printf '%s\n' "$line" >> "$into" ;;
        esac
    done
    exec {console}<&-
    wait "$qemu_pid" 2>/dev/null
    qemu_pid=
}

if [ "$interactive" = yes ]; then
    pack "$1" || exit 1
    echo "run it with: sh /cases/$1/run"
    "${qemu[@]}" -serial mon:stdio -append "$arguments evictd.shell"
    exit
fi

pending=()
for name in "$@"; do
    absent=""
    for program in $(value "$name" NEEDS); do [ -x "$build/$program" ] || absent=$program; done
    if [ -n "$absent" ]; then
        failed=$((failed + 1))
        echo "not ok $name: no $build/$absent (run: make build)"
    else
        pending+=("$name")
    fi
done

begin=$SECONDS boots=0
while [ ${#pending[@]} -gt 0 ]; do
    finished="" running=""
    boots=$((boots + 1))
    boot "${pending[@]}"
    rest=()
    for name in "${pending[@]}"; do [[ $finished == *" $name "* ]] || rest+=("$name"); done
    pending=(${rest[@]+"${rest[@]}"})
    [ ${#pending[@]} -gt 0 ] || break
    # The machine went down under a case: that one has failed, the others get a new machine.
    : > "$work/none"
    if [ -n "$running" ]; then
        fail "$running" "the machine died or hung" "$work/$running.log" "$work/$running.dmesg"
        rest=()
        for name in "${pending[@]}"; do [ "$name" = "$running" ] || rest+=("$name"); done
        pending=(${rest[@]+"${rest[@]}"})
    else
        fail "${pending[0]}" "the machine did not come up" "$work/boot.log" "$work/none"
        pending=("${pending[@]:1}")
    fi
done

echo "kernel $(basename "$kernel_dir"): $passed passed, $failed failed, $boots boot(s), $((SECONDS - begin)) s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
