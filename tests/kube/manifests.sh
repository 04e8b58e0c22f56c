# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154  # work, top, bin, cache, kube: lib.sh has them
# The manifests of deploy/ as text, and what their pods need on the rig, for cases that have sourced rig.sh. Sourced, never run.

# kubectl 1.20 has kustomize 2.0.3, which calls a base and a patch by other names than newer ones.
manifests() { # manifests DIRECTORY-BELOW-deploy/kustomize: what "kubectl kustomize" prints
    local copy=$work/kustomize
    if [ ! -d "$copy" ]; then
        cp -r "$top/deploy/kustomize" "$copy"
        sed -i '/^- \.\.\/disks$/d; s/^resources:$/bases: [..\/disks]/' "$copy/overlays/orphans/kustomization.yaml"
        sed -i 's,^- \.\./\.\./base$,,; s/^resources:$/bases: [..\/..\/base]\nresources:/; s/^patches:$/patchesStrategicMerge:/; s/^- path: /- /' \
            "$copy"/overlays/*/kustomization.yaml
    fi
    "$bin/kubectl" kustomize "$copy/$1"
}
# What is different on the rig: directories of the host ($host, $run_directory, $bpf), addresses, the cgroup, and CAP_SYS_RESOURCE
# where this machine has none to give.
on_rig() { # on_rig THRESHOLDS: the manifests on stdin, with this instead of their evictionHard
    sed -e "s,path: /run/evictd\$,path: $run_directory,; s,path: /var/lib/evictd\$,path: $host/state,; s,path: /var/log/evictd\$,path: $host/log," \
        -e "s,path: /var/lib/kubelet/pki\$,path: $node/certs,; s,path: /sys/fs/bpf\$,path: $bpf," \
        -e "s|^        - name: NODE_NAME|        - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}\n        - {name: KUBERNETES_SERVICE_PORT, value: \"$(sed 's/.*://' "$rig/url")\"}\n&|" \
        -e "s|^    evictionHard: .*|    $1\n    evictionPressureTransitionPeriod: 1s\n    cgroupRoot: /$(cgroup_of "$rig")|" |
        if lacks_capability 24; then sed '/^ *- SYS_RESOURCE$/d'; else cat; fi
}
lacks_capability() { # lacks_capability NUMBER
    local own
    own=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
    [ $((0x$own >> $1 & 1)) -eq 0 ]
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
import_image() { # import_image: made from $EVICTD as deploy/image does, and in the node's containerd; what make.sh says is in $work/out
    "$top/deploy/image/make.sh" "$EVICTD" "$work/evictd.tar" > "$work/out" && sed 's/^/    /' "$work/out" &&
        kubelet_enter "$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io image import "$work/evictd.tar" > /dev/null
}
bind_pods() { # bind_pods NAMESPACE: the rig has no scheduler
    local pod
    for pod in $(kubectl get pods -n "$1" --field-selector spec.nodeName= -o 'jsonpath={.items[*].metadata.name}'); do
        echo "{\"apiVersion\": \"v1\", \"kind\": \"Binding\", \"metadata\": {\"name\": \"$pod\"}," \
            "\"target\": {\"apiVersion\": \"v1\", \"kind\": \"Node\", \"name\": \"n1\"}}" |
            kubectl create --raw "/api/v1/namespaces/$1/pods/$pod/binding" -f - > /dev/null
    done
}
