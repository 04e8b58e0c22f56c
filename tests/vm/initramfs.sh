#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what the guest runs from: busybox, programs with the shared libraries they need, modules, and the cases.
# usage: initramfs.sh OUT KERNEL-DIR CASES-DIR [PROGRAM...]
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$(dirname "$0")
need busybox busybox-static
need cpio cpio
out=$1 kernel=$2 cases=$3
shift 3
modules=(virtio_pci virtio_blk) # for the disk; ext4 is built in

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,dev,etc,lib,proc,root,run,sys,tmp,var}
ln -s bin "$root/sbin"
cp "$(command -v busybox)" "$root/bin/busybox"
echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"
cp "$here/guest/init" "$root/init"
cp "$here/guest/run_cases" "$root/bin/run_cases"
cp -r "$cases" "$root/cases"

for program in "$@"; do
    # Debug sections are most of a program and would sit in the guest's memory.
    strip --strip-debug -o "$root/bin/${program##*/}" "$program" 2>/dev/null || cp "$program" "$root/bin/"
    while read -r library; do
        mkdir -p "$root${library%/*}"
        cp -Ln "$library" "$root$library"
    done < <(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+' || true)
done

release=$(basename "$(readlink -f "$kernel")")
tree=lib/modules/$release
mkdir -p "$root/$tree"
cp "$kernel/$tree"/modules.* "$root/$tree/"
: > "$root/etc/modules"
for module in "${modules[@]}"; do
    line=$(grep -E "/$module\.ko:" "$kernel/$tree/modules.dep") ||
        { grep -q "/$module\.ko" "$kernel/$tree/modules.builtin" && continue; die "kernel $release has no module $module"; }
    for file in ${line/:/ }; do # itself, and what it depends on
        mkdir -p "$root/$tree/${file%/*}"
        cp "$kernel/$tree/$file" "$root/$tree/$file"
    done
    echo "$module" >> "$root/etc/modules"
done

chmod 755 "$root/init" "$root/bin/run_cases"
(cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 > "$out"
