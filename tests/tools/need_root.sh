#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Says in one line how to be called when root is needed and missing, before minutes go into a build.
# usage: need_root.sh COMMAND
[ "$(id -u)" -eq 0 ] && exit 0
echo "$1: needs root, for cgroups and BPF (run: sudo $1)" >&2
exit 4
