#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What is shipped: a hardened program that runs with few rights, says over HTTP whether it is well, and comes with the
# licences of what is in it.
# shellcheck disable=SC2317,SC2119  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# ---- the file: what hardening-check asks for, read with readelf
if ! command -v readelf > /dev/null; then
    skip "the program is hardened" "readelf is missing: apt-get install binutils"
elif readelf -sW "$EVICTD" | grep -qE '__(asan|tsan)_init'; then
    skip "the program is hardened" "it is built with sanitizers"
else
    readelf -hldW "$EVICTD" > "$work/elf" && readelf --dyn-syms -W "$EVICTD" > "$work/symbols"
    readelf -nW "$EVICTD" > "$work/notes" 2> /dev/null
    has() { grep -qE "$2" "$work/$1"; }
    pie() { has elf 'Type: +DYN' && has elf '\(FLAGS_1\).*PIE'; }
    check "it is position independent" pie
    relro() { has elf 'GNU_RELRO' && has elf '(BIND_NOW|FLAGS_1.*NOW)'; }
    check "its tables are read-only once it runs" relro
    stack() { grep -E 'GNU_STACK' "$work/elf" | grep -qE ' RW +0x'; }
    check "its stack is not executable" stack
    no_mixed() { ! grep -E '^ +LOAD' "$work/elf" | grep -qE ' RWE '; }
    check "no memory of it is writable and executable" no_mixed
    check "its stacks have canaries" has symbols '__stack_chk_fail'
    check "its calls of the C library are fortified" has symbols '__[a-z]+_chk'
    if [ "$(uname -m)" = x86_64 ]; then
        # The C library's start code has to have the mark, too, for the whole file to be marked.
        endbr() { has notes 'IBT' || [ "$(objdump -d --section=.text "$EVICTD" | grep -c endbr64)" -ge 200 ]; }
        check "its jumps are marked for control-flow protection" endbr
    fi
    no_rpath() { ! has elf '\(R(UN)?PATH\)'; }
    check "it looks for libraries nowhere else" no_rpath
    no_civetweb() { ! grep -q civetweb < <(ldd "$EVICTD"); }
    check "no civetweb is linked" no_civetweb
fi

# ---- what is installed beside it
licenced() {
    "$top/tests/tools/install.sh" "$EVICTD" "$work/root" /usr > "$work/out" || return 1
    local file docs=$work/root/usr/share/doc/evictd
    for file in LICENSE licenses/{README.md,GPL-2.0,BSD-2-Clause,libbpf,nlohmann-json,CLI11,spdlog,fmt}; do
        [ -s "$docs/$file" ] || [ -s "$docs/$file.txt" ] || { echo "    no $file"; return 1; }
    done
}
check "the licences of what is in it are installed" licenced
unit() {
    local file=$work/root/usr/lib/systemd/system/evictd.service
    grep -qx 'Type=notify' "$file" && grep -qE '^WatchdogSec=[0-9]+$' "$file" &&
        grep -qx 'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK' "$file"
}
check "the unit has a watchdog, and sockets of no other families" unit

# ---- a running one
needs_node 64 "rights" "health"
http=127.0.0.1:$((20000 + $$ % 10000))
settings="httpAddress: $http"
write_config "evictionHard: {allocatableMemory.available: 4Mi}"
add_pod one burstable "cccccccc-0000-4000-8000-000000000001" 16Mi
start_in one "$(hold 4)"
start_agent
# BPF, PERFMON, SYS_RESOURCE, SYS_NICE, SYS_PTRACE, IPC_LOCK, KILL, DAC_OVERRIDE; no SYS_ADMIN.
few_rights() {
    local kept=$((16#c001884022)) file rights
    for file in /proc/"$agent"/task/*/status; do
        while read -r _ rights; do
            [ $((16#$rights & ~kept)) -eq 0 ] || { echo "    $(sed -n 's/^Name:\t//p' "$file") has $rights"; return 1; }
        done < <(grep -E '^Cap(Inh|Prm|Eff|Amb):' "$file")
    done
}
check "no thread has more rights than it needs" few_rights
threads() { [ "$(find "/proc/$agent/task" -mindepth 1 -maxdepth 1 | wc -l)" -ge 7 ]; }
check "and all threads were asked" threads

request() { # request METHOD PATH: the answer in $work/out, which ends with a line's end whatever the answer is
    local status=0
    timeout 5 bash -c "exec 3<> /dev/tcp/${http/://} && printf '$1 $2 HTTP/1.1\r\nHost: x\r\n\r\n' >&3 && cat <&3" > "$work/out" 2> "$work/err" || status=$?
    echo >> "$work/out"
    return "$status"
}
answers_with() { request "$1" "$2" && head -n 1 "$work/out" | grep -q "^HTTP/1.1 $3"; } # METHOD PATH STATUS
well() { answers_with GET /healthz 200 && says '^ok$' && answers_with GET /readyz 200; }
check "/healthz and /readyz say ok" well
head_only() { answers_with HEAD /metrics 200 && says '^Content-Type: text/plain; version=0.0.4' && ! says '^evictd_'; }
check "HEAD on /metrics has headers only" head_only
refused() { answers_with POST /metrics 405 && says '^Allow: GET, HEAD' && answers_with GET / 404; }
check "other methods are 405, other paths 404" refused
from_zero() {
    answers_with GET /metrics 200 && says '^evictd_evictions_total\{signal="memory.available"\} 0' &&
        says '^evictd_oom_kills_total\{scope="node"\} 0'
}
check "counters are there before anything happened" from_zero
reloaded() { reload && ! logged '"ConfigRejected"' && answers_with GET /healthz 200; }
check "SIGHUP is obeyed with the rights that are left" reloaded
limited() { grep -qE '^Max realtime timeout +[0-9]+ +[0-9]+ ' "/proc/$agent/limits"; }
check "a real-time loop has a limit" limited
check "SIGTERM ends it with 0" stop_agent
exit "$failed"
