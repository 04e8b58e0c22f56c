#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Prints the source files and scripts whose head lacks the licence or, in the line below it, the copyright; fails if there
# is one. Other files of ours (units, YAML, the manual) count once they name a licence.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1
licence='SPDX-License-Identifier: '
copyright='Copyright The evictd authors'

is_fine() { # is_fine FILE: of its first three lines
    awk -v licence="$licence" -v copyright="$copyright" '
        FNR > 3 { exit }
        named && index($0, copyright) { found = 1 }
        { named = index($0, licence) > 0 }
        END { exit !found }' "$1"
}
others() { # that name a licence in a comment, NUL-separated
    find CMakeLists.txt Makefile .ci agent bpf deploy include tests -path deploy/licenses -prune -o -type f \
        -exec grep -lIZE -m1 "^(//|/[*]|#|[.].\"|<!--) $licence" {} + 2> /dev/null
}
status=0
while IFS= read -rd '' file; do
    is_fine "$file" || { echo "$file: no '$copyright' below its licence"; status=1; }
done < <({ sources; scripts; others; } | sort -zu)
exit "$status"
