#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Two pods with many processes and cgroups take turns as the first victim: each turn raises the scores of one and puts
# back those of the other. A neighbour that was first for a moment, too, is not left raised for it.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 512
innocents 1
hostile still burstable 1Mi
hostile swaying burstable 1Mi
hostile neighbour burstable 8Mi
start_in neighbour "exec $ATTACKER hold 30"
neighbour=$started
score_of() { cat "/proc/$1/oom_score_adj" 2> /dev/null; }
has_score() { [ "$(score_of "$1")" = "$2" ]; }
score_is_set() { ! has_score "$neighbour" 0; }
start_agent
check "the neighbour has its class's score" wait_for 10 score_is_set
class=$(score_of "$neighbour")
attack still many 130 100
attack swaying many 130 80
attack swaying breathe 40 "${FLIP_MS:-100}"
for pod in still swaying; do # which have to be searched for processes
    "$ATTACKER" cgroups "${hierarchies[0]}/${pod_path[$pod]}/c1" 900
done

# Met all the time, and no eviction comes of it.
reload "$(hard 4)" "evictionSoft: {allocatableMemory.available: 500Mi}" "evictionSoftGracePeriod: {allocatableMemory.available: 10m}"
raised() { logged "\"Raised oom_score_adj of [0-9]+ process(es)? of pod default/$1 "; }
took_turns() { wait_for 5 raised still && wait_for 5 raised swaying; }
check "both are raised in turn" took_turns
attack_begins
ADVERSARY_SECONDS=8 attack_costs || true
write_manifest neighbour "$(uid_of neighbour)" 8Mi -10
check "the neighbour is raised while it is the first" wait_for 5 has_score "$neighbour" 1000
write_manifest neighbour "$(uid_of neighbour)" 8Mi 0
sleep 1
calm
check "and is back at its class's score soon after" wait_for 8 has_score "$neighbour" "$class"
check "the innocents live" innocents_live
finish
