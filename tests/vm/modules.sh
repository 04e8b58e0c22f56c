# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# Kernel modules for a guest. Sourced, after tests/tools/lib.sh; it loads nothing.

# copy_modules KERNEL-DIR ROOT NAME...: each with what it depends on. Prints those that are to be loaded: one that is built in
# is not.
copy_modules() {
    local kernel=$1 root=$2 release tree name line file
    release=$(basename "$(readlink -f "$kernel")")
    tree=lib/modules/$release
    shift 2
    mkdir -p "$root/$tree"
    cp "$kernel/$tree"/modules.* "$root/$tree/"
    for name in "$@"; do
        line=$(grep -E "/$name\.ko:" "$kernel/$tree/modules.dep") ||
            { grep -q "/$name\.ko" "$kernel/$tree/modules.builtin" && continue; die "kernel $release has no module $name"; }
        for file in ${line/:/ }; do
            mkdir -p "$root/$tree/${file%/*}"
            cp "$kernel/$tree/$file" "$root/$tree/$file"
        done
        echo "$name"
    done
}
