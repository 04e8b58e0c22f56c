#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A live run on a tape, and the tape played again: the same decisions byte for byte, rotation, a full disk, a torn end, and
# what another configuration would have done.
# shellcheck disable=SC2317,SC2016,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 160 "tapes"
uid=cccccccc-0000-4000-8000-0000000000
tape=$work/tapes/node.tape
hard() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }
as_config() { hard "$1" > "$work/$2.yaml"; }
recorded() { sed -nE 's/^\{"look":.*,"decision":(\{.*\})\}$/\1/p' "$@"; } # recorded FILE...: the decisions on it
looks() { grep -c '^{"look":' "$1" 2> /dev/null || true; }

add_pod quiet burstable "${uid}01" 64Mi
add_pod hog besteffort "${uid}02"
start_in quiet "$(hold 8)"
wait_for 10 holds quiet 8
write_config "$(hard 48)"

# ---- a live run, with a spike and a new configuration in it
start_agent --record "$tape"
# The hog stops at 120 MiB: however late the look, 1 MiB stays free, so that a laxer configuration has nothing to do.
spike() { start_in hog "$(hold 120)" && wait_for 10 evicted hog && wait_for 5 gone "$started"; }
check "a pod that grows is evicted while a tape is written" spike
remove_pod hog
reload "$(hard 32)"
check "the recording agent ends with 0" stop_agent
private() { [ "$(stat -c %a "$tape")" = 600 ]; }
check "the tape is for root alone" private
marked() { head -n 1 "$tape" | grep -q '^{"evictd_tape":1,' && valid_json "$tape"; }
check "the tape is JSON lines, with a header" marked

# ---- played again
same() { run 0 replay -o json "$tape" && recorded "$tape" | cmp -s - "$work/out" && [ ! -s "$work/err" ]; }
check "replay takes the same decisions, byte for byte" same
one_eviction() { [ "$(grep -c '"evict":{"pod":"default/hog"' "$work/out")" -eq 1 ] && [ "$(grep -c '"evict":{' "$work/out")" -eq 1 ]; }
check "the eviction is among them" one_eviction
text() { run 0 replay "$tape" && says 'evicts default/hog for allocatableMemory.available' && says 'looks, every decision as recorded$'; }
check "replay tells it to people" text
without_root() { cp "$tape" "$work/copy.tape" && chmod 644 "$work/copy.tape" && as_nobody "$EVICTD" replay "$work/copy.tape" > "$work/out" 2> "$work/err"; }
if as_nobody "$EVICTD" --version > /dev/null 2>&1; then
    check "a tape is played without root" without_root
else
    skip "a tape is played without root" "nobody cannot start $EVICTD"
fi

# ---- what if
as_config 48 same && as_config 156 stricter && as_config 1 laxer
stricter() { run 0 replay --with "$work/stricter.yaml" "$tape" && says '  as recorded ' && says '  with .*stricter.yaml'; }
check "--with a stricter configuration says where it differs" stricter
earlier() { says 'evicts default/quiet|evicts default/hog' && says '^[0-9]+ looks, [1-9][0-9]* differ'; }
check "... and whom it would have evicted" earlier
laxer() { run 0 replay --with "$work/laxer.yaml" "$tape" && says 'as recorded .*evicts default/hog' && says '1 eviction as recorded, 0 with'; }
check "--with a laxer one says who would have stayed" laxer
json() { run 0 replay --with "$work/laxer.yaml" -o json "$tape" && valid_json "$work/out" && says '^\{"without":\{.*"with":\{'; }
check "--with -o json is an object for each difference" json
bad_config() { hard x > "$work/bad.yaml" && run 1 replay --with "$work/bad.yaml" "$tape" && one_error_line && complains 'bad.yaml:1'; }
check "1: --with a configuration that is none" bad_config

# ---- a tape that is not as it was
changed() {
    sed -E '3s/"evict":null/"evict":{}/' "$tape" > "$work/changed.tape"
    run 1 replay "$work/changed.tape" && one_error_line && complains 'changed.tape:3: the decision is not the recorded one'
}
check "1: a decision that is not the recorded one, with its line" changed
torn() {
    head -c -50 "$tape" > "$work/torn.tape"
    run 0 replay -o json "$work/torn.tape" && complains 'torn.tape:[0-9]+: the last line was not finished' &&
        [ "$(wc -l < "$work/out")" -eq $(($(looks "$tape") - 1)) ]
}
check "a last line that was not finished is left out, and said" torn
binary() {
    { head -n 1 "$tape"; head -c 100000 /dev/urandom; } > "$work/binary.tape"
    run 1 replay "$work/binary.tape" && one_error_line && complains 'binary.tape:[0-9]+: '
}
check "1: a tape with garbage in it" binary
endless() {
    { head -n 1 "$tape"; head -c 100000000 /dev/zero | tr '\0' '['; } > "$work/endless.tape"
    run 1 replay "$work/endless.tape" && one_error_line && complains 'endless.tape:2: '
    local status=$?
    rm -f "$work/endless.tape"
    return "$status"
}
check "1: a line of 100 MB" endless

# ---- rotation
small=$work/tapes/small.tape
look_often() { for _ in $(seq "$1"); do answers; sleep 0.03; done; }
rotates() {
    start_agent --record "$small" --record-size 16Ki
    look_often 100
    stop_agent || return 1
    [ -e "$small.1" ] && [ ! -e "$small.2" ] && [ "$(stat -c %s "$small")" -le 16384 ] && [ "$(stat -c %s "$small.1")" -le 16384 ]
}
check "a tape rotates, and stays below its size" rotates
each() {
    run 0 replay "$small.1" && run 0 replay "$small" && run 0 replay -o json "$small.1" "$small" || return 1
    recorded "$small.1" "$small" | cmp -s - "$work/out" && [ ! -s "$work/err" ]
}
check "each of its files can be played, and both together" each
wrong_order() { run 1 replay "$small" "$small.1" && complains 'older file first'; }
check "1: in the wrong order" wrong_order

# ---- trouble
goes_on() {
    start_agent --record "$small"
    look_often 2
    kill -KILL "$agent"
    wait "$agent" 2> /dev/null
    start_agent --record "$small"
    look_often 2
    stop_agent && run 0 replay "$small" && complains 'the agent was started again'
}
check "a tape goes on after the agent was killed and started again" goes_on
full() {
    start_agent --record /dev/full
    look_often 2
    run 0 status -o json --socket "$work/run/evictd.sock" && grep -qE '"looks for the tape": [1-9]' "$work/out" || return 1
    stop_agent && grep -q 'tape.*No space left' "$agent_log"
}
check "a full disk for the tape: it keeps working, and counts" full
nowhere() { run 1 run --config "$work/config.yaml" --record /proc/nowhere/node.tape && one_error_line; }
check "1: a tape that cannot be written" nowhere
no_size() { run 2 run --config "$work/config.yaml" --record "$small" --record-size lots && complains 'invalid size "lots"'; }
check "2: --record-size that is none" no_size
exit "$failed"
