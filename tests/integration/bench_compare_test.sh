#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# tests/bench/compare.sh: the order of turns, what it refuses, and that BASE's sources and every process are gone however it
# ends. In a repository of its own, whose build takes no time and whose programs measure nothing; as any user.
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
work=$(mktemp -d /tmp/evictd-test.XXXXXX)
trap 'rm -rf "$work"' EXIT
unset BUILD PARTS ROUNDS GIT_DIR GIT_WORK_TREE
export HOME=$work GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
failed=0
check() { # check NAME COMMAND...: with what was said last
    local name=$1
    shift
    if "$@"; then echo "ok bench-compare: $name"; return; fi
    sed 's/^/    /' "$work/out" | head -n 20
    echo "not ok bench-compare: $name"
    failed=1
}
says() { grep -qE -- "$1" "$work/out"; }

# ---- the repository: three commits and uncommitted changes
repo=$work/repo
mkdir -p "$repo/tests/tools" "$repo/tests/bench" "$repo/build"
cp "$top"/tests/bench/*.sh "$repo/tests/bench/"
cp "$top/tests/tools/lib.sh" "$repo/tests/tools/"
cat > "$repo/tests/tools/build.sh" <<'END'
#!/bin/bash
here=$(dirname "$0")/../..
case $(cat "$here/how") in
    broken) echo "x.cpp:1: error: broken"; exit 1 ;;
    slow) sleep 300 ;;
esac
mkdir -p "$1" && printf '%s' "$2" > "$1/targets"
for name in evictd evictd_bench; do printf '#!/bin/bash\n' > "$1/$name" && chmod +x "$1/$name"; done
END
# Says whose agent it was given, and writes a figure and a count.
cat > "$repo/build/evictd_node_bench" <<'END'
#!/bin/bash
echo "$(basename "$2") $*" >> "$(dirname "$0")/turns"
[ ! -e "$(dirname "$0")/forever" ] || { echo $$ > "$(dirname "$0")/pid"; exec sleep 300; }
if [ -e "$(dirname "$0")/useless" ]; then printf 'idle\tidle\t!\tno BPF\n' > "$2/figures.tsv"; exit 2; fi
printf 'idle\tthreads\t%%\t1\nidle\tthe hog was evicted\truns\t1\n' > "$2/figures.tsv"
END
printf '#!/bin/bash\nprintf "%%s\\n" "$@"\n' > "$repo/build/evictd_bench_figures"
chmod +x "$repo"/tests/tools/build.sh "$repo"/build/evictd_*
(
    cd "$repo" || exit
    echo build > .gitignore
    git init -q
    for how in fine broken slow; do
        echo "$how" > how
        git add -A && git commit -qm "$how" && git tag "$how"
    done
    echo other > how
) || exit 1

compare() { # compare STATUS BASE [NAME=VALUE...]
    local want=$1 base=$2 got=0
    shift 2
    rm -f "$repo/build/turns"
    env "$@" "$repo/tests/bench/compare.sh" "$base" > "$work/out" 2>&1 < /dev/null || got=$?
    [ "$got" -eq "$want" ] || { echo "    status $got, not $want"; return 1; }
}
nothing_left() { [ ! -e "$repo/build/compare/base" ]; }
whole() { compare 0 fine PARTS=idle ROUNDS=4 && nothing_left; }
check "a comparison ends and leaves nothing" whole
order() { [ "$(cut -d ' ' -f 1 "$repo/build/turns" | xargs)" = "base tree tree base base tree tree base" ]; }
check "the turns are base tree, tree base" order
agents() {
    grep -q "^base $repo/build/compare/base/build/evictd " "$repo/build/turns" &&
        [ "$(grep -c "^tree $repo/build/evictd " "$repo/build/turns")" -eq 4 ]
}
check "each agent is its own" agents
check "uncommitted changes are reported" says "$(git -C "$repo" rev-parse --short=12 HEAD), with uncommitted changes"
check "they are a fact of the JSON" says '^tree.clean:=false$'
speeds() { ! grep -q runs "$repo"/build/compare/*.tsv && grep -q threads "$repo/build/compare/base-4.tsv"; }
check "counts are not compared" speeds

refused() { compare 2 "$1" "${@:3}" && [ "$(grep -c '^bench-compare: ' "$work/out")" -ge 1 ] && says "$2" && nothing_left; }
check "no commit" refused "" 'which commit\? \(usage: make bench-compare BASE='
check "an unknown commit" refused nosuch "no commit 'nosuch'"
check "an option for a commit" refused --help "no commit '--help'"
check "no number of rounds" refused fine "ROUNDS=0 is not" ROUNDS=0
check "an unknown part" refused fine "cannot compare 'cost' \(PARTS: " PARTS=cost
check "BASE does not build" refused broken 'BASE [0-9a-f]{12} does not build here \(log: .*base-build.log\)'
check "its first error is shown" says 'x.cpp:1: error: broken'
touch "$repo/build/useless"
check "an agent that cannot be measured" refused fine 'nothing could be measured with .*: idle no BPF' PARTS=idle
rm -f "$repo/build/useless"
mv "$repo/.git" "$repo/git"
check "no repository" refused fine 'not a git repository'
mv "$repo/git" "$repo/.git"

start() { # start BASE FILE: until the file appears
    env PARTS=idle "$repo/tests/bench/compare.sh" "$1" > "$work/out" 2>&1 < /dev/null &
    started=$!
    for _ in {1..500}; do [ ! -e "$2" ] || return 0; sleep 0.02; done
    return 1
}
interrupted() { # interrupted SIGNAL BASE FILE
    local status=0
    start "$2" "$3" && kill -"$1" "$started" || return 1
    wait "$started" || status=$?
    [ "$status" -eq 130 ] && nothing_left
}
check "ended while BASE is built" interrupted TERM slow "$repo/build/compare/base/how"
touch "$repo/build/forever"
ended() { interrupted HUP fine "$repo/build/pid" && ! kill -0 "$(cat "$repo/build/pid")" 2> /dev/null; }
check "ended while an agent is measured, and that too" ended
rm -f "$repo/build/pid"
two() { start fine "$repo/build/pid" && refused_second; }
refused_second() {
    local status=0
    "$repo/tests/bench/compare.sh" fine > "$work/out" 2>&1 || status=$?
    kill "$started" && wait "$started"
    [ "$status" -eq 2 ] && says "another bench-compare runs"
}
check "a second one at once" two
exit "$failed"
