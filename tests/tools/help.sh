#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Prints the Makefile's targets from the "##" behind each. usage: help.sh MAKEFILE
echo "evictd: relieves memory pressure on a node before the kernel has to. On Debian 12, as root:"
echo
sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' "$1" | while IFS='|' read -r target text; do
    printf '  make %-9s  %s\n' "$target" "$text"
done
cat <<'END'

Also: BUILD=DIR (build), BUILD_TYPE (RelWithDebInfo), JOBS (all CPUs), CMAKE_ARGS, PREFIX, DESTDIR.
Start with "make demo", then "make test".
END
