# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154  # work, top, bin, cache, kube: lib.sh has them
# The manifests of deploy/ as text, for cases that have sourced rig.sh. Sourced, never run.

# kubectl 1.20 has kustomize 2.0.3, which calls a base and a patch by other names than newer ones.
manifests() { # manifests DIRECTORY-BELOW-deploy/kustomize: what "kubectl kustomize" prints
    local copy=$work/kustomize
    if [ ! -d "$copy" ]; then
        cp -r "$top/deploy/kustomize" "$copy"
        sed -i 's,^- \.\./\.\./base$,,; s/^resources:$/bases: [..\/..\/base]\nresources:/; s/^patches:$/patchesStrategicMerge:/; s/^- path: /- /' \
            "$copy"/overlays/*/kustomization.yaml
    fi
    "$bin/kubectl" kustomize "$copy/$1"
}
documents_of() { # documents_of WANT KIND...: of the manifests on stdin, those of these kinds (WANT: only) or the others (but)
    awk -v want="$1" -v kinds=" ${*:2} " 'BEGIN { RS = "---\n"; ORS = "---\n" }
        match("\n" $0, /\nkind: [A-Za-z]+/) {
            known = index(kinds, " " substr($0, RSTART + 6, RLENGTH - 7) " ") > 0
            if (known == (want == "only")) print
        }'
}
chart() { # chart FLAG...: the Helm chart rendered (chart/main.go)
    if [ ! -x "$cache/chart" ] || [ "$kube/chart/main.go" -nt "$cache/chart" ]; then
        GO111MODULE=off GOPATH=/usr/share/gocode GOPROXY=off CGO_ENABLED=0 GOCACHE=$cache/chart.gocache \
            go build -o "$cache/.chart" "$kube/chart/main.go" || return 1
        rm -rf "$cache/chart.gocache"
        mv "$cache/.chart" "$cache/chart"
    fi
    "$cache/chart" "$@" "$top/deploy/helm/evictd"
}
