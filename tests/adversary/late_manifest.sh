#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod runs and takes memory before its manifest is read: no innocent pod goes in its place, and evictions wait for it no longer
# than the kubelet's period.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
start_agent
unknown() { # unknown POD: its cgroup, and no manifest
    pod_path[$1]=$name/kubepods/besteffort/pod$(uid_of "$1")
    make_cgroup "${pod_path[$1]}/c1"
}
why() { "$EVICTD" status -o json --socket "$work/run/evictd.sock" | grep -oE '"why": ?"[^"]*"'; }
waits() { why | grep -q "not known yet (UID $(uid_of "$1"),"; }
late() { # 0.3 s; without BPF or on a loaded machine a source may take as long
    unknown late
    attack late hold 80 || return 1
    cross 24 && sleep 0.3 && write_manifest late "$(uid_of late)" "" 0
    wait_for 5 chosen late && dies late && stay_alive 1 || return 1
    calm && remove_pod late
}
check "a manifest that comes late: only its pod goes" late
never() {
    hostile middle
    attack middle hold 40 || return 1
    unknown never
    local made=$SECONDS
    attack never hold 80 || return 1
    cross 24 && wait_for 2 waits never && wait_for 2 logged '"EvictionDelayed".*"name":"middle"' || return 1
    wait_for 20 chosen middle || return 1
    echo "    an eviction $((SECONDS - made)) s after its cgroup was made"
    [ $((SECONDS - made)) -ge 9 ] && [ $((SECONDS - made)) -le 12 ] && calm && innocents_live
}
check "a manifest that never comes holds up an eviction for 10 s" never
finish
