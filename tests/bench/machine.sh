# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154  # top is lib.sh's
# What a report says about the machine and the source, for people and for the JSON. Sourced by the scripts beside it, after
# lib.sh; it measures nothing.

cpu_model() { sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1; }
memory_mib() { echo $(($(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1024)); }
huge_pages() { sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2> /dev/null; }
governor() { cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2> /dev/null; }
cgroup_mode() {
    if [ "$(stat -fc %T /sys/fs/cgroup 2> /dev/null)" = cgroup2fs ]; then
        echo v2
    elif grep -q ' cgroup2 ' /proc/mounts; then
        echo "v1, v2 beside it"
    else
        echo v1
    fi
}
load() { cut -d ' ' -f 1-3 /proc/loadavg; }

commit_of() { repository -C "$top" rev-parse --verify --quiet "$1^{commit}" 2> /dev/null; }
# New files count: the build compiles whatever lies in its folders.
is_clean() { [ -z "$(repository -C "$top" status --porcelain 2> /dev/null)" ]; }
tree_name() { # what the working tree is, for people
    local commit
    commit=$(commit_of HEAD) || { echo "unknown: no git repository"; return; }
    echo "${commit:0:12}$(is_clean || echo ", with uncommitted changes")"
}

machine_lines() {
    echo "  kernel   $(uname -r), cgroup $(cgroup_mode)"
    echo "  CPU      $(nproc) x $(cpu_model), governor: $(governor || echo "not known, no cpufreq")"
    echo "  memory   $(memory_mib) MiB, huge pages: $(huge_pages)"
    echo "  load     $(load) before it began"
}

json_text() { # json_text TEXT: null for none; for texts without quotes, as these are
    if [ -n "$1" ]; then echo "\"$1\""; else echo null; fi
}
machine_facts() { # one fact a line, for evictd_bench_figures; called before anything is measured
    printf '%s\n' "machine.cpu=$(cpu_model)" "machine.cpus:=$(nproc)" "machine.kernel=$(uname -r)" \
        "machine.memory_mib:=$(memory_mib)" "machine.huge_pages:=$(json_text "$(huge_pages)")" \
        "machine.governor:=$(json_text "$(governor)")" "machine.cgroups=$(cgroup_mode)" "machine.load_before=$(load)"
}
tree_facts() { # tree_facts KEY: commit, null outside a repository, and whether the tree was clean
    local commit clean=null
    if commit=$(commit_of HEAD); then clean=$(is_clean && echo true || echo false); fi
    printf '%s\n' "$1commit:=$(json_text "$commit")" "$1clean:=$clean"
}
