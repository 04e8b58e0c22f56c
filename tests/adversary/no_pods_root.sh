#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The node has no pods' cgroup yet, and cgroups are made beside it, as when a machine boots. To look for it must not wake the
# agent again: it took a CPU for itself, and did not answer SIGTERM.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
empty_cgroup "$name/kubepods"
start_agent
attack_begins
for number in 1 2 3; do
    make_cgroup "$name/other$number"
    sleep 0.2
    empty_cgroup "$name/other$number"
done
ADVERSARY_SECONDS=5
check "the agent's CPU time" attack_costs
ends_soon() {
    kill -TERM "$agent"
    wait_for 3 gone "$agent" || { kill -KILL "$agent"; return 1; }
}
check "SIGTERM ends it within 3 s" ends_soon
agent=
check "no pin is left" test ! -e "/sys/fs/bpf/$name"
exit "$failed"
