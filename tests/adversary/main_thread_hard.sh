#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A pod whose main thread has exited goes on in another one: it is not exempt from the ranking.
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
played() { cross 24 && wait_for 5 chosen threads && dies threads && stay_alive 2; }
check "a pod without a main thread is evicted as any other, and only it" played
check "the agent's CPU time" attack_costs
finish
