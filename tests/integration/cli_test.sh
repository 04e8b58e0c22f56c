#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The command line without an agent: help, exit codes, error lines, check, doctor, completions, the man page.
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

verbs=$("$EVICTD" --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z]*\) .*/\1/p')
nowhere=(--socket "$work/nobody.sock")

# ---- help and version
helps() { run 0 "$@" --help && says '^Usage: evictd' && says '^Examples:' && [ ! -s "$work/err" ]; }
check "help on the program names every verb of today" bash -c "for v in run status events rank check doctor completion; do grep -qx \$v <<< '$verbs' || exit 1; done"
for verb in $verbs; do
    check "help on $verb, with an example" helps "$verb"
done
version() { run 0 --version && says '^evictd [0-9]+\.[0-9]+' && [ "$(wc -l < "$work/out")" -eq 1 ]; }
check "--version is one line" version

# ---- exit codes and error lines
usage() { run 2 "$@" && one_error_line && [ ! -s "$work/out" ]; }
check "2: no verb" usage
check "2: a verb that does not exist, named" bash -c "[ \"\$('$EVICTD' evcit 2>&1 | grep -c evcit)\" -eq 1 ] && ! '$EVICTD' evcit 2> /dev/null"
check "2: an option that does not exist" usage status --colour
check "2: an output that does not exist" usage status -o xml
check "2: a time span that is none" usage events --since yesterday
check "2: a reason that does not exist" usage events --reason Evict
check "2: a reason that no event has" usage events --reason ContainerGC
man_names_reasons() { # exactly those that are accepted
    "$EVICTD" events --reason "?" --socket "$work/nobody.sock" 2>&1 | sed 's/.*expected //; s/).*//' | tr -d ' ' | tr , '\n' |
        sort > "$work/accepted"
    sed -n '/^Reasons:/,/^\.PP/p' "$(dirname "$0")/../../deploy/evictd.1" | grep -oE '[A-Z][A-Za-z]{6,}' | grep -v '^Reasons$' |
        sort > "$work/named"
    [ "$(wc -l < "$work/accepted")" -gt 30 ] && diff "$work/accepted" "$work/named"
}
check "the man page names the reasons that are accepted" man_names_reasons
check "2: an id that is none" usage explain yesterday
check "2: a signal that does not exist" usage rank --signal memory.free
check "2: check without a file" usage check
check "2: a shell that is not known" usage completion powershell
check "2: gc: images that are none of its words" usage gc --images all
check "2: gc: a format that is none" usage gc -o yaml
no_runtime() { # no_runtime STATUS ENDPOINT: one line, and nothing was looked at
    printf 'containerRuntimeEndpoint: %s\n' "$2" > "$work/gc.yaml"
    run "$1" gc --dry-run --config "$work/gc.yaml" && one_error_line && [ ! -s "$work/out" ]
}
check "3: gc without a container runtime" no_runtime 3 "unix://$work/nowhere.sock"
check "1: gc with an endpoint that is none" no_runtime 1 tcp://127.0.0.1:1
unreachable() { run 3 "$@" "${nowhere[@]}" && one_error_line && complains 'evictd run' && [ ! -s "$work/out" ]; }
for verb in status events explain rank; do check "3: $verb without an agent" unreachable "$verb"; done
check "3: status -o json without an agent prints no half document" unreachable status -o json
check "3: events --follow without an agent" unreachable events --follow
check "3: status --watch without an agent" unreachable status --watch
left_behind() {
    command -v python3 > /dev/null || return 0
    python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/dead.sock"
    run 3 status --socket "$work/dead.sock" && one_error_line
}
check "3: a socket whose agent has died" left_behind
found_by_config() {
    printf 'evictd: {socketPath: %s/by-config.sock}\n' "$work" > "$work/socket.yaml"
    run 3 status --config "$work/socket.yaml" && complains 'by-config\.sock'
}
check "--config says where the socket is" found_by_config
broken_config() {
    printf 'evictd:\n  socketPth: x\n' > "$work/broken.yaml"
    run 1 status --config "$work/broken.yaml" && complains "broken.yaml:2: "
}
check "1: --config with a fault" broken_config

if [ "$(id -u)" -ne 0 ]; then
    skip "4: run without root" "not started as root: cannot become somebody else and be sure of it"
elif ! command -v setpriv > /dev/null || ! as_nobody true 2> /dev/null; then
    skip "4: run without root" "setpriv is missing or may not change the user"
else
    install -m 755 "$EVICTD" "$work/evictd"
    : > "$work/empty.yaml"
    not_root() { as_nobody "$work/evictd" run --config "$work/empty.yaml" > "$work/out" 2> "$work/err"; [ $? -eq 4 ] && one_error_line && complains sudo; }
    check "4: run without root" not_root
    unreadable() {
        install -m 600 "$work/empty.yaml" "$work/secret.yaml"
        as_nobody "$work/evictd" check "$work/secret.yaml" > "$work/out" 2> "$work/err"
        [ $? -eq 4 ] && complains 'secret\.yaml'
    }
    check "4: check of a file that may not be read" unreadable
    doctor_without_root() {
        as_nobody "$work/evictd" doctor > "$work/out" 2> "$work/err"
        [ $? -eq 1 ] && says 'unknown +watermark' && says 'cgroups' && says 'sudo evictd doctor' && [ ! -s "$work/err" ]
    }
    check "doctor without root says what it could not see, and that it is no" doctor_without_root
fi

alone() { # a copy without its neighbour
    install -D -m 755 "$EVICTD" "$work/alone/evictd"
    PATH="$(dirname "$EVICTD"):$PATH" "$work/alone/evictd" demo > "$work/out" 2> "$work/err"
    [ $? -eq 1 ] && one_error_line && complains "$work/alone/evictd-demo: not installed"
}
check "1: demo where evictd-demo is not beside evictd, whatever PATH says" alone
planted() { # another user's program, in a directory that both can write
    install -m 777 /bin/true "$work/alone/evictd-demo"
    "$work/alone/evictd" demo > "$work/out" 2> "$work/err"
    [ $? -eq 4 ] && one_error_line && complains 'other users can change it'
}
check "4: demo with an evictd-demo that others may write" planted
no_sources() { # an installed program, and one in the container image, which has no evictd-demo
    install -m 755 "$(dirname "$EVICTD")/evictd-demo" "$work/alone/evictd-demo"
    "$work/alone/evictd" demo --scenario cluster > "$work/out" 2> "$work/err"
    [ $? -eq 1 ] && one_error_line && complains 'source tree, which is not here: .*/tests/kube/demo.sh: not installed' || return
    rm "$work/alone/evictd-demo"
    "$work/alone/evictd" demo --scenario cluster > "$work/out" 2> "$work/err"
    [ $? -eq 1 ] && one_error_line && complains "evictd-demo: not installed .*in evictd's source tree"
}
check "1: demo of the cluster where there is no source tree" no_sources
open_sources() { # a directory that others can write, with a script that they cannot
    install -D -m 755 "$(dirname "$EVICTD")/evictd-demo" "$work/open/build/evictd-demo"
    install -D -m 755 /bin/true "$work/open/tests/kube/demo.sh" && chmod 777 "$work/open/tests/kube"
    "$work/open/build/evictd-demo" --scenario cluster > "$work/out" 2> "$work/err"
    [ $? -eq 4 ] && one_error_line && complains 'tests/kube: other users can change it'
}
check "4: demo of the cluster with scripts that others may replace" open_sources
demo_help() { "$EVICTD" demo --help > "$work/out" && "$(dirname "$EVICTD")/evictd-demo" --help > "$work/demo" &&
    diff <(grep -- --scenario "$work/out") <(grep -- --scenario "$work/demo"); }
check "evictd-demo has the options of evictd demo" demo_help

full() { "$EVICTD" check "$work/valid.yaml" > /dev/full 2> "$work/err"; [ $? -eq 1 ] && complains 'No space left'; }

# ---- check
cat > "$work/valid.yaml" << 'END'
evictionHard: {memory.available: 10%}
evictionSoft: {memory.available: 1Gi}
evictionSoftGracePeriod: {memory.available: 1m30s}
END
valid() { run 0 check "$work/valid.yaml" && says 'memory\.available +hard +10%' && says 'memory\.available +soft +1Gi +1m30s' && [ ! -s "$work/err" ]; }
check "check prints the thresholds that a config means" valid
check "a full disk behind stdout is an error" full
empty() { : > "$work/e.yaml"; run 0 check "$work/e.yaml" && says 'memory\.available +hard +100Mi'; }
check "check: an empty file means the kubelet's defaults" empty
no_steps() { echo '{}' > "$work/none.yaml"; run 1 replay "$work/none.yaml" && one_error_line && complains 'no steps' && [ ! -s "$work/out" ]; }
check "replay: a scenario without steps is an error" no_steps
no_steering() { run 2 demo --no-steering --scenario spike && one_error_line && complains 'requires --scenario oomrace'; }
check "demo: --no-steering without the oomrace is wrong usage" no_steering
no_span() { run 2 events --since 10x && one_error_line && complains 'invalid value "10x"'; }
check "events: an invalid span is named with its value" no_span
cat > "$work/faults.yaml" << 'END'
evictionHard:
  memory.available: 10 percent
  memory.avialable: 1Gi
evictionSoft:
  memory.available: 1Gi
evictionPressureTransitionPeriod: 5
evictdd: {}
END
faults() {
    run 1 check "$work/faults.yaml" && [ ! -s "$work/out" ] || return 1
    local line
    for line in 2 3 6 7; do complains "^evictd: $work/faults\.yaml:$line: .+: " || { echo "    no fault told on line $line"; return 1; }; done
    complains 'evictionSoft' && complains 'evictd\)?' && ! grep -qvE '^evictd: ' "$work/err"
}
check "check tells every fault at once, with file, line and key" faults
kubelet() {
    printf 'evictionHard: {memory.available: 5%%}\nmaxPods: 110\n' > "$work/k.yaml"
    run 1 check "$work/k.yaml" && complains ':2: maxPods' && run 0 check --kubelet-config "$work/k.yaml"
}
check "check --kubelet-config accepts the kubelet's other keys" kubelet
absent() { run 1 check "$work/absent.yaml" && one_error_line; }
check "1: check of a file that is not there" absent
directory() { run 1 check "$work" && one_error_line; }
check "1: check of a directory" directory
plain() { run 0 check "$work/valid.yaml" && ! grep -q $'\x1b' "$work/out"; }
check "no colour on a pipe" plain
if command -v script > /dev/null; then
    coloured() { script -qec "$EVICTD check $work/valid.yaml" /dev/null < /dev/null > "$work/out" && grep -q $'\x1b\[1m' "$work/out"; }
    no_colour() { NO_COLOR=1 script -qec "$EVICTD check $work/valid.yaml" /dev/null < /dev/null > "$work/out" && ! grep -q $'\x1b' "$work/out"; }
    check "colour on a terminal" coloured
    check "no colour on a terminal with NO_COLOR" no_colour
else
    skip "colour on a terminal" "script(1) is missing"
fi

# ---- doctor
if [ "$(id -u)" -eq 0 ]; then
    before=$(find /sys/fs/bpf 2> /dev/null | sort)
    mount=$(awk '$3 == "cgroup" && $4 ~ /memory/ {print $2; exit}' /proc/mounts)
    mount=${mount:-$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)}
    pods=evictd-cli-test-$$
    mkdir -p "$mount/$pods/kubepods" "$work/manifests"
    printf 'cgroupRoot: /%s\nevictd: {podManifestPath: %s}\n' "$pods" "$work/manifests" > "$work/here.yaml"
    here=("${nowhere[@]}" --config "$work/here.yaml")
    doctor() { run 0 doctor "${here[@]}" && says '^  (ok|fallback) +cgroups +(v1|v2|hybrid)' && says watermark && says cgroup_life && says '^evictd can do its job'; }
    check "doctor finds that this host will do" doctor
    no_manifests() {
        printf 'cgroupRoot: /%s\nevictd: {podManifestPath: %s/none}\n' "$pods" "$work" > "$work/unknown.yaml"
        run 1 doctor "${nowhere[@]}" --config "$work/unknown.yaml" && says '^evictd can work here, but protects no pod now: no pods are known'
    }
    check "1: doctor where no pods are known" no_manifests
    no_pods() {
        printf 'cgroupRoot: /%s/none\nevictd: {podManifestPath: %s}\n' "$pods" "$work/manifests" > "$work/none.yaml"
        run 1 doctor "${nowhere[@]}" --config "$work/none.yaml" && says "^evictd can work here, but protects no pod now: the pods' cgroup does not exist"
    }
    check "1: doctor where there is no pods' cgroup" no_pods
    doctor_json() {
        run 0 doctor -o json "${here[@]}" && valid_json "$work/out" || return 1
        local word
        for word in watermark usage oom memcg cgroup_made cgroup_populated able remedy; do says "\"$word\":" || return 1; done
    }
    check "doctor -o json is JSON with the hooks by name" doctor_json
    untouched() { [ "$(find /sys/fs/bpf 2> /dev/null | sort)" = "$before" ] && ! ls -d /sys/fs/cgroup{,/memory}/evictd-doctor* 2> /dev/null; }
    check "doctor leaves nothing behind" untouched
    required() {
        printf 'cgroupRoot: /%s\nevictd: {bpf: off, podManifestPath: %s}\n' "$pods" "$work/manifests" > "$work/off.yaml"
        run 0 doctor --config "$work/off.yaml" && says 'fallback +BPF' && says 'watermark +timed look'
    }
    check "doctor says what happens without BPF" required
    rmdir "$mount/$pods/kubepods" "$mount/$pods"
else
    skip "doctor finds that this host will do" "needs root"
fi

# ---- completions
complete_bash() { # complete_bash WORD...: what bash offers for the last word
    bash -c 'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _evictd 2> /dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
        "$EVICTD" "$@"
}
completes() { # completes EXPECTED WORD...
    local want=$1
    shift
    complete_bash "$@" > "$work/out"
    grep -qx -- "$want" "$work/out"
}
check "bash completes a verb" completes status evictd sta
check "bash completes an option of a verb" completes --follow evictd events --f
check "bash completes what follows an option" completes wide evictd status -o w
check "bash completes a signal" completes allocatableMemory.available evictd rank --signal all
check "bash completes a file" completes "$work/valid.yaml" evictd check "$work/val"
all_verbs_complete() { local verb; for verb in $verbs; do completes "$verb" evictd "" || return 1; done; }
check "bash completes every verb of --help" all_verbs_complete
for shell in bash zsh fish; do
    written() { run 0 completion "$shell" && says doctor && says reason && [ ! -s "$work/err" ]; }
    check "completion $shell is written" written
    if command -v "$shell" > /dev/null; then
        check "$shell understands it" "$shell" -n "$work/out"
    else
        skip "$shell understands it" "$shell is not installed"
    fi
done

# ---- the man page
page=$top/deploy/evictd.1
documented() {
    local verb option missing=""
    for verb in $verbs; do
        grep -qE "^\.(SS|B|BI).*\b$verb\b" "$page" || missing+=" $verb"
        for option in $("$EVICTD" "$verb" --help | sed -nE '/^Options:/,/^$/ s/^ +((-[a-z]),)?(--[a-z-]+).*/\3/p'); do
            [ "$option" = --help ] || grep -q -- "${option//-/\\\\-}" "$page" || missing+=" $verb$option"
        done
    done
    [ -z "$missing" ] || { echo "    not in the man page:$missing"; return 1; }
}
check "the man page has every verb and every option" documented
if command -v man > /dev/null; then
    renders() { MANWIDTH=80 man --warnings -l "$page" > "$work/out" 2> "$work/err" < /dev/null && [ ! -s "$work/err" ] && says 'EXIT STATUS'; }
    check "the man page renders without a warning" renders
else
    skip "the man page renders without a warning" "man is not installed"
fi
exit "$failed"
