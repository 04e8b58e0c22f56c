#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A victim leaves page cache under writeback to a FUSE server that never answers: on cgroup v1 the kernel waits for it without
# end when it is asked to drop the victim's page cache. Nothing else of the agent may wait for that.
# shellcheck disable=SC2016,SC2317,SC2119  # check calls functions by name; what is in single quotes runs elsewhere
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin 256
if is_v2; then skip "writeback that hangs" "memory.force_empty is cgroup v1's"; exit 0; fi
if [ ! -c /dev/fuse ]; then skip "writeback that hangs" "no /dev/fuse here"; exit 0; fi
hung=$work/hung go=$work/go
file=$(mktemp /var/tmp/evictd-test-XXXXXX) # one hole, and not in a tmpfs: reading it fills the page cache
truncate -s 64M "$file"
mkdir "$hung"
answer_all() { # first, so that nothing hangs when it is killed
    touch "$go"
    sleep 1
    umount -l "$hung" 2> /dev/null
    [ -z "$server" ] || kill -KILL "$server" 2> /dev/null
    rm -f "$file"
}
server=
trap 'answer_all; end_attack; clean_up' EXIT
"$ATTACKER" --ready "$work/ready.server" withhold "$hung" "$go" &
server=$!
disown "$server"
if ! wait_for 10 test -e "$work/ready.server"; then skip "writeback that hangs" "FUSE cannot be mounted"; exit 0; fi

innocents 4 16
start_agent
hostile hung
hostile writer burstable 64Mi
hostile reader
attack_begins
attack hung read "$hung/f"
attack hung hold 40
attack writer dirty "$hung/f"
under_writeback() { awk '$1 == "total_writeback" { exit $2 < 2 ^ 20 }' "${hierarchies[0]}/${pod_path[hung]}/memory.stat"; }
if ! wait_for 10 under_writeback; then skip "writeback that hangs" "the pages are not charged to the pod"; exit 0; fi

first() { cross 24 && wait_for 5 chosen hung && dies hung && stay_alive 2; }
check "the victim dies whose page cache cannot be written" first
calm
attack reader reread "$file"
attack reader hold 24
sleep 1 # read twice, page cache is active
held=$(usage_mib reader)
given_back() { [ "$(usage_mib reader)" -lt 16 ]; }
second() { [ "$held" -ge 70 ] && cross 40 && wait_for 5 chosen reader && dies reader && wait_for 20 given_back && stay_alive 2; }
check "what another victim read is still given back ($held MiB)" second
check "the agent's CPU time" attack_costs
ends() { kill -TERM "$agent" && wait_for 5 eval '! alive "$agent"' && wait "$agent"; }
check "SIGTERM ends the agent within 5 s, with 0" ends
alive "$agent" || agent=
check "no pod is left frozen" none_frozen
check "no pin is left" test ! -e "/sys/fs/bpf/$name"
exit "$failed"
