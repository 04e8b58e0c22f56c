#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The example config means what it says: valid as it is, and valid with every setting switched on.
# env: EVICTD, the program
set -uo pipefail
example=$(dirname "$0")/../../deploy/evictd.example.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -E 's/^#( {2,}|[A-Za-z])/\1/' "$example" > "$work/all.yaml" # prose has one blank after its #

check() { # check NAME FILE
    if "$EVICTD" check "$2" > "$work/out" 2>&1; then echo "ok $1"; else cat "$work/out"; echo "not ok $1"; fi
}
check "the example config is valid as it is" "$example"
check "the example config is valid with every setting in it" "$work/all.yaml"
