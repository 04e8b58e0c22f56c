#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Copies the program, evictd-demo from beside it, and what belongs to them into place. Starts and enables nothing, and leaves
# an existing config alone.
# usage: install.sh PROGRAM DESTDIR PREFIX
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
program=$1 destdir=$2 prefix=$3
demo=$(dirname "$program")/evictd-demo
for file in "$program" "$demo"; do [ -x "$file" ] || die "no $file (run: make build)"; done

put() { # put MODE FILE TARGET: if there is such a file
    [ -e "$2" ] || return 0
    install -D -m "$1" "$2" "$destdir$3"
    echo "installed $destdir$3"
}

document() { # document FILE TARGET: its links into the source tree, which is not installed, become words
    local file
    file=$(mktemp)
    # shellcheck disable=SC2016  # Markdown
    sed -E 's#!\[([^]]*)\]\(\.\./\.\./([^)]*)\)#(\1: `\2` in the source tree)#g
        s#\[([^]]*)\]\(\.\./\.\./([^)]*)\)#`\2` in the source tree#g' "$1" > "$file"
    put 644 "$file" "$2"
    rm -f "$file"
}

completion() { # completion SHELL TARGET: what the program prints for this shell, if it knows it
    local file
    file=$(mktemp)
    if "$program" completion "$1" > "$file" 2>/dev/null && [ -s "$file" ]; then put 644 "$file" "$2"; fi
    rm -f "$file"
}

put 755 "$program" "$prefix/bin/evictd"
put 755 "$demo" "$prefix/bin/evictd-demo"
put 644 "$top/deploy/evictd.1" "$prefix/share/man/man1/evictd.1"
put 644 "$top/deploy/evictd.example.yaml" "$prefix/share/doc/evictd/evictd.example.yaml"
put 644 "$top/LICENSE" "$prefix/share/doc/evictd/LICENSE"
put 644 "$top/deploy/node-problem-detector/evictd-monitor.json" "$prefix/share/doc/evictd/node-problem-detector/evictd-monitor.json"
for file in "$top"/deploy/docs/*; do document "$file" "$prefix/share/doc/evictd/docs/${file##*/}"; done
for file in "$top"/deploy/replay/*; do put 644 "$file" "$prefix/share/doc/evictd/replay/${file##*/}"; done
for file in "$top"/deploy/licenses/*; do put 644 "$file" "$prefix/share/doc/evictd/licenses/${file##*/}"; done
if [ -e "$top/deploy/evictd.service" ]; then
    unit=$(mktemp)
    sed "s#@PREFIX@#$prefix#g" "$top/deploy/evictd.service" > "$unit"
    put 644 "$unit" "$prefix/lib/systemd/system/evictd.service"
    rm -f "$unit"
fi
# A config of the user's own stays as it is.
[ -e "$destdir/etc/evictd/config.yaml" ] || put 644 "$top/deploy/evictd.example.yaml" /etc/evictd/config.yaml
completion bash "$prefix/share/bash-completion/completions/evictd"
completion zsh "$prefix/share/zsh/site-functions/_evictd"
completion fish "$prefix/share/fish/vendor_completions.d/evictd.fish"
