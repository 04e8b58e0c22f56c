# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# What a rig may not leave behind. Sourced after lib.sh, never run.

left_behind() { # left_behind RIG-DIRECTORY: prints it
    [ ! -e "$1" ] || echo "directory $1"
    cgroup_roots "$(cgroup_of "$1")"
    grep -F "$1" /proc/self/mountinfo
    grep -lF "$1/" /proc/[0-9]*/cmdline /proc/[0-9]*/mountinfo # of processes, zombies excepted
}
leaves_nothing() { # leaves_nothing RIG-DIRECTORY
    local left
    left=$(left_behind "$1" 2> /dev/null)
    [ -z "$left" ] || { printf '    left behind:\n%s\n' "$left"; return 1; }
}
