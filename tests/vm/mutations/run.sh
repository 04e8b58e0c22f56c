#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Shows that the VM cases can fail: each patch in here breaks one thing in a copy of the source, and the case named in it,
# run against that build, must be red while its machine comes up as it should. Not part of make test: it takes minutes.
# usage: run.sh [-d DIRECTORY] [NAME...]     DIRECTORY (build/mutations) holds the copy and its build, and is reused
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../tools/lib.sh
. "$(dirname "$0")/../../tools/lib.sh"
patches=$(cd "$(dirname "$0")" && pwd)
need git git
need cmake cmake

directory=$top/build/mutations
while getopts d: option; do
    case $option in d) directory=$OPTARG ;; *) sed -n '/^# usage:/,/^[^#]/s/^# //p' "$0" >&2; exit 2 ;; esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
    for patch in "$patches"/*.patch; do set -- "$@" "$(basename "$patch" .patch)"; done
fi
tree=$directory/source build=$directory/build
mkdir -p "$tree" "$build"
tree=$(realpath "$tree") build=$(realpath "$build") # either may be a link to what is there already

copy_sources() { # only what differs, so that little is built again
    local file
    while IFS= read -r -d '' file; do
        [ -e "$top/$file" ] || continue
        if ! cmp -s "$top/$file" "$tree/$file"; then
            mkdir -p "$tree/$(dirname "$file")"
            cp -p "$top/$file" "$tree/$file"
            touch "$tree/$file"
        fi
    done < <(git -C "$top" ls-files -z)
}

compile() { # to a log; shown if it fails
    local launcher=()
    if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    if ! { cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DEVICTD_WERROR=OFF \
        -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG" "${launcher[@]}" &&
        ninja -C "$build" evictd evictd_node_bench vm_tools without_bpf; } > "$directory/build.log" 2>&1; then
        tail -n 30 "$directory/build.log" >&2
        die "the build of $1 failed ($directory/build.log)"
    fi
}
field() { sed -n "/^--- /q; s/^$2: //p" "$patches/$1.patch"; } # field NAME KEY

failed=0
for name in "$@"; do
    [ -r "$patches/$name.patch" ] || die "no mutation '$name'"
    copy_sources # also takes back the last one
    (cd "$tree" && GIT_CEILING_DIRECTORIES=$directory git apply "$patches/$name.patch") ||
        die "$name does not fit the source any more: make it anew"
    compile "$name"
    case_name=$(field "$name" case) boot=$(field "$name" boot)
    "$tree/tests/vm/run.sh" -b "$build" -B "$boot" "$case_name" > "$directory/$name.log" 2>&1 || true
    if ! grep -q "^ok $boot host:" "$directory/$name.log"; then
        failed=$((failed + 1))
        echo "unknown  $name: the machine did not come up ($directory/$name.log)"
    elif reason=$(sed -n "s/^not ok $boot $case_name: //p" "$directory/$name.log" | grep .); then
        echo "red      $name: $case_name on $boot: $(sed -n 's/^  FAILED: //p' "$directory/$name.log" | head -n 1) ($reason)"
    else
        failed=$((failed + 1))
        echo "GREEN    $name: $case_name on $boot did not notice"
    fi
done
copy_sources
[ "$failed" -eq 0 ]
