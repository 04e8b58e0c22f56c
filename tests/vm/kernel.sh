#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes sure that a Debian kernel to boot is in the cache and prints its directory: RELEASE/{vmlinuz,config,lib/modules}.
# Only the package is downloaded and unpacked; nothing is installed, root is not needed. Delete the directory for a newer one.
# usage: kernel.sh VERSION     (6.1 6.12)     env: EVICTD_VM_DIR (${XDG_CACHE_HOME:-~/.cache}/evictd/vm)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

# What to ask apt for: a package that depends on the newest kernel of its line.
declare -A metapackage=([6.1]=linux-image-cloud-amd64 [6.12]=linux-image-6.12-cloud-amd64)

version=${1:-}
package=${metapackage[${version:-none}]:-}
[ -n "$package" ] || die "no kernel '$version' (${!metapackage[*]})"
cache=${EVICTD_VM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/vm}
if [ -s "$cache/$version/vmlinuz" ]; then readlink -f "$cache/$version"; exit 0; fi

need apt-get "apt (the kernel is Debian's)"
need busybox busybox-static
need xz xz-utils
mkdir -p "$cache"
work=$(mktemp -d "$cache/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT

image_of() { apt-cache depends "$package" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1; }

download() { # once with the lists as they are, once with fresh ones: an older kernel may be gone from the archive
    image=$(image_of)
    [ -n "$image" ] && (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$image" >&2)
}
download 2>/dev/null || { apt-get -qq update >&2 || true; download; } ||
    die "cannot download $package with apt (offline? or as a user with outdated lists: sudo apt-get update)"

release=${image#linux-image-}
(cd "$work" && dpkg -x "$image"_*.deb tree)
modules=$work/tree/lib/modules
[ -d "$modules" ] || modules=$work/tree/usr/lib/modules
rm -rf "${cache:?}/$release"
mkdir -p "$work/done/lib/modules"
mv "$modules/$release" "$work/done/lib/modules/"
mv "$work/tree/boot/config-$release" "$work/done/config"
mv "$work/tree/boot/vmlinuz-$release" "$work/done/vmlinuz"
# busybox's modprobe wants modules unpacked, and modules.dep is made by the package's own post-install step.
find "$work/done/lib" -name '*.ko.xz' -print0 | xargs -0 -r -n 50 -P "$(nproc)" xz -d
busybox depmod -b "$work/done" "$release"
mv "$work/done" "$cache/$release" # whole or not at all
ln -sfn "$release" "$cache/$version"
echo "$cache/$release"
