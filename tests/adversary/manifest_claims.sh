#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What a pod says of itself exempts it from nothing: the annotations of static and mirror pods, and a name.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
innocents 3
claim() { # claim POD ANNOTATION VALUE
    hostile "$1"
    sed "s|uid: $(uid_of "$1")|uid: $(uid_of "$1"), annotations: {$2: $3}|" "$work/pods/$1.yaml" > "$work/pods/.new"
    mv "$work/pods/.new" "$work/pods/$1.yaml"
    attack "$1" hold 64
}
start_agent
attack_begins
goes() { sleep 1; cross 24 && wait_for 5 chosen "$1" && dies "$1" && stay_alive 1; }
claim file kubernetes.io/config.source file
check "config.source: file exempts no pod" goes file
calm
remove_pod file
claim mirror kubernetes.io/config.mirror abc
check "config.mirror exempts no pod whose own uid has a cgroup" goes mirror
check "the agent's CPU time" attack_costs
finish
