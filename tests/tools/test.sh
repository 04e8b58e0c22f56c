#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Every test, suite by suite; the last line is "N passed, N failed" over all of them. A suite that cannot run here, or was
# not selected, is listed with the reason. Nothing stops at the first failure.
# usage: test.sh [SUITE...]     (lint unit asan tsan kernel cli cri adversary soak fuzz vm kube; all but unit and kube)     env: BUILD JOBS CASES VM_BOOTS
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1
build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}
all=(lint unit asan tsan kernel cli cri adversary soak fuzz vm kube)
[ $# -gt 0 ] || set -- lint asan tsan kernel cli cri adversary soak fuzz vm # asan is unit, with the sanitizers
wanted=("$@")
mkdir -p "$build/test-logs"
build=$(cd "$build" && pwd) # the tests change directory
logs=$build/test-logs

for suite in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $suite "* ]] || { echo "test: no suite '$suite' (${all[*]})" >&2; exit 2; }
done

passed=0 failed=0 skipped=0
summary=()

report() { # report SUITE PASSED FAILED SKIPPED [NOTE]
    local line
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf -v line '%-9s %5d passed %4d failed %4d skipped   %s' "$1" "$2" "$3" "$4" "${5:-}"
    summary+=("$line")
    echo "== $line"
}

show() { # show LOG: the part of a failed suite's log that a person wants first
    echo "---- $1 ----"
    tail -n "${2:-60}" "$1"
    echo "----"
}

show_failed() { # show_failed LOG OTHER-REGEX BAD-REGEX: what each failed test said, and how it ended if no test says that
    echo "---- $1 ----"
    OTHER=$2 BAD=$3 awk '
        bad && /^    / { print; next } # what it says of it comes before that line or after it
        { bad = 0; said = said $0 "\n" }
        $0 ~ ENVIRON["BAD"] { printf "%s", said; shown = bad = 1 }
        $0 ~ ENVIRON["BAD"] || $0 ~ ENVIRON["OTHER"] { said = "" }
        END { if (!shown) printf "%s", said }' "$1"
    echo "----"
}

compile() { # compile SUITE DIR TARGET... [-- ARGUMENT...]: a build that fails is a failed test of its suite
    local suite=$1 log=$logs/$1-build.log
    shift
    "$top/tests/tools/build.sh" "$@" > "$log" 2>&1 && return 0
    grep -nE 'error|Error|FAILED' "$log" | head -n 20
    show "$log" 30
    report "$suite" 0 1 0 "does not build ($log)"
    return 1
}

# Unit tests: the programs of the target TARGET, each in parts, so that one with much to do keeps every CPU busy. A process
# for each test would take longer to start than most of them take.
run_units() { # run_units SUITE DIR TARGET
    local suite=$1 dir=$2 log=$logs/$1.log begin=$SECONDS status=0 parts=$logs/$1.parts part program
    rm -rf "$parts" && mkdir "$parts"
    for part in 0 1 2 3; do
        while read -r program; do printf '%s\0' "$program.$part"; done < "$dir/$3.txt"
    done | (cd "$dir" && xargs -0 -r -P "$jobs" -n 1 "$top/tests/tools/unit_part.sh" "$parts" 4) || status=$?
    cat "$parts"/*.log > "$log"
    count_lines "$suite" "$log" "$status" '^\[ +OK \]' '^\[  FAILED  \] .*\([0-9]+ ms\)$' \
        '^\[  SKIPPED \] .*\([0-9]+ ms\)$' "$((SECONDS - begin)) s"
}

count_lines() { # count_lines SUITE LOG STATUS OK-REGEX BAD-REGEX SKIP-REGEX NOTE: counted from lines of a log
    local good bad skip
    good=$(grep -cE "$4" "$2") bad=$(grep -cE "$5" "$2") skip=$(grep -cE "$6" "$2")
    if [ "$3" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi # died before it could say which test failed
    [ "$bad" -eq 0 ] || show_failed "$2" "$4|$6" "$5"
    [ "$skip" -eq 0 ] || grep -E -B 1 "$6" "$2" | sed 's/^/  /' # GoogleTest has the reason in the line before
    if [ $((good + bad + skip)) -eq 0 ]; then
        show "$2" 20
        report "$1" 0 1 0 "no test said anything ($2)"
    else
        report "$1" "$good" "$bad" "$skip" "$7"
    fi
}

check_scripts() { scripts | xargs -0 -r -n 16 -P "$jobs" shellcheck -x; }
mutations_apply() {
    local patch
    for patch in tests/vm/mutations/*.patch; do git apply --check "$patch" || return 1; done
}
suite_lint() {
    local log=$logs/lint.log status=0 begin=$SECONDS
    : > "$log"
    check() { # check NAME COMMAND...
        local name=$1
        shift
        if "$@" >> "$log" 2>&1; then echo "ok $name" >> "$log"; else echo "not ok $name" >> "$log"; status=1; fi
    }
    check "clang-format" tests/tools/fmt.sh --check
    check "shellcheck" check_scripts
    check "licence and copyright in the heads of files" tests/tools/heads.sh
    check "layers: what is included is linked" tests/tools/layers.sh
    check "mutations of tests/vm apply" mutations_apply
    count_lines lint "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

suite_unit() {
    compile unit "$build" unit_tests || return
    run_units unit "$build" unit_tests
}

suite_asan() {
    compile asan "$build/asan" unit_tests -- "${with_asan[@]}" || return
    run_units asan "$build/asan" unit_tests
}

suite_tsan() {
    compile tsan "$build/tsan" threaded_tests -- "${with_tsan[@]}" || return
    run_units tsan "$build/tsan" threaded_tests
}

suite_kernel() {
    local log=$logs/kernel.log status begin=$SECONDS
    compile kernel "$build" kernel_tests || return
    if [ "$(id -u)" -ne 0 ]; then
        "$build/kernel_tests" --gtest_list_tests 2>/dev/null |
            awk '/^[^ ]/ { suite = $1 } /^  / { print "  skipped: " suite $1 }' | tee "$log"
        report kernel 0 0 "$(grep -c skipped "$log")" "needs root (run: sudo make test)"
        return
    fi
    timeout -k 10 900 "$build/kernel_tests" --gtest_color=no > "$log" 2>&1 < /dev/null
    status=$?
    [ "$status" -ne 77 ] || status=0 # its word for "all skipped"
    count_lines kernel "$log" "$status" '^\[ +OK \]' '^\[  FAILED  \] .*\([0-9]+ ms\)$' \
        '^\[  SKIPPED \] .*\([0-9]+ ms\)$' "$((SECONDS - begin)) s"
}

suite_cli() { # each tests/integration/*_test.sh says "ok NAME", "not ok NAME" or "skip NAME: why" a test
    local log=$logs/cli.log status=0 begin=$SECONDS file
    compile cli "$build" evictd evictd-demo || return
    : > "$log"
    for file in tests/integration/*_test.sh; do
        [ -e "$file" ] || continue
        echo "# $file" >> "$log"
        EVICTD=$build/evictd timeout -k 10 600 bash "$file" >> "$log" 2>&1 < /dev/null ||
            { echo "# $file ended with status $?" >> "$log"; status=1; }
    done
    count_lines cli "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

suite_cri() { # real containerds of three versions, unpacked once, and the demo that is on one
    local log=$logs/cri.log status=0 begin=$SECONDS
    compile cri "$build" cri_tests cri_pods evictd evictd-demo || return
    CRI_TESTS=$build/cri_tests timeout -k 60 900 tests/cri/run.sh > "$log" 2>&1 < /dev/null || status=$?
    EVICTD=$build/evictd timeout -k 60 600 tests/cri/demo_test.sh >> "$log" 2>&1 < /dev/null || status=$?
    count_lines cri "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

suite_adversary() { # hostile pods against a real agent, a file for each attack
    local log=$logs/adversary.log status begin=$SECONDS
    compile adversary "$build" evictd attacker || return
    EVICTD=$build/evictd tests/adversary/run.sh > "$log" 2>&1 < /dev/null
    status=$?
    # By itself: the demo of a fork bomb counts the tasks of the node.
    EVICTD=$build/evictd tests/adversary/demo_test.sh 2>&1 < /dev/null | sed -E 's/^(ok|not ok|skip) /\1 demo_test: /' >> "$log" || status=1
    sed -n 's/^    cpu: /  cpu: /p; s/^# /  /p' "$log" | grep -B 1 '^  cpu' | grep -v '^--'
    count_lines adversary "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

suite_soak() { # first the seeds that have failed before, then new ones
    local log=$logs/soak.log status=0 begin=$SECONDS seed seeds
    compile soak "$build" evictd attacker evictd_soak || return
    if [ "$(id -u)" -ne 0 ]; then
        report soak 0 0 1 "needs root (run: sudo make test)"
        return
    fi
    : > "$log"
    mapfile -t seeds < <(sed 's/#.*//; /^ *$/d' tests/soak/seeds)
    for seed in "${seeds[@]}"; do run_soak "$seed" 1 >> "$log" 2>&1 || status=1; done
    run_soak "${SEED:-$(date +%s)}" "${ROUNDS:-60}" >> "$log" 2>&1 || status=1
    grep '^# seed' "$log" | tail -n 1
    count_lines soak "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}
run_soak() { # run_soak SEED ROUNDS: a round takes one second, on a busy machine two
    timeout -k 30 $((120 + 4 * $2)) "$build/evictd_soak" --evictd "$build/evictd" --attacker "$build/attacker" --seed "$1" \
        --rounds "$2" < /dev/null
}

suite_fuzz() {
    local log=$logs/fuzz.log status begin=$SECONDS
    FUZZ_SECONDS=${FUZZ_SECONDS:-30} BUILD=$build tests/tools/fuzz.sh > "$log" 2>&1 < /dev/null
    status=$?
    count_lines fuzz "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

suite_vm() { # "ok", "not ok" or "skip" a case and boot; failures come with their logs, and a picture of it all at the end
    local log=$logs/vm.log status begin=$SECONDS bad
    compile vm "$build" all || return
    tests/vm/matrix.sh -b "$build" > "$log" 2>&1 < /dev/null
    status=$?
    bad=$(grep -c '^not ok ' "$log")
    awk '/^not ok / { inside = 1 } inside; /^  ---- look inside:/ { inside = 0 }' "$log"
    sed -n 's/^skip /  skip /p; s/^note /  note /p; /^ *┌/,$p' "$log"
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1 && show "$log"; fi
    report vm "$(grep -c '^ok ' "$log")" "$bad" "$(grep -c '^skip ' "$log")" "$((SECONDS - begin)) s"
}

suite_kube() { # a real API server, kubelet and containerd, built once
    local log=$logs/kube.log status=0 begin=$SECONDS
    compile kube "$build" evictd vm_load kube_agents kube_protobuf kube_survey || return
    tests/kube/build.sh > "$log" 2>&1 < /dev/null || status=$?
    cat "$log"
    if [ "$status" -eq 75 ]; then report kube 0 0 1 "$(tail -n 1 "$log")" && return; fi
    # shellcheck disable=SC2086  # words are wanted
    [ "$status" -ne 0 ] || EVICTD=$build/evictd tests/kube/run.sh ${CASES:-} > "$log" 2>&1 < /dev/null || status=$?
    count_lines kube "$log" "$status" '^ok ' '^not ok ' '^skip ' "$((SECONDS - begin)) s"
}

started=$SECONDS
for suite in "${all[@]}"; do
    if [[ " ${wanted[*]} " == *" $suite "* ]]; then
        "suite_$suite"
    else
        note="not selected"
        [ "$suite" != unit ] || note="runs with the sanitizers, as asan; SUITES=unit runs it without"
        summary+=("$(printf '%-9s %s' "$suite" "$note")")
    fi
done

echo
echo "Summary ($((SECONDS - started)) s, logs in $logs):"
printf '  %s\n' "${summary[@]}"
[ "$skipped" -eq 0 ] || echo "  $skipped skipped, for the reasons above"
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
