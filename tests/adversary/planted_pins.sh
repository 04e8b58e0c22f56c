#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A directory in the world-writable bpffs, made beforehand by a local user with a symbolic link in it: root must delete nothing
# there, nor follow the link.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
bpffs=/sys/fs/bpf
if ! command -v bpftool > /dev/null; then skip "a planted directory in the bpffs" "needs bpftool"; exit 0; fi
foreign=$bpffs/$name-foreign
mkdir -m 755 "$foreign" && bpftool map create "$foreign/pods" type array key 4 value 4 entries 1 name foreign || exit 1
trap 'rm -rf "$bpffs/$name" "$foreign"; end_attack; clean_up' EXIT
innocents 1
plant() { # plant LINK TARGET
    as_nobody mkdir "$bpffs/$name" 2> /dev/null || { mkdir "$bpffs/$name" && chown 65534:65534 "$bpffs/$name"; }
    chmod 777 "$bpffs/$name"
    ln -s "$2" "$bpffs/$name/$1"
}
try_run() { # it may refuse, and say how to go on; it may not follow
    timeout -k 5 6 "$EVICTD" run --config "$work/config.yaml" > "$work/out" 2> "$work/err" < /dev/null
    timeout 10 "$EVICTD" undo --config "$work/config.yaml" > /dev/null 2>&1 < /dev/null
    [ -e "$foreign/pods" ]
}
plant pods "$foreign/pods"
check "a link to a pin is not followed" try_run
rm -rf "${bpffs:?}/$name"
plant links "$foreign"
check "a link to a directory of others is not followed" try_run
rm -rf "${bpffs:?}/$name"
refused() { ! timeout -k 5 6 "$EVICTD" run --config "$work/config.yaml" > "$work/out" 2> "$work/err" < /dev/null && grep -q "$bpffs" "$work/err"; }
plant pods "$foreign/pods"
check "a directory of others is refused, by name" refused
rm -rf "${bpffs:?}/$name"
ln -s "$foreign" "$bpffs/$name"
check "nor may the directory itself be a link" try_run
rm -f "$bpffs/$name"
exit "$failed"
