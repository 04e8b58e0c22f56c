# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# One boot of matrix.yaml as a QEMU command. Sourced, after case.sh. Who sources it sets $here, $build and $boot; sets in turn
# what the boot says ($kernel $cgroups $has $known $bpf $memory $cpus $append $qemu, skip[CASE], fewer[CASE]), and by
# prepare_machine $work, $machine (the command) and $arguments (the kernel's).
# shellcheck disable=SC2154,SC2034

read_boot() { # read_boot NAME
    local text key rest
    text=$(awk -v boot="$1" -f "$here/matrix.awk" "$here/matrix.yaml") || exit 1
    kernel="" cgroups="" has="" known="" bpf=on memory=2048 cpus=2 append="" qemu=""
    declare -gA skip=() fewer=()
    while IFS=$'\t' read -r key rest; do
        case $key in
            skip) skip[${rest%%$'\t'*}]=${rest#*$'\t'} ;;
            fewer) fewer[${rest%%$'\t'*}]=${rest#*$'\t'} ;;
            name) ;;
            *) printf -v "$key" %s "$rest" ;;
        esac
    done <<< "$text"
    for key in "${!skip[@]}" "${!fewer[@]}"; do
        [ -r "$cases/$key.case" ] || die "matrix.yaml: there is no case '$key'"
    done
}

why_not() { # why_not CASE NAMED: the reason it is not run in this boot; nothing if it is. NAMED: it was asked for
    local reason
    reason=$(unmet "$(value "$1" WHERE)")
    reason=${reason:-${skip[$1]-}}
    [ "$2" = yes ] || reason=${reason:-${fewer[$1]-}}
    echo "$reason"
}

prepare_machine() { # prepare_machine: the kernel, the directory for logs, the command without archive and console; 75: no kernel
    local claims
    work=$build/vm/$boot
    mkdir -p "$work" || exit 1
    kernel_dir=$("$here/kernel.sh" "$kernel") || return $?
    # Without "rep stosb" the kernel clears pages eight bytes at a time, which QEMU emulates five times faster. Where code
    # once ran, QEMU keeps its translations, and every write there searches them: after some cases a page took 13 ms to
    # clear, and whoever faulted in a huge one stood still for seconds. A small cache is emptied now and then.
    # shellcheck disable=SC2206  # words are wanted
    machine=(qemu-system-x86_64 -accel "tcg,thread=multi,tb-size=64" -cpu "max,-erms" -m "$memory" -smp "$cpus" -nodefaults -display none
        -no-reboot -kernel "$kernel_dir/vmlinuz" -initrd "$work/initrd.gz"
        -drive "file=$work/disk.img,if=virtio,format=raw,cache=unsafe" $qemu)
    claims="evictd.kernel=$(basename "$kernel_dir") evictd.cpus=$cpus evictd.memory=$memory evictd.has=${has// /,} evictd.known=${known// /,}"
    # loglevel=1: the kernel's chatter would run through the cases' output; it is in dmesg. A panic is printed all the same, and
    # a CPU that comes out of the kernel no more is one: with where it is, and at once.
    arguments="console=ttyS0 loglevel=1 panic=-1 oops=panic softlockup_panic=1 unknown_nmi_panic=1 evictd.cgroups=$cgroups $claims"
    [ "$cgroups" != v2 ] || arguments+=" cgroup_no_v1=all"
    [ "$bpf" = on ] || arguments+=" evictd.without_bpf"
    arguments+=" psi=1 $append" # the boot's own word comes last, and counts
}

pack() { # pack CASE...: what the guest runs from, and an empty disk
    local name program programs=("$build/without_bpf") base tree=$work/cases
    rm -rf "$tree"
    mkdir -p "$tree/cases"
    for name in "$@"; do
        mkdir -p "$tree/cases/$name"
        sed '1,/^RUN:/d' "$cases/$name.case" > "$tree/cases/$name/run"
        limit_of "$name" > "$tree/cases/$name/timeout"
        echo "$name" >> "$tree/cases/order"
    done
    # Of all cases, not only of these: one archive for every boot of this kernel.
    for program in $(for name in $(case_names); do value "$name" NEEDS; done | tr ' ' '\n' | sort -u); do
        [ ! -x "$build/$program" ] || programs+=("$build/$program")
    done
    base=$("$here/initramfs.sh" "$build/vm" "$kernel_dir" "${programs[@]}") || return 1
    (cd "$tree" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 | cat "$base" - > "$work/initrd.gz" || return 1
    rm -f "$work/disk.img"
    truncate -s 2G "$work/disk.img" && mke2fs -q -F -t ext4 "$work/disk.img"
}
