#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Installs exactly the Debian packages that are missing; at once finished when none is. Touches nothing else.
# usage: deps.sh GROUP...     (build lint vm kube cri sanitize image arm64 peers)
set -euo pipefail

declare -A packages=(
    [build]="cmake ninja-build g++ clang llvm pkg-config bpftool libbpf-dev libelf-dev zlib1g-dev libcgroup-dev libsystemd-dev
             libspdlog-dev libfmt-dev libexpected-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev libgtest-dev libgmock-dev
             libbenchmark-dev libcurl4-openssl-dev prometheus-cpp-dev libmicrohttpd-dev dbus-daemon"
    [lint]="clang-format clang-tidy shellcheck"
    [vm]="qemu-system-x86 busybox-static cpio xz-utils e2fsprogs binutils"
    [kube]="busybox-static curl openssl binutils strace libcurl4 golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev
            golang-github-xeipuuv-gojsonschema-dev golang-google-grpc-dev"
    [cri]="busybox-static binutils libcurl4 e2fsprogs"
    [sanitize]="libclang-rt-14-dev"
    [image]="binutils libcurl4 libmicrohttpd12"
    [arm64]="g++-aarch64-linux-gnu qemu-user-static qemu-system-arm mmdebstrap busybox-static cpio xz-utils e2fsprogs"
    [peers]="mmdebstrap"
)

wanted=()
for group in "$@"; do
    [ -n "${packages[$group]:-}" ] || { echo "deps: no group '$group' (${!packages[*]})" >&2; exit 2; }
    read -rd '' -a words <<< "${packages[$group]}" || true
    wanted+=("${words[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Another distribution: believe that its packages are there; CMake and the scripts name what is not.
    command -v cmake >/dev/null && command -v clang >/dev/null && exit 0
    echo "deps: no apt on this machine: install what Debian 12 calls ${wanted[*]}" >&2
    exit 1
fi

have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' || true)
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | sort -u | grep -vxF -f <(printf '%s\n' "$have" | sed '/^$/d') || true)
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "deps: packages are missing (run: sudo apt-get install ${missing[*]})" >&2
    exit 1
fi
echo "deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -o DPkg::Lock::Timeout=300)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1 < /dev/null; then
    tail -n 5 "$log" >&2
    echo "deps: apt-get could not install ${missing[*]} (is the machine online, with Debian 12's archive configured?)" >&2
    exit 1
fi
