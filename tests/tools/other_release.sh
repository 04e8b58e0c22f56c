# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154  # who sources this has work, a directory of its own, and the array apt of its options
# Packages of another release of Debian than the machine's, without a change to the machine. Sourced, never run.

# Another release is looked up in package lists of our own: the machine's sources with another suite, its keys, and neither
# /etc/apt nor its lists touched. A line whose suite the archive does not have (sid-updates, sid-security) is left out.
other_release() { # other_release SUITE
    local code file parts=$work/apt/parts
    code=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ -n "$code" ] || return 1
    mkdir -p "$parts" "$work"/apt/{lists/partial,cache/archives/partial}
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -n "/^deb .*\b$code\b/s/\b$code\b/$1/gp" "$file" > "$parts/of-${file##*/}"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed -E "s/^Types:.*/Types: deb/; /^#/d; /^Suites:/s/\b$code\b/$1/g" "$file" > "$parts/${file##*/}"
    done
    [ "$1" != sid ] || only_plain_sid "$parts"
    apt+=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$parts" -o "Dir::State::lists=$work/apt/lists"
        -o "Dir::Cache=$work/apt/cache")
    timeout 240 apt-get "${apt[@]}" update >&2
}
only_plain_sid() { # only_plain_sid DIR: sid has no -updates, no -security and no -backports
    local file
    for file in "$1"/*.list; do [ ! -e "$file" ] || sed -i '/\bsid-[a-z]/d' "$file"; done
    for file in "$1"/*.sources; do
        [ -e "$file" ] || continue
        sed -E '/^Suites:/s/ *\bsid-[a-z-]+//g' "$file" |
            awk 'BEGIN { RS = ""; ORS = "\n\n" } /(^|\n)Suites: *sid/' > "$file.part"
        mv "$file.part" "$file"
    done
}
