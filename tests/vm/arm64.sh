#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Boots Debian's arm64 kernel in QEMU (emulated: no KVM, no root, no network) and runs cases of tests/vm/cases in it, with the
# programs that tests/tools/arm64.sh has cross-built. Not a boot of matrix.yaml: those run what this machine's compiler built.
# usage: arm64.sh BUILD ROOT KERNEL [CASE...]     ROOT: the libraries of the cross-build; KERNEL: an unpacked kernel package
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$top/tests/vm cases=$top/tests/vm/cases
[ $# -ge 3 ] || die "usage: arm64.sh BUILD ROOT KERNEL [CASE...]"
build=$1 libraries=$2 kernel=$3
shift 3
[ $# -gt 0 ] || set -- doctor agent_hears node_soft node_hard oom_of_a_container victim_frozen
# shellcheck source-path=SCRIPTDIR source=case.sh
. "$here/case.sh"
# shellcheck source-path=SCRIPTDIR source=modules.sh
. "$here/modules.sh"
PATH=$PATH:/usr/sbin:/sbin
need qemu-system-aarch64 qemu-system-arm
need mke2fs e2fsprogs
need cpio cpio
any_boot=$(awk -f "$here/matrix.awk" "$here/matrix.yaml" | head -n 1)
has="v2 bpf psi lru_gen" known=$(awk -f "$here/matrix.awk" -v boot="$any_boot" "$here/matrix.yaml" | sed -n 's/^known\t//p')
memory=2048 cpus=2
patience() { echo $(($(limit_of "$1") * 3)); } # patience CASE: seconds; slower than the emulation of an x86 machine
for name in "$@"; do check_case "$name"; done

image=$(echo "$kernel"/boot/vmlinuz-*)
release=${image##*/vmlinuz-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
SYSROOT=$libraries "$top/deploy/image/root.sh" "$build/evictd" "$root"
cp "$kernel/bin/busybox" "$build/without_bpf" "$root/bin/"
for program in $(for name in "$@"; do value "$name" NEEDS; done | tr ' ' '\n' | sort -u); do
    [ -x "$build/$program" ] || die "no $build/$program"
    [ -e "$root/bin/$program" ] || aarch64-linux-gnu-strip --strip-debug -o "$root/bin/$program" "$build/$program"
done
cp "$here/guest/init" "$root/init"
for script in "$here"/guest/*; do
    case ${script##*/} in init | *.c) ;; *) cp "$script" "$root/bin/" ;; esac
done
unpacked=$work/$release
mkdir -p "$root/root" "$root/cases" "$unpacked/lib/modules"
echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
cp -r "$kernel/lib/modules/$release" "$unpacked/lib/modules/"
find "$unpacked" -name '*.ko.xz' -print0 | xargs -0 -r -n 50 xz -d
busybox depmod -b "$unpacked" "$release"
copy_modules "$unpacked" "$root" virtio_pci virtio_blk ext4 > "$root/etc/modules"
for name in "$@"; do
    mkdir "$root/cases/$name"
    sed '1,/^RUN:/d' "$cases/$name.case" > "$root/cases/$name/run"
    patience "$name" > "$root/cases/$name/timeout"
    echo "$name" >> "$root/cases/order"
done
chmod 755 "$root/init" "$root"/bin/*
(cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 > "$work/initrd.gz"
truncate -s 1G "$work/disk.img" && mke2fs -q -F -t ext4 "$work/disk.img"

timeout -k 10 900 qemu-system-aarch64 -M virt -cpu cortex-a72 -accel "tcg,thread=multi,tb-size=256" -m "$memory" -smp "$cpus" \
    -nodefaults -display none -no-reboot -kernel "$image" -initrd "$work/initrd.gz" \
    -drive "file=$work/disk.img,if=virtio,format=raw,cache=unsafe" -serial stdio < /dev/null \
    -append "console=ttyAMA0 loglevel=1 panic=-1 oops=panic cgroup_no_v1=all psi=1 evictd.cgroups=v2 evictd.kernel=$release \
evictd.cpus=$cpus evictd.memory=$memory evictd.has=${has// /,} evictd.known=${known// /,}" 2>&1 | tr -d '\r' > "$build/vm.log" || true

# ---- what each case promised against what it did; the guest's marks are those of guest/run_cases
failed=0
log_of() { # log_of CASE
    awk -v name="$1" '$0 == "@@ end " name || $0 ~ "^@@ dmesg " name "$" { inside = 0 }
        inside
        $0 == "@@ begin " name { inside = 1 }' "$build/vm.log"
}
judge() { # judge CASE
    local wrong status="" seconds=""
    log_of "$1" > "$work/log"
    read -r status seconds < <(sed -nE "s/^@@ end $1 ([0-9]+) ([0-9]+)$/\1 \2/p" "$build/vm.log") || true
    if [ -n "$status" ]; then
        wrong=$(verdict "$1" "$status" "$seconds" "$(patience "$1")" "$work/log")
    else
        wrong="it did not end"
    fi
    if [ -z "$wrong" ]; then echo "ok arm64 $1 ($seconds s)"; return; fi
    failed=1
    tail -n 60 "$work/log" | sed 's/^/    /'
    echo "not ok arm64 $1: $wrong"
}
if ! grep -q '^@@ end host 0' "$build/vm.log"; then
    tail -n 40 "$build/vm.log" | sed 's/^/    /'
    echo "not ok arm64 host: the machine is not what it should be"
    exit 1
fi
for name in "$@"; do judge "$name"; done
exit "$failed"
