#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd's image as an OCI archive, without a container engine: root.sh and pack.sh. Prints its reference and its size.
# usage: make.sh PROGRAM ARCHIVE     env: ARCHITECTURE, SOURCE_DATE_EPOCH (pack.sh), SYSROOT (root.sh)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { echo "usage: make.sh PROGRAM ARCHIVE" >&2; exit 1; }
version=$(sed -nE 's/^project\(evictd VERSION ([0-9.]+).*/\1/p' "$here/../../CMakeLists.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/root.sh" "$1" "$work/root"
# As in deploy/Dockerfile.
"$here/pack.sh" "$work/root" "$2" "localhost/evictd:$version" '{
    "Entrypoint": ["/usr/bin/evictd"], "Cmd": ["run", "--config", "/etc/evictd/config.yaml"],
    "Env": ["PATH=/usr/bin"], "User": "0:0", "WorkingDir": "/",
    "Labels": {"org.opencontainers.image.title": "evictd", "org.opencontainers.image.version": "'"$version"'",
        "org.opencontainers.image.licenses": "Apache-2.0"}}'
mib() { awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }
echo "localhost/evictd:$version in $2: $(mib "$(stat -c %s "$2")") compressed," \
    "$(mib "$(du -sb "$work/root" | cut -f 1)") on the node"
