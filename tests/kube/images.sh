#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Packs the images of the rig's pods as OCI archives, without a registry: localhost/pause:1, which holds a pod's namespaces,
# and localhost/load:1, busybox with the load generator vm_load (agent/load).
# usage: images.sh DIR [VM_LOAD]     makes DIR/pause.tar and DIR/load.tar; without VM_LOAD the latter is busybox alone
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need busybox busybox-static
[ $# -ge 1 ] || die "usage: images.sh DIR [VM_LOAD]"
[ $# -eq 1 ] || [ -x "$2" ] || die "no program $2 (tests/tools/build.sh build vm_load)"
mkdir -p "$1"
out=$(cd "$1" && pwd) load=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { # pack NAME ROOT ENTRYPOINT
    "$top/deploy/image/pack.sh" "$2" "$out/$1.tar" "localhost/$1:1" "{\"Entrypoint\": $3, \"Env\": [\"PATH=/bin\"]}"
}

mkdir -p "$work"/{pause,load}/{bin,dev,etc,proc,sys} "$work/load/tmp"
chmod 1777 "$work/load/tmp"
cp "$(command -v busybox)" "$work/load/bin/busybox"
cp "$work/load/bin/busybox" "$work/pause/bin/sleep"
while read -r name; do [ "$name" = busybox ] || ln -s busybox "$work/load/bin/$name"; done < <(busybox --list)
[ -z "$load" ] || strip -o "$work/load/bin/vm_load" "$load" 2> /dev/null || cp "$load" "$work/load/bin/vm_load"
# It does not reap, which only pods with shareProcessNamespace would need; as its namespace's first process, only SIGKILL
# ends it, which is what containerd sends to a sandbox.
pack pause "$work/pause" '["/bin/sleep", "1000000000"]'
pack load "$work/load" '["/bin/sh"]'
