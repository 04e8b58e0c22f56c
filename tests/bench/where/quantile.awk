# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# For other programs here: awk -f quantile.awk -f PROGRAM.
# The smallest of value[prefix 1] to value[prefix n] that `share` of them do not exceed.
function quantile(value, prefix, n, share,    i, j, one, sorted) {
    for (i = 1; i <= n; i++) {
        one = value[prefix i]
        for (j = i - 1; j > 0 && sorted[j] > one; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = one
    }
    return sorted[int(n * share + 0.9999)]
}
