# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for the scripts that source this
# Shared by the scripts of this rig, which is one of tests/kube without API server and kubelet. Sourced, never run.
# env: EVICTD_KUBE_DIR (cache of binaries), EVICTD_CRI_RUN (the running rig: one directory, one rig),
#      CONTAINERD_RELEASE (the release of Debian that containerd is taken from, as trixie; empty: this one's)

export EVICTD_KUBE_RUN=${EVICTD_CRI_RUN:-${TMPDIR:-/tmp}/evictd-cri}
# shellcheck source=tests/kube/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../kube/lib.sh"
cri=$top/tests/cri
release=${CONTAINERD_RELEASE:-}
[ -z "$release" ] || bin=$cache/$release
# shellcheck source=tests/kube/runtime.sh
. "$kube/runtime.sh"
