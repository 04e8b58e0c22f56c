#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A hook of mmdebstrap for arm64.sh: writes dpkg's database for packages that are only unpacked, so that dpkg-query knows which
# file is whose: the image has the licence and the version of each package that a library is from (deploy/image/root.sh).
# usage: arm64_packages.sh ROOT     the packages are in ROOT/var/cache/apt/archives
set -euo pipefail
shopt -s nullglob
database=$1/var/lib/dpkg
echo 1 > "$database/info/format" # names of lists with the architecture
for file in "$1"/var/cache/apt/archives/*.deb; do
    name=$(dpkg-deb -f "$file" Package)
    [ "$(dpkg-deb -f "$file" Multi-Arch)" != same ] || name+=:$(dpkg-deb -f "$file" Architecture)
    dpkg-deb --fsys-tarfile "$file" | tar t | sed -E 's,^\.,,; s,(.)/$,\1,; s,^/$,/.,' > "$database/info/$name.list"
    { echo "Status: install ok installed"; dpkg-deb -f "$file"; echo; } >> "$database/status"
done
