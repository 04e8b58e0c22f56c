# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash
# Reads tests/vm/cases/*.case; what a key means is in README.md. Sourced. Who sources it sets $cases (the directory)
# and, for what depends on the machine, $has and $known (words: the boot's capabilities, all capabilities).
# shellcheck disable=SC2154

case_names() { (cd "$cases" && printf '%s\n' *.case | sed 's/\.case$//'); }

unmet() { # unmet CONDITION: why "v2 !bpf" does not hold here; nothing if it does
    local word
    for word in $1; do
        case $word in
            !*) [[ " $has " != *" ${word#!} "* ]] || { echo "only without ${word#!}"; return; } ;;
            *) [[ " $has " == *" $word "* ]] || { echo "needs $word"; return; } ;;
        esac
    done
}

values() { # values CASE KEY: one a line; of KEY(CONDITION) only where the condition holds
    local line
    while IFS= read -r line && [[ $line != RUN:* ]]; do
        [[ $line =~ ^$2(\(([^\)]*)\))?:\ *(.*)$ ]] || continue
        [ -n "$(unmet "${BASH_REMATCH[2]}")" ] || printf '%s\n' "${BASH_REMATCH[3]}"
    done < "$cases/$1.case"
}
value() { values "$1" "$2" | tail -n 1; }
limit_of() { local seconds; seconds=$(value "$1" TIMEOUT); echo "${seconds:-60}"; }

verdict() { # verdict CASE STATUS SECONDS LIMIT LOG: what it broke of what it promised, in words; nothing if it kept all
    local wrong="" exit_status pattern
    exit_status=$(value "$1" EXIT)
    if [ "$3" -ge "$4" ]; then
        wrong="no end after $4 s"
    elif [ "$2" -ne "${exit_status:-0}" ]; then
        wrong="exit status $2, not ${exit_status:-0}"
    fi
    while IFS= read -r pattern; do
        [ -z "$pattern" ] || grep -qE -- "$pattern" "$5" || wrong+="${wrong:+; }no line matches '$pattern'"
    done < <(values "$1" EXPECT)
    while IFS= read -r pattern; do
        [ -z "$pattern" ] || ! grep -qE -- "$pattern" "$5" || wrong+="${wrong:+; }a line matches '$pattern'"
    done < <(values "$1" REFUSE)
    printf '%s' "$wrong"
}

check_case() { # check_case NAME: a key that nobody reads is a check that never fails
    local line number=0 word conditions=" "
    [ -r "$cases/$1.case" ] || die "no case '$1' ($(case_names | paste -sd' '))"
    while IFS= read -r line; do
        number=$((number + 1))
        case $line in '#'*) continue ;; RUN:*) break ;; esac
        [[ $line =~ ^(NAME|NEEDS|WHERE|TIMEOUT|EXIT|EXPECT|REFUSE)(\(([a-z0-9_! ]+)\))?:\ *[^\ ] ]] ||
            die "$cases/$1.case:$number: not understood: $line"
        conditions+="${BASH_REMATCH[3]} "
        [ "${BASH_REMATCH[1]}" != WHERE ] || conditions+="${line#*:} "
    done < "$cases/$1.case"
    [[ $line == RUN:* ]] || die "$cases/$1.case: no RUN:"
    for word in $conditions; do
        [[ " $known " == *" ${word#!} "* ]] || die "$cases/$1.case: no capability '${word#!}' in matrix.yaml ($known)"
    done
}
