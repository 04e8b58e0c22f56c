#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Unpacks containerd and runc: this release's by tests/kube/build.sh, another release's containerd beside them. Its program
# runs on this release's C library; runc would not, and is this release's.
# usage: build.sh     env: EVICTD_KUBE_DIR, CONTAINERD_RELEASE (see lib.sh); exit status 75: it cannot be had here
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../tools/other_release.sh
. "$top/tests/tools/other_release.sh"
programs=(containerd containerd-shim-runc-v2 ctr)
"$kube/build.sh" "${programs[@]}" runc
[ -n "$release" ] && [ ! -x "$bin/containerd" ] || exit 0

unavailable() {
    echo "build.sh: cannot download $release's containerd with apt" >&2
    exit 75
}
mkdir -p "$cache"
exec {lock}> "$cache/.$release"
flock "$lock" # another process may be unpacking the same
[ ! -x "$bin/containerd" ] || exit 0
work=$(mktemp -d "$cache/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
apt=(-qq -o APT::Sandbox::User=root -o Acquire::http::Timeout=30 -o Acquire::Retries=3 -o Acquire::Languages=none)
other_release "$release" || unavailable
(cd "$work" && timeout 600 apt-get "${apt[@]}" download containerd >&2) || unavailable
dpkg -x "$work"/containerd_*.deb "$work/root"
mkdir "$work/bin"
for name in "${programs[@]}"; do cp "$work/root/usr/bin/$name" "$work/bin/"; done
cp "$cache/bin/runc" "$work/bin/"
mv "$work/bin" "$bin" # whole or not at all
