#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Makes sure that what the comparison boots from is in the cache, and prints its directory: disk.img, a minimal Debian 12
# with systemd and every contender from Debian's packages, none of them started at boot, and initrd.gz, which mounts it.
# Nothing is mounted here; root is needed for the owners of files only. Delete the directory for newer packages.
# The libraries of PROGRAMs are in it.
# usage: root.sh KERNEL-DIR PROGRAM...     env: EVICTD_PEERS_DIR (${XDG_CACHE_HOME:-~/.cache}/evictd/peers)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../../vm/modules.sh
. "$top/tests/vm/modules.sh"
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
kernel=$(readlink -f "$1")
release=$(basename "$kernel")
shift
cache=${EVICTD_PEERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/peers}
# The packages of the libraries that the programs are linked with; some are linked with none. Of a path dpkg may know only
# the form without /usr, or only that with it.
libraries() {
    local path
    { ldd "$@" 2>/dev/null || true; } | grep -oE '/[^ ]+' | grep -v ':$' | sort -u | while read -r path; do
        dpkg-query -S "$path" 2>/dev/null || dpkg-query -S "/usr$path" 2>/dev/null || dpkg-query -S "${path#/usr}" 2>/dev/null ||
            die "no Debian package has $path, and the guest needs it"
    done | sed 's/:.*//' | sort -u
}

# Beside them what is compared, and an init that systemd-oomd can live under.
packages=systemd-sysv,dbus,kmod,systemd-oomd,earlyoom,oomd,nohang,$(libraries "$@" | paste -sd,)
tar=$cache/root-$(cksum <<< "$packages" | cut -d ' ' -f 1).tar
done=$cache/$release
fresh() {
    local source
    [ "$(cat "$done/packages" 2>/dev/null)" = "$packages" ] && [ -s "$done/disk.img" ] || return 1
    for source in "$here/root.sh" "$here/guest/init"; do [ "$done/disk.img" -nt "$source" ] || return 1; done
}
if fresh; then echo "$done"; exit 0; fi

need mmdebstrap mmdebstrap
need mke2fs e2fsprogs
need busybox busybox-static
need cpio cpio
[ "$(id -u)" -eq 0 ] || die "making the guest's disk needs root, once (sudo make peers)"
mkdir -p "$cache"
work=$(mktemp -d "$cache/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The mirror that this machine's apt uses: Debian 12's own archives only, whatever else is configured beside them.
mirrors() {
    # shellcheck disable=SC2016  # apt's variables, not ours
    apt-get indextargets --format '$(CODENAME) deb $(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
        sed -nE 's/^bookworm(-security|-updates)? (deb .* main) Debian$/\2/p' | sort -u
}

bootstrap() {
    [ -n "$(mirrors)" ] || die "apt knows no Debian 12 archive (sudo apt-get update)"
    echo "root.sh: making a Debian 12 root with mmdebstrap (two minutes)" >&2
    mmdebstrap --variant=minbase --include="$packages" --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        bookworm "$work/root.tar" - > "$cache/root.log" 2>&1 < <(mirrors) ||
        { tail -n 5 "$cache/root.log" >&2; die "mmdebstrap failed ($cache/root.log)"; }
    mv "$work/root.tar" "$tar"
}

# What Debian starts by itself is not started: one contender at a time, and nothing else that wakes up.
quiet_units() {
    local units=$work/root/etc/systemd/system
    rm -rf "${units:?}"/*.wants
    cp "$here"/guest/peers.{service,target} "$units/"
    ln -s peers.target "$units/default.target"
    ln -s /dev/null "$units/systemd-tmpfiles-clean.timer"
    echo 0123456789abcdef0123456789abcdef > "$work/root/etc/machine-id" # empty means "first boot: enable everything"
    echo peers > "$work/root/etc/hostname"
    mkdir -p "$work/root/peers" "$units/systemd-oomd.service.d"
}

initrd() {
    local root=$work/initrd
    mkdir -p "$root"/{bin,dev,proc,sys,root}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp "$here/guest/init" "$root/init"
    chmod 755 "$root/init"
    copy_modules "$kernel" "$root" virtio_pci virtio_blk virtio_console > /dev/null # init loads them by name
    (cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 > "$work/initrd.gz"
}

[ -s "$tar" ] || bootstrap
mkdir "$work/root"
tar -C "$work/root" -xpf "$tar" --exclude=./dev/\*
quiet_units
mke2fs -q -t ext4 -d "$work/root" "$work/disk.img" 2G >&2 # stdout is for the path
initrd
mkdir -p "$done"
echo "$packages" > "$work/packages"
mv "$work/packages" "$work/initrd.gz" "$work/disk.img" "$done/" # the disk last: without it nothing is fresh
echo "$done"
