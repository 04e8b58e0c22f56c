#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Packs a directory as an OCI image of one layer, in an archive that containerd, podman and docker import: without any of
# them, and the same bytes from the same files.
# usage: pack.sh DIRECTORY ARCHIVE REFERENCE CONFIG     CONFIG: the image's "config" as JSON (Entrypoint, Env, ...)
# env: ARCHITECTURE (this machine's), SOURCE_DATE_EPOCH (0: the time of all files, in seconds)
set -euo pipefail
die() { echo "${0##*/}: $*" >&2; exit 1; }
[ $# -eq 4 ] || die "usage: pack.sh DIRECTORY ARCHIVE REFERENCE CONFIG"
root=$1 archive=$2 reference=$3 settings=$4
[ -d "$root" ] || die "no directory $root"
case ${ARCHITECTURE:-$(uname -m)} in
    x86_64 | amd64) architecture=amd64 ;;
    aarch64 | arm64) architecture=arm64 ;;
    *) die "unknown architecture ${ARCHITECTURE:-$(uname -m)}" ;;
esac
time=${SOURCE_DATE_EPOCH:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/image/blobs/sha256"

archived() { # archived DIRECTORY
    tar c -C "$1" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=gnu .
}
digest_of() { sha256sum < "$1" | cut -d ' ' -f 1; }
put() { # put FILE: into the image's blobs; its descriptor (without media type) is in $blob, its path in $path
    local digest
    digest=$(digest_of "$1")
    blob="\"digest\": \"sha256:$digest\", \"size\": $(stat -c %s "$1")"
    path=blobs/sha256/$digest
    mv "$1" "$work/image/$path"
}

oci=application/vnd.oci.image
archived "$root" > "$work/layer"
diff=$(digest_of "$work/layer")
gzip -n "$work/layer"
put "$work/layer.gz"
layer=$blob layer_path=$path
echo "{\"architecture\": \"$architecture\", \"os\": \"linux\", \"created\": \"$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)\"," \
    "\"config\": $settings, \"rootfs\": {\"type\": \"layers\", \"diff_ids\": [\"sha256:$diff\"]}}" > "$work/config"
put "$work/config"
config=$blob config_path=$path
echo "{\"schemaVersion\": 2, \"mediaType\": \"$oci.manifest.v1+json\"," \
    "\"config\": {\"mediaType\": \"$oci.config.v1+json\", $config}," \
    "\"layers\": [{\"mediaType\": \"$oci.layer.v1.tar+gzip\", $layer}]}" > "$work/manifest"
put "$work/manifest"
echo "{\"schemaVersion\": 2, \"manifests\": [{\"mediaType\": \"$oci.manifest.v1+json\", $blob," \
    "\"annotations\": {\"io.containerd.image.name\": \"$reference\"," \
    "\"org.opencontainers.image.ref.name\": \"${reference##*:}\"}}]}" > "$work/image/index.json"
echo '{"imageLayoutVersion": "1.0.0"}' > "$work/image/oci-layout"
# For docker load before version 25.
echo "[{\"Config\": \"$config_path\", \"RepoTags\": [\"$reference\"], \"Layers\": [\"$layer_path\"]}]" > "$work/image/manifest.json"
archived "$work/image" > "$work/archive"
mv "$work/archive" "$archive"
