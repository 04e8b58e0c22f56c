#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Starts etcd and an API server on loopback, with TLS, tokens and RBAC. What already runs stays as it is, so that the API
# server alone can be stopped and started again: certificates, tokens, ports and data are kept until down.sh.
# usage: up.sh     env: EVICTD_KUBE_RUN, NODE_NAME (n1: the node of the node's token), CONTROLLERS=1 (also the controller-manager)
#                  RBAC (rbac.yaml: what the user "evictd" may do)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need openssl openssl
need curl curl
for name in etcd kube-apiserver kubectl; do [ -x "$bin/$name" ] || die "no $name in $bin (run build.sh)"; done
node_name=${NODE_NAME:-n1}
umask 077
mkdir -p "$rig"/{pki,etcd}
export EVICTD_KUBE_RUN=$rig
cd "$rig"

is_new=
[ -e prepared ] || is_new=1
on_exit() { # a rig that ran before stays; down.sh ends it, with what was started now
    [ "$1" -ne 0 ] || return 0
    tail -n 5 ./*.log >&2 2> /dev/null || true
    [ -z "$is_new" ] || "$kube/down.sh"
}
trap 'on_exit $?' EXIT
trap 'exit 130' INT TERM

# ---- certificates, tokens, kubeconfigs

quietly() { "$@" > openssl.log 2>&1 || { cat openssl.log >&2; return 1; }; }
key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
authority() { # authority NAME
    quietly openssl req -x509 "${key[@]}" -days 3650 -subj "/CN=evictd-test-$1" -keyout "pki/$1.key" -out "pki/$1.crt" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature
}
certificate() { # certificate NAME SUBJECT: signed by ca
    quietly openssl req "${key[@]}" -subj "$2" -keyout "pki/$1.key" -out "pki/$1.csr"
    quietly openssl x509 -req -in "pki/$1.csr" -CA pki/ca.crt -CAkey pki/ca.key -CAcreateserial -days 3650 -out "pki/$1.crt" \
        -extfile <(printf '%s\n' subjectAltName=IP:127.0.0.1,DNS:localhost extendedKeyUsage=serverAuth,clientAuth)
}
make_certificates() {
    authority ca
    authority other-ca # signed nothing: a client that trusts only this one must refuse the server
    certificate apiserver /CN=kube-apiserver
    certificate node "/O=system:nodes/CN=system:node:$node_name"
    quietly openssl ecparam -name prime256v1 -genkey -noout -out pki/sa.key
    quietly openssl ec -in pki/sa.key -pubout -out pki/sa.pub
}
kubeconfig() { # kubeconfig NAME USER GROUP: with a token of its own, which the API server knows
    openssl rand -hex 16 > "$1.token"
    echo "$(cat "$1.token"),$2,$1,$3" >> tokens.csv
    cat > "$1.kubeconfig" << END
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$(cat url)", certificate-authority: $rig/pki/ca.crt}}]
users: [{name: $1, user: {token: "$(cat "$1.token")"}}]
contexts: [{name: test, context: {cluster: test, user: $1}}]
current-context: test
END
}
prepare() {
    local port
    make_certificates
    for port in api etcd peer controllers; do free_port > "pki/$port.port"; done
    echo "https://127.0.0.1:$(cat pki/api.port)" > url
    : > tokens.csv
    kubeconfig admin admin system:masters
    kubeconfig evictd evictd ""
    kubeconfig node "system:node:$node_name" system:nodes
    kubeconfig nobody nobody ""
    touch prepared
}

# ---- processes

start_etcd() {
    local client peer
    client=http://127.0.0.1:$(cat pki/etcd.port) peer=http://127.0.0.1:$(cat pki/peer.port)
    setsid "$bin/etcd" --name test --data-dir etcd --unsafe-no-fsync --initial-cluster "test=$peer" \
        --listen-client-urls "$client" --advertise-client-urls "$client" --listen-peer-urls "$peer" \
        --initial-advertise-peer-urls "$peer" > etcd.log 2>&1 < /dev/null &
    record_pid etcd.pid $!
    wait_until 30 ready_unless_dead etcd.pid curl -fs "$client/health" || die "etcd does not answer"
    recorded etcd.pid || die "etcd has exited"
}
# ServiceAccount would refuse pods until a controller-manager has made the account "default"; TaintNodesByCondition would taint
# a node that no controller marks as ready.
start_api_server() {
    setsid "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$(cat pki/etcd.port)" \
        --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$(cat pki/api.port)" \
        --endpoint-reconciler-type=none --service-cluster-ip-range=10.96.0.0/16 --allow-privileged=true \
        --cert-dir=pki --tls-cert-file=pki/apiserver.crt --tls-private-key-file=pki/apiserver.key --client-ca-file=pki/ca.crt \
        --kubelet-certificate-authority=pki/ca.crt --kubelet-client-certificate=pki/apiserver.crt \
        --kubelet-client-key=pki/apiserver.key --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file=pki/sa.pub --service-account-signing-key-file=pki/sa.key \
        --api-audiences=https://kubernetes.default.svc --token-auth-file=tokens.csv --authorization-mode=Node,RBAC \
        --disable-admission-plugins=ServiceAccount,TaintNodesByCondition --v=1 >> apiserver.log 2>&1 < /dev/null &
    record_pid apiserver.pid $!
    wait_until 90 ready_unless_dead apiserver.pid curl -fs --cacert pki/ca.crt "$(cat url)/readyz" ||
        die "the API server does not become ready"
    recorded apiserver.pid || die "the API server has exited"
}
start_controllers() {
    setsid "$bin/kube-controller-manager" --kubeconfig=admin.kubeconfig --authentication-kubeconfig=admin.kubeconfig \
        --authorization-kubeconfig=admin.kubeconfig --bind-address=127.0.0.1 --port=0 \
        --secure-port="$(cat pki/controllers.port)" --cert-dir=pki --leader-elect=false --use-service-account-credentials=false \
        --service-account-private-key-file=pki/sa.key --root-ca-file=pki/ca.crt --allocate-node-cidrs=false \
        > controllers.log 2>&1 < /dev/null &
    record_pid controllers.pid $!
    wait_until 30 ready_unless_dead controllers.pid curl -fsk "https://127.0.0.1:$(cat pki/controllers.port)/healthz" ||
        die "the controller-manager does not answer"
    recorded controllers.pid || die "the controller-manager has exited"
}

[ -e prepared ] || prepare
recorded etcd.pid || start_etcd
if ! recorded apiserver.pid; then
    start_api_server
    "$kube/kubectl" apply -f "$top/deploy/kustomize/base/namespace.yaml" -f "$top/deploy/kustomize/base/rbac.yaml" \
        -f "$top/deploy/kustomize/base/rbac-taints.yaml" -f "$top/deploy/kustomize/overlays/older-kubelet/rbac.yaml" \
        -f "${RBAC:-$kube/rbac.yaml}" > /dev/null
fi
[ "${CONTROLLERS:-}" != 1 ] || recorded controllers.pid || start_controllers
echo "KUBECONFIG=$rig/admin.kubeconfig"
