#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What reads tests/vm/matrix.yaml and the cases: a mistake in one must be a line that names its place, never a boot or a check
# that quietly is another. Boots nothing.
# shellcheck disable=SC2317,SC2016,SC2013  # check calls functions by name; a $ of sed; one name a line
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
vm=$top/tests/vm cases=""
# shellcheck source-path=SCRIPTDIR source=../vm/case.sh
. "$vm/case.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok vm: $name"; else echo "not ok vm: $name"; failed=1; fi
}

# ---- the matrix
matrix() { # matrix [BOOT]: as in $work/m.yaml
    awk ${1:+-v "boot=$1"} -f "$vm/matrix.awk" "$work/m.yaml" > "$work/out" 2> "$work/err"
}
changed() { # changed SED-SCRIPT: the project's own matrix, and something in it is not as it was
    sed "$1" "$vm/matrix.yaml" > "$work/m.yaml"
    ! cmp -s "$vm/matrix.yaml" "$work/m.yaml"
}
refused() { # refused SED-SCRIPT REGEX: one line, with the file's line, that says why
    changed "$1" && ! matrix 6.1-without-psi && [ "$(wc -l < "$work/err")" -eq 1 ] &&
        grep -qE "m.yaml:[0-9]+: .*$2" "$work/err"
}
says() { grep -qE -- "$1" "$work/out"; }
own() { cp "$vm/matrix.yaml" "$work/m.yaml" && matrix && says '^6.1-v1$'; }
check "the matrix names its boots" own
every_boot() {
    local name
    matrix && for name in $(cat "$work/out"); do
        matrix "$name" && says $'^kernel\t(6\\.[0-9]+|trixie|sid)$' && says $'^cgroups\t' && says $'^has\t' || return 1
    done
}
check "every boot has a kernel, a cgroup layout and capabilities" every_boot
check "an unknown key" refused 's/append: psi=0/appendix: psi=0/' "no 'appendix'"
check "a key twice" refused 's/append: psi=0/&\n    append: a/' "again"
check "a boot twice" refused 's/name: 6.12-v2/name: 6.1-v2/' "again"
check "an unknown cgroup layout" refused 's/cgroups: hybrid/cgroups: v3/' "not 'v3'"
check "an unknown capability" refused 's/has: \[v2, psi\]/has: [v2, spi]/' "no capability 'spi'"
check "a switch that is neither on nor off" refused 's/bpf: off/bpf: no/' "on or off"
check "in_turns that is not yes" refused 's/in_turns: yes/in_turns: no/' "in_turns must be yes"
in_turns() { # each boot is in one of the two lists
    own && sort "$work/out" > "$work/all" &&
        { awk -v turns=0 -f "$vm/matrix.awk" "$work/m.yaml"; awk -v turns=1 -f "$vm/matrix.awk" "$work/m.yaml"; } | sort | cmp -s - "$work/all" &&
        [ "$(awk -v turns=1 -f "$vm/matrix.awk" "$work/m.yaml" | wc -l)" -eq "$(grep -c 'in_turns: yes' "$work/m.yaml")" ]
}
check "turns=1 lists the boots with in_turns, turns=0 all others" in_turns
check "a value that YAML reads otherwise" refused 's/append: psi=0/append: {a: 1}/' "quotes"
check "a comment behind a value" refused 's/append: psi=0/& # why/' "quotes"
check "a tab" refused 's/append: psi=0/\t&/' "a tab"
check "wrong indentation" refused 's/^    append: psi=0/   append: psi=0/' "indentation"
check "a missing key" refused '/name: 6.1-lockdown/,$ { /has:/d }' "does not say what it has"
check "no boots" refused '/^boots:/,$d' "no boots"
check "a rare case in a boot that is not there" refused 's/^fewer:$/&\n  - case: a\n    boots: [x]\n    reason: b/' "no boot 'x'"
check "a rare case without a reason" refused 's/^fewer:$/&\n  - case: a\n    boots: [6.1-v2]/' "reason"
no_boot() { own && ! matrix 7.0-v9 && grep -q "no boot '7.0-v9' (6.1-v2 " "$work/err"; }
check "a boot that is not there is named, with those that are" no_boot
skipped() {
    changed 's/append: psi=0/&\n    skip:\n      doctor: "slow: very"/' && matrix 6.1-without-psi &&
        says $'^skip\tdoctor\tslow: very$' && matrix 6.1-v2 && ! says $'^skip\tdoctor\tslow'
}
check "a case is skipped in one boot, with the reason" skipped
rare() {
    changed 's/^fewer:$/&\n  - case: doctor\n    boots: [6.1-v2]\n    reason: rare/' && matrix 6.1-v1 &&
        says $'^fewer\tdoctor\trare$' && matrix 6.1-v2 && ! says $'^fewer\tdoctor'
}
check "a rare case runs in the boots it names, and the others say why not" rare

# ---- the cases
cases=$work has="v2 psi" known="v2 v1 psi bpf"
write_case() { printf '%s\n' "$@" > "$work/c.case"; }
bad_case() { # bad_case REGEX LINE...
    local regex=$1
    shift
    write_case "$@"
    ! (check_case c) > /dev/null 2> "$work/err" && [ "$(wc -l < "$work/err")" -eq 1 ] && grep -qE "$regex" "$work/err"
}
good_case() {
    write_case "# why" "NAME: n" "WHERE: v2 !bpf" "EXPECT(psi): a: b" "EXPECT(!psi): c" "EXPECT: d" RUN: "EXPECT: e" &&
        (check_case c) && [ "$(values c EXPECT | paste -sd,)" = "a: b,d" ] && [ "$(limit_of c)" = 60 ]
}
check "what is expected depends on the machine, and ends where the script begins" good_case
check "a case with a key that nobody reads" bad_case "c.case:2: .*EXPCT" "NAME: n" "EXPCT: a" RUN:
check "a case with a capability that nobody probes" bad_case "no capability 'v3'" "WHERE: v3" RUN:
check "a case with such a condition" bad_case "no capability 'v3'" "EXPECT(!v3): a" RUN:
check "a case without a script" bad_case "no RUN:" "NAME: n"
why() { [ "$(unmet "$1")" = "$2" ]; }
check "why a case does not apply: something is missing" why "v2 bpf" "needs bpf"
check "why a case does not apply: something is there" why "!psi" "only without psi"
check "a case applies" why "v2 !bpf" ""
every_case() {
    local name
    has="" cases=$vm/cases known=$(sed -n '/^capabilities:/,/^$/s/^  \([a-z0-9_]*\):.*/\1/p' "$vm/matrix.yaml" | paste -sd' ')
    [ -n "$known" ] && for name in $(case_names); do (check_case "$name") || return 1; done
}
check "every case of the project is understood" every_case
exit "$failed"
