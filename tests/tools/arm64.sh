#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Builds evictd and its image for arm64 on another machine: Debian's cross compiler, and arm64's libraries unpacked into a
# directory of their own (this machine's packages stay as they are). What it built is run by qemu-user as far as that goes: the
# version and a replay. Loading BPF needs a real arm64 kernel.
# usage: arm64.sh BUILD-DIRECTORY     env: JOBS, EVICTD_ARM64_DIR (the libraries: 500 MB in ~/.cache/evictd/arm64)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -eq 1 ] || die "usage: arm64.sh BUILD-DIRECTORY"
need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
need qemu-aarch64-static qemu-user-static
need mmdebstrap mmdebstrap
mkdir -p "$1"
build=$(cd "$1" && pwd) cache=${EVICTD_ARM64_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/arm64} triplet=aarch64-linux-gnu
root=$cache/root
packages=libbpf-dev,libelf-dev,zlib1g-dev,libcgroup-dev,libsystemd-dev,libspdlog-dev,libfmt-dev,libexpected-dev
packages+=,nlohmann-json3-dev,libyaml-cpp-dev,libcli11-dev,libcurl4-openssl-dev,prometheus-cpp-dev,libmicrohttpd-dev
packages+=,libgtest-dev,libgmock-dev,libbenchmark-dev,libc6-dev,libstdc++6

# The mirror that this machine's apt uses: Debian 12's own archives only, whatever else is configured beside them.
mirrors() {
    # shellcheck disable=SC2016  # apt's variables, not ours
    apt-get indextargets --format '$(CODENAME) deb $(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
        sed -nE 's/^bookworm(-security|-updates)? (deb .* main) Debian$/\2/p' | sort -u
}
if [ "$(cat "$cache/packages" 2> /dev/null)" != "$packages" ]; then
    [ -n "$(mirrors)" ] || die "apt knows no Debian 12 archive (apt-get update)"
    rm -rf "$cache"
    mkdir -p "$cache"
    # Unpacked, not installed: no program of another architecture runs.
    mmdebstrap --variant=extract --architectures=arm64 --include="$packages" --aptopt='Acquire::Languages "none"' \
        bookworm "$root" - > "$cache/log" 2>&1 < <(mirrors) || { tail -n 5 "$cache/log" >&2; die "mmdebstrap failed"; }
    echo "$packages" > "$cache/packages"
fi

export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig
"$top/tests/tools/build.sh" "$build" evictd -- \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_SYSROOT="$root" -DCMAKE_LIBRARY_ARCHITECTURE=$triplet \
    -DCMAKE_C_COMPILER=$triplet-gcc -DCMAKE_CXX_COMPILER=$triplet-g++ -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY

LIBRARIES=$root/usr/lib/$triplet:$root/lib/$triplet ARCHITECTURE=arm64 "$top/deploy/image/make.sh" "$build/evictd" "$build/evictd-image.tar"
here() { qemu-aarch64-static -L "$root" "$build/evictd" "$@"; }
here --version
here replay "$top/deploy/replay/leak.yaml" | tail -n 3
