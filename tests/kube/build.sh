#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Builds kube-apiserver, kubelet, kubectl and kube-controller-manager 1.20.2 from Debian 12's source package, and unpacks
# etcd, containerd and runc from its binary packages. Nothing is installed; root is not needed. Only the binaries are kept.
# usage: build.sh [COMMAND...]     what is in the cache is not built again; env: EVICTD_KUBE_DIR, KEEP=1 (keeps the sources)
# exit status 75: the sources cannot be had here (another distribution, offline)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

components=(kube-apiserver kubectl kubelet kube-controller-manager)
runtime=(etcd containerd containerd-shim-runc-v2 ctr runc)
[ $# -gt 0 ] || set -- "${components[@]}" "${runtime[@]}"

for name in "$@"; do
    [[ " ${components[*]} ${runtime[*]} " == *" $name "* ]] || die "unknown command '$name' (${components[*]} ${runtime[*]})"
done
find_missing() { # find_missing COMMAND...
    local name
    missing=()
    for name in "$@"; do [ -x "$bin/$name" ] || missing+=("$name"); done
    [ ${#missing[@]} -gt 0 ] || exit 0
}
find_missing "$@"
lacks() { [[ " ${missing[*]} " == *" $1 "* ]]; } # lacks COMMAND

unavailable() { # unavailable WHY
    echo "build.sh: $1" >&2
    exit 75
}
command -v apt-get > /dev/null || unavailable "the sources are Debian's, and apt-get is missing"
mkdir -p "$bin"
exec {lock}> "$cache/.build"
flock "$lock" # another process may be building the same
find_missing "$@"
work=$cache/build
rm -rf "$work"
mkdir -p "$work/root"
[ "${KEEP:-}" = 1 ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Package lists of our own: the machine's entries for this release, with the source packages; /etc/apt stays as it is.
private_lists() {
    local code file parts=$work/apt/parts
    code=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ "$code" = bookworm ] || unavailable "only Debian 12 has the sources of Kubernetes' server components"
    mkdir -p "$parts" "$work"/apt/{lists/partial,cache/archives/partial}
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -nE "/^deb (\[[^]]*\] *)?[^ ]+ +$code /{p; s/^deb /deb-src /p}" "$file" > "$parts/of-${file##*/}"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || awk -v code="$code" 'BEGIN { RS = ""; ORS = "\n\n" }
            $0 ~ "(^|\n)Suites:([^\n]* )?" code "( |\n|$)"' "$file" |
            sed -E "s/^Types:.*/Types: deb deb-src/; s/^Suites:.*/Suites: $code/" > "$parts/${file##*/}"
    done
    apt=(-qq -o APT::Sandbox::User=root -o Acquire::http::Timeout=30 -o Acquire::Retries=3 -o Acquire::Languages=none
        -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$parts" -o "Dir::State::lists=$work/apt/lists"
        -o "Dir::Cache=$work/apt/cache")
    timeout 240 apt-get "${apt[@]}" update || unavailable "cannot read Debian's package lists (offline?)"
}

fetch() { # fetch PACKAGE...: unpacked below $work/root
    local deb
    (cd "$work/apt" && timeout 600 apt-get "${apt[@]}" download "$@") || unavailable "cannot download $* with apt"
    for deb in "$work"/apt/*.deb; do dpkg -x "$deb" "$work/root"; done
    rm -f "$work"/apt/*.deb
}

keep() { # keep COMMAND FILE: whole or not at all
    cp "$2" "$bin/.$1"
    mv "$bin/.$1" "$bin/$1"
}

unpack_runtime() {
    local name
    fetch etcd-server containerd runc
    for name in "${runtime[@]}"; do
        ! lacks "$name" || keep "$name" "$(find "$work"/root/usr/{bin,sbin} -name "$name" -type f | head -n 1)"
    done
}

unpack_sources() {
    (cd "$work/apt" && timeout 600 apt-get "${apt[@]}" source --download-only kubernetes) ||
        unavailable "cannot download the sources"
    mkdir -p "$work/gopath/src/k8s.io/kubernetes"
    cd "$work/gopath/src/k8s.io/kubernetes"
    # Debian's patches change only what kubectl prints.
    tar xf "$work"/apt/kubernetes_*.orig.tar.* --strip-components=1
    # reflect2 1.0.1, which the sources bring, crashes the API server if built by Go 1.18 or later.
    rm -rf vendor/github.com/modern-go/reflect2
    cp -r "$work/root/usr/share/gocode/src/github.com/modern-go/reflect2" vendor/github.com/modern-go/
}

# The one generated file that the sources lack: the schemas of all types that the API server serves.
generate_openapi() {
    local dir input=""
    compile "$work/" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    for dir in $(grep -rl --include='*.go' '+k8s:openapi-gen=' vendor/k8s.io/{api,apimachinery,apiextensions-apiserver,apiserver,client-go,kube-aggregator}/ |
        grep -v _test.go | xargs -n 1 dirname | LC_ALL=C sort -u); do
        input+=,k8s.io/kubernetes/$dir
    done
    nice -n 5 "$work/openapi-gen" -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi \
        --output-base "$work/gopath/src" -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -i "${input#,}" -r "$work/violations"
}

compile() { # compile DIRECTORY/ PACKAGE...: without debug information, cloud providers and Docker
    local to=$1 path flags="-s -w"
    shift
    for path in component-base/version client-go/pkg/version; do
        path=k8s.io/kubernetes/vendor/k8s.io/$path
        flags+=" -X $path.gitVersion=v1.20.2 -X $path.gitMajor=1 -X $path.gitMinor=20"
    done
    # Flags for Kubernetes' packages alone: with flags for all of them, the standard library would be compiled again.
    nice -n 5 go build -tags "providerless dockerless" -gcflags='k8s.io/...=-dwarf=false' -ldflags "$flags" -o "$to" "$@"
}

build_components() {
    local name packages=()
    fetch golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev
    unpack_sources
    # With modules Go refuses these sources ("updates to go.mod needed"); below GOPATH it builds them without a network.
    # The compiler takes a third less time if it collects garbage only when it has to.
    export PATH=$work/root/usr/lib/go-1.19/bin:$PATH GOPATH=$work/gopath GOCACHE=$work/cache GO111MODULE=off GOPROXY=off \
        CGO_ENABLED=0 GOFLAGS="" GOGC=off GOMEMLIMIT=1GiB
    ! lacks kube-apiserver || generate_openapi
    for name in "${components[@]}"; do ! lacks "$name" || packages+=("./cmd/$name"); done
    mkdir "$work/bin"
    compile "$work/bin/" "${packages[@]}"
    for name in "$work"/bin/*; do keep "${name##*/}" "$name"; done
}

begin=$SECONDS
private_lists
for name in "${runtime[@]}"; do
    if lacks "$name"; then unpack_runtime; break; fi
done
for name in "${components[@]}"; do
    if lacks "$name"; then build_components; break; fi
done
echo "built ${missing[*]} in $((SECONDS - begin)) s"
