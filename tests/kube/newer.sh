# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2154  # work, cache, kube: lib.sh has them
# The server that answers as Kubernetes 1.36.2 (newer/*.go), for cases that have sourced rig.sh. Sourced, never run.
newer=$work/newer
newer_pid=

newer_program() { # newer_program: prints its path; it is compiled when its sources are newer
    local program=$cache/newer
    if [ ! -x "$program" ] || [ -n "$(find "$kube/newer" -name '*.go' -newer "$program" -print -quit)" ]; then
        (cd "$kube/newer" && GO111MODULE=off GOPATH=/usr/share/gocode GOPROXY=off CGO_ENABLED=0 GOCACHE=$cache/newer.gocache go build -o "$program.new" .) >&2 || return 1
        rm -rf "$cache/newer.gocache"
        mv "$program.new" "$program"
    fi
    echo "$program"
}
newer_up() { # newer_up: $newer has url, kubelet.url, ca.crt, token, kubeconfig, requests
    local program
    program=$(newer_program) || return 1
    mkdir -m 700 "$newer" && newer_authority && newer_certificate "1 day ago" "1 day" || return 1
    openssl rand -hex 16 > "$newer/token"
    newer_tokens "$(cat "$newer/token")"
    "$program" -dir "$newer" -node n1 -tick 2s 2> "$newer/log" < /dev/null &
    newer_pid=$!
    wait_for 10 test -s "$newer/kubelet.url" || { cat "$newer/log"; return 1; }
    cat > "$newer/kubeconfig" << END
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$(cat "$newer/url")", certificate-authority: $newer/ca.crt}}]
users: [{name: evictd, user: {tokenFile: $newer/token}}]
contexts: [{name: test, context: {cluster: test, user: evictd}}]
current-context: test
END
}
newer_down() {
    [ -z "$newer_pid" ] || { kill "$newer_pid" && wait "$newer_pid"; } 2> /dev/null
    newer_pid=
}
newer_tokens() { # newer_tokens TOKEN: the only one that the server knows, with evictd's rights
    echo "$1 pods pods/status pods/eviction nodes nodes/pods nodes/configz events" > "$newer/tokens.new" && mv "$newer/tokens.new" "$newer/tokens"
}
newer_authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=evictd-test-newer \
        -keyout "$newer/ca.key" -out "$newer/ca.crt" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2> /dev/null
}
newer_certificate() { # newer_certificate FROM TO: as date(1) reads them; used from the next connection on
    local from to
    from=$(date -u -d "$1" +%Y%m%d%H%M%SZ) to=$(date -u -d "$2" +%Y%m%d%H%M%SZ)
    (
        cd "$newer" || exit 1
        rm -rf index* && : > index && openssl rand -hex 8 > serial
        printf '%s\n' '[ca]' 'default_ca=own' '[own]' 'database=index' 'serial=serial' 'new_certs_dir=.' 'policy=any' 'default_md=sha256' \
            '[any]' 'commonName=supplied' '[server]' 'subjectAltName=IP:127.0.0.1,DNS:n1' 'extendedKeyUsage=serverAuth' > ca.cnf
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=n1 -keyout tls.key.new -out tls.csr &&
            openssl ca -batch -config ca.cnf -extensions server -cert ca.crt -keyfile ca.key -in tls.csr -out tls.crt.new \
                -startdate "$from" -enddate "$to" -notext && mv tls.key.new tls.key && mv tls.crt.new tls.crt
    ) > "$newer/openssl.log" 2>&1 || { cat "$newer/openssl.log"; return 1; }
}
control() { # control METHOD PATH [CURL-ARGUMENT...]: the test's own requests to it
    curl -sf --max-time 10 --unix-socket "$newer/control" -X "$1" "http://newer$2" "${@:3}"
}
