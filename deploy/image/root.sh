#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Makes the root file system of evictd's image: the program, the shared libraries that it names or loads later (libcurl, libmicrohttpd), and
# what their licences ask for. No shell, no package manager. The Dockerfile and pack.sh have the same content from here.
# usage: root.sh PROGRAM DIRECTORY     DIRECTORY is made and must not exist. Needs binutils; nothing is executed, so that the
# program may be one for another architecture. env: SYSROOT (where its libraries and their packages' files and database are;
# this system)
set -euo pipefail
die() { echo "${0##*/}: $*" >&2; exit 1; }
[ $# -eq 2 ] || die "usage: root.sh PROGRAM DIRECTORY"
program=$1 root=$2 top=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$program" ] || die "no program $program (make build)"
[ ! -e "$root" ] || die "$root exists"
command -v readelf > /dev/null || die "'readelf' is missing: apt-get install binutils"

case $(readelf -h "$program" | sed -n 's/^ *Machine: *//p') in
    *X86-64*) triplet=x86_64-linux-gnu loader=/lib64/ld-linux-x86-64.so.2 ;;
    AArch64) triplet=aarch64-linux-gnu loader=/lib/ld-linux-aarch64.so.1 ;;
    *) die "$program: not a program for x86_64 or arm64" ;;
esac
strip="strip"
[ "$triplet" = "$(uname -m)-linux-gnu" ] || strip=$triplet-strip
system=${SYSROOT:-}
libraries=("$system/usr/lib/$triplet" "$system/lib/$triplet")

find_library() { # find_library NAME
    local directory
    for directory in "${libraries[@]}"; do
        [ ! -e "$directory/$1" ] || { echo "$directory/$1"; return; }
    done
    die "no library $1 in ${libraries[*]}"
}
needed_by() { readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'; }

# From the loader and the C library on: what each needs, and what that needs. libcurl and libmicrohttpd are loaded by dlopen(3).
to_do=("${loader##*/}" libcurl.so.4 libmicrohttpd.so.12)
declare -A files=()
mapfile -t -O ${#to_do[@]} to_do < <(needed_by "$program")
while [ ${#to_do[@]} -gt 0 ]; do
    name=${to_do[-1]}
    unset 'to_do[-1]'
    [ -z "${files[$name]:-}" ] || continue
    file=$(find_library "$name") || exit
    files[$name]=$file
    mapfile -t -O ${#to_do[@]} to_do < <(needed_by "$file")
done

umask 022
mkdir -p "$root"/{dev,etc,proc,run,sys,tmp,var/lib,usr/bin,"usr/lib/$triplet",usr/share/doc/evictd}
chmod 1777 "$root/tmp"
ln -s usr/lib "$root/lib"
ln -s usr/bin "$root/bin"
ln -s usr/bin "$root/sbin"
if [[ $loader == /lib64/* ]]; then
    mkdir "$root/usr/lib64"
    ln -s usr/lib64 "$root/lib64"
    ln -s "../lib/$triplet/${loader##*/}" "$root/usr/lib64/${loader##*/}"
else
    ln -s "$triplet/${loader##*/}" "$root/usr/lib/${loader##*/}"
fi
for name in "${!files[@]}"; do install -m 644 "${files[$name]}" "$root/usr/lib/$triplet/$name"; done
chmod 755 "$root/usr/lib/$triplet/${loader##*/}"
"$strip" -o "$root/usr/bin/evictd" "$program"
chmod 755 "$root/usr/bin/evictd"

echo 'root:x:0:0:root:/:/nonexistent' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
cp -r "$top/deploy/licenses" "$top/LICENSE" "$top/deploy/evictd.example.yaml" "$root/usr/share/doc/evictd/"

# Of each Debian package that a library is from: its licence, and its version where scanners of images look for it.
command -v dpkg-query > /dev/null || exit 0
packages=(dpkg-query --admindir "$system/var/lib/dpkg")
[ ! -e /etc/os-release ] || cp -L /etc/os-release "$root/etc/os-release"
mkdir -p "$root/var/lib/dpkg/status.d"
packages_of() { # packages_of FILE...: a package may know it by its path below / instead of /usr
    local file paths=()
    for file in "$@"; do
        file=$(realpath "$file")
        file=${file#"$(realpath "$system/")"}
        file=/${file#/}
        paths+=("$file" "${file#/usr}")
    done
    { "${packages[@]}" -S "${paths[@]}" 2> /dev/null || true; } | cut -d : -f 1 | sort -u
}
while read -r package; do
    if [ -e "$system/usr/share/doc/$package/copyright" ]; then
        install -D -m 644 "$system/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
    fi
    "${packages[@]}" -s "$package" | sed '/^Conffiles:/,/^[^ ]/{/^Conffiles:/d;/^ /d}' > "$root/var/lib/dpkg/status.d/$package"
done < <(packages_of "${files[@]}")
# What their copyright files refer to.
mkdir -p "$root/usr/share/common-licenses"
while read -r name; do
    [ ! -e "/usr/share/$name" ] || cp -L "/usr/share/$name" "$root/usr/share/$name"
done < <(grep -rhoE 'common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$root/usr/share/doc" | sort -u)
