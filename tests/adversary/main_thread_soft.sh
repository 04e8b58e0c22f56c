#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim without a main thread that blocks SIGTERM: it is alive until the kernel says that its cgroup is empty. Counted by
# group leaders it was "gone" 2 ms after SIGTERM, was never killed, and the neighbour went instead.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
hostile threads
attack threads --deaf main_thread 80
start_agent
attack_begins
played() { # on a busy machine a second or two pass until the event is seen: 6 s of grace, and 4 to live
    reload "$(soft $(($(available) + 24)) 6)" && wait_for 10 chosen threads || return 1
    stay_alive 4 || return 1
    if is_empty "${pod_path[threads]}"; then echo "    gone before its grace period was over"; return 1; fi
    dies threads 12 && stay_alive 2
}
check "a deaf victim without a main thread is killed after its grace period, and only it" played
check "the agent's CPU time" attack_costs
finish
