#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Builds evictd and its image for arm64 on another machine: Debian's cross compiler, and arm64's libraries and kernel unpacked
# into directories of their own (this machine's packages stay as they are). What it built is tried: by qemu-user as far as that
# goes (the unit tests of the policy among it; BPF is not emulated), and in an emulated machine with Debian's kernel (tests/vm/arm64.sh).
# usage: arm64.sh BUILD-DIRECTORY     env: JOBS, CASES (of tests/vm), EVICTD_ARM64_DIR (800 MB in ~/.cache/evictd/arm64)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
here=$top/tests/tools
[ $# -eq 1 ] || die "usage: arm64.sh BUILD-DIRECTORY"
need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
need qemu-aarch64-static qemu-user-static
need mmdebstrap mmdebstrap
mkdir -p "$1"
build=$(cd "$1" && pwd) cache=${EVICTD_ARM64_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/evictd/arm64} triplet=aarch64-linux-gnu
emulator=qemu-aarch64-static
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
kernel=linux-image-6.12-cloud-arm64,busybox-static # 6.1 has no trampolines for BPF on arm64

unpack() { # unpack DIRECTORY PACKAGES: unpacked, not installed, so that no program of another architecture runs
    [ "$(cat "$cache/$1.packages" 2> /dev/null)" != "$2" ] || return 0
    [ -n "$(mirrors)" ] || die "apt knows no Debian 12 archive (apt-get update)"
    rm -rf "${cache:?}/$1"
    mkdir -p "$cache"
    mmdebstrap --variant=extract --architectures=arm64 --include="$2" --aptopt='Acquire::Languages "none"' \
        --extract-hook="'$here/arm64_packages.sh' \"\$1\"" bookworm "$cache/$1" - > "$cache/$1.log" 2>&1 < <(mirrors) ||
        { tail -n 5 "$cache/$1.log" >&2; die "mmdebstrap failed"; }
    echo "$2" > "$cache/$1.packages"
}
unpack root "$packages"
unpack kernel "$kernel"

export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig
targets=(evictd vm_load without_bpf unit_policy)
for name in ${CASES:-}; do
    read -ra needed < <(sed -n 's/^NEEDS: //p' "$top/tests/vm/cases/$name.case")
    targets+=("${needed[@]}")
done
"$top/tests/tools/build.sh" "$build" "${targets[@]}" -- \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator;-L;$root" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_SYSROOT="$root" -DCMAKE_LIBRARY_ARCHITECTURE=$triplet \
    -DCMAKE_C_COMPILER=$triplet-gcc -DCMAKE_CXX_COMPILER=$triplet-g++ -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY

SYSROOT=$root ARCHITECTURE=arm64 "$top/deploy/image/make.sh" "$build/evictd" "$build/evictd-image.tar"
run() { "$emulator" -L "$root" "$build/$1" "${@:2}"; }
run evictd --version
run evictd check "$top/deploy/evictd.example.yaml" > /dev/null && echo "the example configuration is valid"
run evictd replay "$top/deploy/replay/leak.yaml" | tail -n 3
run unit_policy --gtest_brief=1 | tail -n 1
# shellcheck disable=SC2086  # words are wanted
"$top/tests/vm/arm64.sh" "$build" "$root" "$cache/kernel" ${CASES:-}
