#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Packs the images of the rig's pods as OCI archives, without a registry: localhost/pause:1, which holds a pod's namespaces,
# and localhost/load:1, busybox with the load generator vm_load (agent/load).
# usage: images.sh DIR VM_LOAD     makes DIR/pause.tar and DIR/load.tar
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need busybox busybox-static
[ $# -eq 2 ] || die "usage: images.sh DIR VM_LOAD"
[ -x "$2" ] || die "no program $2 (tests/tools/build.sh build vm_load)"
mkdir -p "$1"
out=$(cd "$1" && pwd) load=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $(uname -m) in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) die "unknown architecture $(uname -m)" ;;
esac

put() { # put FILE: into the image's blobs; its descriptor (without media type) is in $blob
    local digest
    digest=$(sha256sum < "$1" | cut -d ' ' -f 1)
    blob="\"digest\": \"sha256:$digest\", \"size\": $(stat -c %s "$1")"
    mv "$1" "$work/image/blobs/sha256/$digest"
}
pack() { # pack NAME ROOT ENTRYPOINT: one layer
    local oci=application/vnd.oci.image diff layer config blob
    rm -rf "$work/image"
    mkdir -p "$work/image/blobs/sha256"
    tar cf "$work/layer" -C "$2" --owner=0 --group=0 --numeric-owner .
    diff=$(sha256sum < "$work/layer" | cut -d ' ' -f 1)
    put "$work/layer"
    layer=$blob
    echo "{\"architecture\": \"$architecture\", \"os\": \"linux\", \"config\": {\"Entrypoint\": $3, \"Env\": [\"PATH=/bin\"]}," \
        "\"rootfs\": {\"type\": \"layers\", \"diff_ids\": [\"sha256:$diff\"]}}" > "$work/config"
    put "$work/config"
    config=$blob
    echo "{\"schemaVersion\": 2, \"mediaType\": \"$oci.manifest.v1+json\"," \
        "\"config\": {\"mediaType\": \"$oci.config.v1+json\", $config}," \
        "\"layers\": [{\"mediaType\": \"$oci.layer.v1.tar\", $layer}]}" > "$work/manifest"
    put "$work/manifest"
    echo "{\"schemaVersion\": 2, \"manifests\": [{\"mediaType\": \"$oci.manifest.v1+json\", $blob," \
        "\"annotations\": {\"io.containerd.image.name\": \"localhost/$1:1\", \"org.opencontainers.image.ref.name\": \"1\"}}]}" \
        > "$work/image/index.json"
    echo '{"imageLayoutVersion": "1.0.0"}' > "$work/image/oci-layout"
    tar cf "$out/$1.tar" -C "$work/image" .
}

mkdir -p "$work"/{pause,load}/{bin,dev,etc,proc,sys} "$work/load/tmp"
chmod 1777 "$work/load/tmp"
cp "$(command -v busybox)" "$work/load/bin/busybox"
cp "$work/load/bin/busybox" "$work/pause/bin/sleep"
while read -r name; do [ "$name" = busybox ] || ln -s busybox "$work/load/bin/$name"; done < <(busybox --list)
strip -o "$work/load/bin/vm_load" "$load" 2> /dev/null || cp "$load" "$work/load/bin/vm_load"
# It does not reap, which only pods with shareProcessNamespace would need; as its namespace's first process, only SIGKILL
# ends it, which is what containerd sends to a sandbox.
pack pause "$work/pause" '["/bin/sleep", "1000000000"]'
pack load "$work/load" '["/bin/sh"]'
