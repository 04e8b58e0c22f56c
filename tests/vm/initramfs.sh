#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Packs what the guest runs from: busybox, programs with the shared libraries they need, and modules. The cases come apart
# from this, so that one archive serves every boot of a kernel; it is made anew only when something in it is.
# usage: initramfs.sh DIR KERNEL-DIR PROGRAM...     prints the archive's path
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
here=$top/tests/vm
# shellcheck source-path=SCRIPTDIR source=modules.sh
. "$here/modules.sh"
need busybox busybox-static
need cpio cpio
dir=$1 kernel=$2
shift 2
modules=(virtio_pci virtio_blk) # for the disk; ext4 is built in
release=$(basename "$(readlink -f "$kernel")")

is_current() { # is_current ARCHIVE FILE...: the archive is younger than everything in it
    local archive=$1 file
    [ -s "$archive" ] || return 1
    shift
    for file in "$@"; do [ ! "$file" -nt "$archive" ] || return 1; done
}

pack_programs() { # pack_programs ROOT PROGRAM...
    local root=$1 program library
    shift
    for program in "$@"; do
        # Debug sections are most of a program and would sit in the guest's memory.
        strip --strip-debug -o "$root/bin/${program##*/}" "$program" 2>/dev/null || cp "$program" "$root/bin/"
        while read -r library; do
            mkdir -p "$root${library%/*}"
            cp -Ln "$library" "$root$library"
        done < <(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+' || true)
    done
}

mkdir -p "$dir"
name=$(printf '%s\n' "$release" "$@" | cksum)
archive=$dir/base-$release-${name%% *}.gz
exec {lock}> "$dir/.pack"
flock "$lock" # another boot may be packing the same
if is_current "$archive" "$0" "$here/modules.sh" "$here"/guest/* "$kernel" "$@"; then
    echo "$archive"
    exit
fi
root=$(mktemp -d)
trap 'rm -rf "$root" "$archive.part"' EXIT
mkdir -p "$root"/{bin,dev,etc,lib,proc,root,run,sys,tmp,var}
ln -s bin "$root/sbin"
cp "$(command -v busybox)" "$root/bin/busybox"
echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"
cp "$here/guest/init" "$root/init"
for script in "$here"/guest/*; do
    case ${script##*/} in init | *.c) ;; *) cp "$script" "$root/bin/" ;; esac
done
pack_programs "$root" "$@"
copy_modules "$kernel" "$root" "${modules[@]}" > "$root/etc/modules"
chmod 755 "$root/init" "$root"/bin/*
(cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 > "$archive.part"
mv "$archive.part" "$archive"
echo "$archive"
