#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Makes sure that a Debian kernel to boot is in the cache and prints its directory: RELEASE/{vmlinuz,lib/modules}. Only packages
# are downloaded and unpacked; nothing is installed, root is not needed. Delete the directory for a newer one.
# usage: kernel.sh KERNEL     (6.1 6.12 trixie sid)     env: EVICTD_VM_DIR (${XDG_CACHE_HOME:-~/.cache}/evictd/vm)
# exit status 75: a kernel of another Debian release cannot be had now (offline, or the archive does not have it)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../tools/other_release.sh
. "$(dirname "$0")/../tools/other_release.sh"

# What to ask apt for: a package that depends on the newest kernel of its line. Of this release, or of the one named.
declare -A metapackage=([6.1]=linux-image-cloud-amd64 [6.12]=linux-image-6.12-cloud-amd64
    [trixie]=linux-image-cloud-amd64 [sid]=linux-image-cloud-amd64)
declare -A suite=([trixie]=trixie [sid]=sid)

kernel=${1:-}
package=${metapackage[${kernel:-none}]:-}
[ -n "$package" ] || die "no kernel '$kernel' (${!metapackage[*]})"
release_of=${suite[$kernel]:-}
cache=${EVICTD_VM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/vm}
if [ -s "$cache/$kernel/vmlinuz" ]; then readlink -f "$cache/$kernel"; exit 0; fi

need apt-get "apt (the kernel is Debian's)"
need busybox busybox-static
need xz xz-utils
mkdir -p "$cache"
work=$(mktemp -d "$cache/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
# An archive that does not answer must not hold up the other boots.
apt=(-qq -o APT::Sandbox::User=root -o Acquire::http::Timeout=30 -o Acquire::Retries=1)

depends_of() { apt-cache "${apt[@]}" depends "$1" 2>/dev/null | sed -n "s/^ *Depends: \($2[0-9].*\)/\1/p" | head -n 1; }

download() { # the kernel's packages: one, or since 7.x an empty one that depends on image and modules
    local parts
    image=$(depends_of "$package" linux-image-)
    [ -n "$image" ] || return 1
    parts=("$(depends_of "$image" linux-binary-)" "$(depends_of "$image" linux-modules-)" "$(depends_of "$image" linux-base-)")
    [ -n "${parts[0]}" ] || parts=("$image")
    (cd "$work" && timeout 600 apt-get "${apt[@]}" download "${parts[@]}" >&2)
}

if [ -n "$release_of" ]; then
    { other_release "$release_of" && download; } || {
        echo "kernel.sh: cannot download $release_of's $package with apt" >&2
        exit 75
    }
else # once with the lists as they are, once with fresh ones: an older kernel may be gone from the archive
    download 2>/dev/null || { apt-get "${apt[@]}" update >&2 || true; download; } ||
        die "cannot download $package with apt (offline? or as a user with outdated lists: sudo apt-get update)"
fi

release=${image#linux-image-}
for deb in "$work"/*.deb; do dpkg -x "$deb" "$work/tree"; done
modules=$work/tree/lib/modules
[ -d "$modules/$release" ] || modules=$work/tree/usr/lib/modules
rm -rf "${cache:?}/$release"
mkdir -p "$work/done/lib/modules"
mv "$modules/$release" "$work/done/lib/modules/"
mv "$work/tree/boot/vmlinuz-$release" "$work/done/vmlinuz" 2>/dev/null ||
    mv "$work/done/lib/modules/$release/vmlinuz" "$work/done/vmlinuz"
# busybox's modprobe wants modules unpacked, and modules.dep is made by the package's own post-install step.
find "$work/done/lib" -name '*.ko.xz' -print0 | xargs -0 -r -n 50 -P "$(nproc)" xz -d
busybox depmod -b "$work/done" "$release"
mv "$work/done" "$cache/$release" # whole or not at all
ln -sfn "$release" "$cache/$kernel"
echo "$cache/$release"
