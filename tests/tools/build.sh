#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Configures a build directory once and builds targets in it; ninja does nothing when nothing changed.
# usage: build.sh DIR TARGET... [-- CMAKE-ARGUMENT...]     env: BUILD_TYPE JOBS CMAKE_ARGS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need cmake cmake
need ninja ninja-build

dir=$1
shift
targets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1"); shift; done
[ $# -eq 0 ] || shift
read -ra more <<< "${CMAKE_ARGS:-}"
if command -v ccache > /dev/null && [[ ${CMAKE_ARGS:-} != *COMPILER_LAUNCHER* ]]; then
    more+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# Each time, so that other arguments than last time's take effect; half a second.
cmake -S "$top" -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE="${BUILD_TYPE:-RelWithDebInfo}" --log-level=WARNING \
    "$@" ${more[@]+"${more[@]}"} > /dev/null
without_aslr cmake --build "$dir" -j "${JOBS:-$(nproc)}" --target "${targets[@]}"
