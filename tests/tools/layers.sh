#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The link lists of CMakeLists.txt are the layer rule: a folder of agent/ includes what it links, and links what it
# includes. Ports know neither what was decided nor what is remembered, and decisions no names of the runtime.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
status=0
fault() { echo "$*" >&2; status=1; }

linked() { # linked FOLDER: the folders in its link list; fails if it has none
    local list
    list=$(tr '\n' ' ' < CMakeLists.txt | grep -oE "evictd_folder\($1( [^)]*)?\)") || return 1
    grep -oE 'evictd_[a-z]+' <<< "$list" | grep -v '^evictd_folder$' | sed 's/^evictd_//' | sort -u || true
}
for directory in agent/*/; do
    folder=$(basename "$directory")
    [ -n "$(find "$directory" -name '*.cpp' -print -quit)" ] || continue
    may=$(linked "$folder") || { fault "$folder: no evictd_folder($folder ...) in CMakeLists.txt"; continue; }
    does=$(grep -hoE '^#include "[a-z]+/' "$directory"*.cpp "$directory"*.hpp 2> /dev/null | sed -E 's,#include "([a-z]+)/,\1,' |
        sort -u | grep -vxE "$folder|evictd" || true)
    for other in $does; do
        grep -qx "$other" <<< "$may" || fault "agent/$folder includes $other/, which it does not link: $(grep -lE "^#include \"$other/" "$directory"* | head -n 3 | tr '\n' ' ')"
    done
    for other in $may; do
        # The model's headers are in include/: everybody may, and links what it defines.
        [ "$other" = model ] || grep -qx "$other" <<< "$does" || fault "agent/$folder links evictd_$other and includes nothing of it"
    done
done
while IFS= read -r line; do
    fault "$line: a port knows no Decision and no State"
done < <(grep -nE 'model/(decision|state|record)\.hpp' include/evictd/port/*.hpp || true)
# A pod that only the container runtime names must not be acted on.
while IFS= read -r file; do
    fault "$file: the runtime's names are for people, and no decision sees them"
done < <(grep -lE 'model/(runtime_names|record)\.hpp' agent/policy/* agent/act/* include/evictd/model/{observation,decision,state}.hpp || true)
exit "$status"
