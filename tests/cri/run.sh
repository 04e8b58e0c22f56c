#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# cri_tests on a real containerd of each version, all at once, each on a rig of its own: a line "ok", "not ok" or "skip" a
# test. Unpacks what a rig needs on first use.
# usage: run.sh [GTEST-ARGUMENT...]     env: CRI_TESTS (build/cri_tests), RELEASES ("none trixie sid": of Debian; none is this one),
#                                            CHURN_SECONDS (60): how long containers come and go while garbage is collected
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tests=$(realpath "${CRI_TESTS:-$here/../../build/cri_tests}")
unset EVICTD_CRI_RUN EVICTD_KUBE_RUN CONTAINERD_RELEASE
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../kube/leftovers.sh
. "$kube/leftovers.sh"
export CHURN_SECONDS=${CHURN_SECONDS:-60}
limit=$((300 + CHURN_SECONDS))

if [ "$(id -u)" -ne 0 ]; then echo "skip cri: needs root"; exit 0; fi

play() ( # play RELEASE DIRECTORY [GTEST-ARGUMENT...]: "none" is this release
    name=$1 status=0
    export EVICTD_CRI_RUN=$2
    [ "$name" = none ] || { export CONTAINERD_RELEASE=$name; bin=$cache/$name; }
    shift 2
    "$cri/build.sh" || status=$?
    if [ "$status" -eq 75 ]; then echo "skip $name's containerd: it cannot be had here"; return 0; fi
    CRI_VERSION=$("$bin/containerd" --version | sed -nE 's/^[^ ]+ [^ ]+ v?([0-9]+\.[0-9]+).*/\1/p')
    [ -n "$CRI_VERSION" ] || { echo "not ok $name's containerd: it says its version"; return 1; }
    export CRI_VERSION
    containerd=containerd-$CRI_VERSION
    where=$("$cri/up.sh") || { echo "not ok $containerd: it starts"; return 1; }
    where=${where#CRI=}
    export CRI_CTR=$bin/ctr CRI_IMAGES=$EVICTD_CRI_RUN/node/images
    export CRI_EVICTD=${tests%/*}/evictd
    export CRI_PACK=$top/deploy/image/pack.sh
    export CRI_SOCKET=${where% CGROUP=*} CRI_CGROUP=${where#* CGROUP=} CRI_UP=$cri/up.sh
    export CRI_CONTAINERD=${CRI_SOCKET%/sock/*}/containerd.pid
    timeout -k 10 "$limit" "$tests" --gtest_color=no "$@" 2>&1 < /dev/null |
        sed -E "s/^\[ +OK \] ([^ ]+) .*/ok $containerd: \1/; t; s/^\[  FAILED  \] ([^ ,]+) \(.*/not ok $containerd: \1/; t
            s/^\[  SKIPPED \] ([^ ]+) \(.*/skip $containerd: \1/; t; /^(\[|$)/d; s/^/    /"
    status=${PIPESTATUS[0]}
    [ "$status" -ne 124 ] || echo "not ok $containerd: its tests end within $limit s"
    "$cri/down.sh" || status=1
    if leaves_nothing "$EVICTD_CRI_RUN"; then echo "ok $containerd: it leaves nothing"; else echo "not ok $containerd: it leaves nothing"; status=1; fi
    return "$status"
)

remove_rigs() { # remove_rigs DIRECTORY: the rigs in it, and itself
    local directory
    for directory in "$1"/evictd-cri-*/; do [ ! -d "$directory" ] || EVICTD_CRI_RUN=${directory%/} "$cri/down.sh"; done
    rm -rf "$1"
}
remove_abandoned() { # what a run left behind that was ended by SIGKILL: its lock is free
    local lock
    while read -r lock; do
        (flock -n 9 && remove_rigs "${lock%/lock}" 9<&-) 9< "$lock"
    done < <(find "${TMPDIR:-/tmp}" -maxdepth 2 -path '*/evictd-cri.*/lock' -mmin +1 2> /dev/null) # not one that is being made
}

remove_abandoned
work=$(mktemp -d "${TMPDIR:-/tmp}/evictd-cri.XXXXXX")
exec 8> "$work/lock"
flock 8
players=()
# shellcheck disable=SC2317  # the trap calls it
end_all() { # also when this is killed: whatever is there is removed
    local player
    for player in "${players[@]}"; do kill -- "-$player" 2> /dev/null; done
    wait
    remove_rigs "$work"
}
trap end_all EXIT
trap 'exit 130' INT TERM

begin=$SECONDS failed=0
set -m # each has a process group of its own, which can be ended with all that it waits for
for release in ${RELEASES:-none trixie sid}; do
    case $release in none | trixie | sid) ;; *) die "no release '$release' (none, trixie, sid)" ;; esac
    play "$release" "$work/evictd-cri-${work##*.}-$release" "$@" > "$work/$release.log" 2>&1 8>&- &
    players+=($!)
done
set +m
for pid in "${players[@]}"; do wait "$pid" || failed=1; done
players=()
cat "$work"/*.log
echo "# $((SECONDS - begin)) s"
exit "$failed"
