#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A configuration that changes under a running agent: a file, a ConfigMap's volume, a bad one, none.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs_node 96 "a configuration that changes"
hard() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }
in_force() { grep -q "\"value\":\"$1Mi\"" < <("$EVICTD" status -o json --socket "$work/run/evictd.sock" | tr -d ' \n'); }

# As the kubelet's AtomicWriter: a new directory, and a rename over the link to it.
volume=$work/volume
publish() { # publish THRESHOLDS...
    local next
    next=..$(date +%N)
    write_config "$@"
    mkdir -p "$volume/$next"
    cp "$work/config.yaml" "$volume/$next/config.yaml"
    ln -s "$next" "$volume/..data_tmp"
    mv -T "$volume/..data_tmp" "$volume/..data"
    [ -L "$volume/config.yaml" ] || ln -s ..data/config.yaml "$volume/config.yaml"
    find "$volume" -mindepth 1 -maxdepth 1 -type d ! -name "$next" -exec rm -r {} +
}
publish "$(hard 4)"
start_volume_agent() {
    agent_log=$work/agent.log
    "$EVICTD" run --config "$volume/config.yaml" > "$agent_log" 2>&1 < /dev/null &
    agent=$!
    wait_for 10 answers || { not_ok "the agent starts"; exit 1; }
}
start_volume_agent
check "the first configuration is in force" in_force 4
swapped() { publish "$(hard 5)"; wait_for 5 in_force 5 && wait_for 5 logged '"reason":"ConfigReloaded".*is in force"'; }
check "a swapped ConfigMap volume is in force without a signal" swapped
bad() {
    publish "evictionHard: {allocatableMemory.available: lots}"
    wait_for 5 logged '"reason":"ConfigRejected".*lots' && in_force 5
}
check "a bad one is refused as a whole, the old one stays" bad
mended() { publish "$(hard 6)"; wait_for 5 in_force 6; }
check "the next good one is in force" mended
restart_named() {
    settings='httpAddress: 127.0.0.1:20999'
    publish "$(hard 7)"
    settings=
    wait_for 5 in_force 7 && wait_for 5 logged '"reason":"ConfigReloaded".*needs a restart: evictd.httpAddress'
}
check "what needs a restart is named" restart_named
vanished() {
    mv "$volume/config.yaml" "$work/kept"
    wait_for 5 more_than 1 '"reason":"ConfigRejected"' && in_force 7 && alive "$agent"
}
check "a file that vanishes keeps the old one" vanished
back() { publish "$(hard 8)"; wait_for 5 in_force 8; }
check "and one that comes back is read" back
check "the agent ends with 0" stop_agent

settings='watchConfig: false'
write_config "$(hard 4)"
start_agent
not_watched() {
    local before
    before=$(count '"Config(Reloaded|Rejected)"')
    write_config "$(hard 9)"
    sleep 3  # longer than a watched one needs
    [ "$(count '"Config(Reloaded|Rejected)"')" -eq "$before" ] && in_force 4 && reload && wait_for 5 in_force 9
}
check "watchConfig: false waits for SIGHUP" not_watched
check "the agent ends with 0" stop_agent
settings=

write_config "$(hard 4)"
inherited() { # from a pipe it can be read once
    agent_log=$work/agent.log
    "$EVICTD" run --config /dev/stdin > "$agent_log" 2>&1 < <(cat "$work/config.yaml") &
    agent=$!
    wait_for 10 answers && in_force 4 && kill -HUP "$agent" && wait_for 5 logged 'cannot be read a second time' && in_force 4
}
check "a configuration from a pipe is not watched" inherited
check "the agent ends with 0" stop_agent
exit "$failed"
