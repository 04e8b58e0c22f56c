#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# clang-format over every C and C++ file. usage: fmt.sh [--check]     (--check: change nothing, fail where it would)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need clang-format clang-format
cd "$top"
case ${1:-} in
    --check) sources | xargs -0 -r -n 64 -P "${JOBS:-$(nproc)}" clang-format --style=file --dry-run -Werror ;;
    "") sources | xargs -0 -r clang-format --style=file -i ;;
    *) echo "usage: fmt.sh [--check]" >&2; exit 2 ;;
esac
