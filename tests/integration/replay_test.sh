#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd replay as a user meets it: the examples, its exit codes and its one-line errors. Needs no root.
# env: EVICTD, the program
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
examples=$top/deploy/replay

for example in "$examples"/*.yaml; do
    file=$(basename "$example")
    check "the example $file can be played" run 0 replay "$example"
    check "$file says why" says "MemoryPressure|evict"
    run 0 replay -o json "$example"
    cp "$work/out" "$work/first"
    check "$file is JSON, a line each step" valid_json "$work/first"
    check "$file has a line for each step" [ "$(wc -l < "$work/first")" -eq "$(grep -c '^- at:' "$example")" ]
    "$EVICTD" replay -o json - < "$example" > "$work/second"
    check "$file gives the same bytes again, from a pipe too" cmp -s "$work/first" "$work/second"
done

# refused NAME PATTERN: $work/case.yaml ends with 1 and one line that matches, and nothing is played
refused() {
    local what=$1 pattern=$2
    if run 1 replay "$work/case.yaml" && one_error_line && complains "$pattern" && [ ! -s "$work/out" ]; then
        ok "$what"
    else
        not_ok "$what"
    fi
}
case_is() { printf '%b' "$1" > "$work/case.yaml"; }

pod='- metadata: {name: a}\n  spec: {containers: [{name: a}]}\n'
case_is 'version: 1\nsteps:\n- at: 0s\n  available: {memory.avalable: 1Gi}\n'
refused "an unknown signal names its line and the nearest" "case.yaml:4: .*memory.avalable.*memory.available"
case_is 'version: 1\nsteps:\n- at: 10s\n- at: 5s\n'
refused "times that go backwards" "case.yaml:4: .*at"
case_is "version: 1\npods:\n$pod$pod"
refused "a pod named twice" "case.yaml:5: .*default/a"
case_is 'version: 1\nversion: 1\n'
refused "a key given twice" "case.yaml:2: .*version"
case_is 'version: 1\nsteps:\n- at: 0s\n  available: {memory.available: -1Gi}\n'
refused "a negative size" "case.yaml:4: .*memory.available"
case_is 'version: 1\nsteps:\n- at: 0s\n  available: {memory.available: .nan}\n'
refused "not a number" "case.yaml:4: .*memory.available"
case_is 'version: 1\nconfig: {evictionHard: {memory.available: 1Gx}}\n'
refused "a fault in the configuration" "case.yaml:2: .*config.evictionHard.memory.available"
{ head -c 300 "$examples/leak.yaml"; printf '{"a'; } > "$work/case.yaml"
refused "a file cut in the middle" "case.yaml:[0-9]+: "
head -c 4096 /dev/urandom > "$work/case.yaml"
refused "a binary file" "case.yaml"
head -c 100000000 /dev/zero | tr '\0' '[' > "$work/case.yaml"
refused "100 MB of nested brackets" "case.yaml"
{
    echo 'a: &a [x,x,x,x,x,x,x,x,x]'
    previous=a
    for key in b c d e f g h i j k; do
        echo "$key: &$key [*$previous,*$previous,*$previous,*$previous,*$previous,*$previous,*$previous,*$previous]"
        previous=$key
    done
} > "$work/case.yaml"
refused "aliases that explode" "case.yaml:[0-9]+: "
rm "$work/case.yaml"
refused "a file that is not there" "case.yaml.*No such file"
check "without a file it is wrong usage" run 2 replay
exit "$failed"
