#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A host without a memory controller: hidden in a mount namespace of our own. EVICTD names the program.
set -u
if [ "$(id -u)" -ne 0 ]; then echo "skip without a memory controller evictd says so: needs root"; exit 0; fi
mounted=/sys/fs/cgroup/memory
[ -d "$mounted" ] || mounted=/sys/fs/cgroup
failed=0
for verb in run demo; do
    # shellcheck disable=SC2016  # the inner shell expands
    said=$(unshare -m bash -c 'umount -l "$1" && exec timeout 20 "$2" "$3"' - "$mounted" "$EVICTD" "$verb" 2>&1) && status=0 || status=$?
    if [ "$status" -eq 1 ] && grep -q '^evictd: .*memory controller' <<< "$said" && [ "$(wc -l <<< "$said")" -eq 1 ]; then
        echo "ok without a memory controller $verb says so in one line and ends with 1"
    else
        echo "not ok without a memory controller $verb says so in one line and ends with 1"
        printf '    status %s: %s\n' "$status" "$said"
        failed=1
    fi
done
exit "$failed"
