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
grace=2
evicting_at() { date -d "$(sed -nE '/"reason":"Evicting"/s/.*"time":"([^"]*)".*/\1/p' "$log" | head -n 1)" +%s%3N; } # in ms
played() { # on a busy machine its end is seen later than it comes, never earlier
    local lived
    reload "$(soft $(($(available) + 24)) "$grace")" && wait_for 10 chosen threads && dies threads 20 || return 1
    lived=$((${EPOCHREALTIME//[!0-9]/} / 1000 - $(evicting_at)))
    [ "$lived" -ge $((grace * 1000)) ] || { echo "    gone after $lived ms, before its grace period was over"; return 1; }
    stay_alive 2
}
check "a deaf victim without a main thread is killed after its grace period, and only it" played
check "the agent's CPU time" attack_costs
finish
