# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for who sources this
# How a demo that is a script shows itself: lines with a bar, and evictd's events as they come. Sourced, never run.
# Who sources it has measure(), which is called before bar(), which prints what was measured; work, a directory; and log,
# evictd's event log, if it is not $work/events.jsonl.

# shellcheck disable=SC2154  # who sources this has work
log=${log:-$work/events.jsonl}
begin=$EPOCHREALTIME
told=0 # lines of the log that were looked at
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then live=1 bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else live='' bold='' dim='' red='' green='' plain=''; fi
faults=()
fault() { faults+=("$1"); } # fault WHAT: the verdict says it

since() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b - a }'; } # since BEGIN END: in seconds
time_of() { # time_of LINE: of an event, in seconds
    date -d "$(sed -E 's/.*"time":"([^"]*)".*/\1/' <<< "$1")" +%s.%6N
}
clear_line() { [ -z "$live" ] || printf '\r\e[K'; }
title() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }
say() { # say TEXT: with the time and the bar
    measure
    clear_line
    printf '%s%7.3f s%s  %s  %s\n' "$dim" "$(since "$begin" "$EPOCHREALTIME")" "$plain" "$(bar)" "$1"
}

# Lines of the log with a reason, of a pod.
reported() { events_of "$@" > /dev/null; }
events_of() { grep "\"reason\":\"$1\"" "$log" 2> /dev/null | grep -F "${2:+\"name\":\"$2\"}"; } # events_of REASON [POD]
first_of() { events_of "$@" | head -n 1; }
told_reasons='EvictionThresholdMet|EvictionThresholdCleared|Reclaim[A-Za-z]*|Evicting|Evicted|EvictionFailed'
tell_events() { # those that are new
    local line reason message
    while read -r line; do
        told=$((told + 1))
        reason=$(sed -E 's/.*"reason":"([^"]*)".*/\1/' <<< "$line")
        [[ $reason =~ ^($told_reasons)$ ]] || continue
        message=$(sed -nE 's/.*"message":"(([^"\\]|\\.)*)".*/\1/p' <<< "$line" | sed 's/\\n/ /g; s/\\\(.\)/\1/g')
        clear_line
        printf '%s%7.3f s%s  evictd: %s%s%s: %s\n' "$dim" "$(since "$begin" "$(time_of "$line")")" "$plain" "$bold" "$reason" "$plain" "$message"
    done < <(tail -n "+$((told + 1))" "$log" 2> /dev/null)
}
watch_until() { # watch_until SECONDS COMMAND...: with the bar and the events meanwhile; fails if it does not come true
    local end
    end=$(awk -v now="$EPOCHREALTIME" -v more="$1" 'BEGIN { printf "%.0f", (now + more) * 1000000 }')
    shift
    while true; do
        measure
        tell_events
        [ -z "$live" ] || printf '\r\e[K            %s' "$(bar)"
        ! "$@" || break
        [ "${EPOCHREALTIME/./}" -lt "$end" ] || { clear_line; return 1; }
        sleep 0.05
    done
    tell_events
    clear_line
}
never() { false; }
watch_for() { watch_until "$1" never || true; }
