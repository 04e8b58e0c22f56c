#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod with more than 1,024 cgroups holds memory that is charged and counted as no kind of memory: huge pages in pipes,
# mapped by nobody. It is not taken for page cache that the kernel has not counted yet: the pod is evicted, in time.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if ! grep -qE '\[(always|madvise)\]' /sys/kernel/mm/transparent_hugepage/enabled; then
    echo "skip no transparent huge pages here"
    exit 0
fi
begin 512
innocents 2 100
hostile crowd burstable 1Mi
attack crowd cgroups "${hierarchies[0]}/${pod_path[crowd]}/c1" 1100
start_agent
reload "$(hard $(($(available) - 100)))"
sleep 1
attack_begins
attack crowd unmapped 2000
check "it is evicted, before the kernel kills anybody" dies crowd
check "no other pod is" innocents_live
check "the agent's CPU time" attack_costs
finish
