#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The API server as evictd meets it: TLS, tokens, rights, and what it refuses.
# needs: api
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
url=$(cat "$rig/url")

other_authority() {
    local status=0
    curl -s -o /dev/null --max-time 20 --cacert "$rig/pki/other-ca.crt" "$url/readyz" || status=$?
    [ "$status" -eq 60 ] || { echo "    curl: status $status, not 60"; return 1; }
}
check "it answers with TLS" answers_with 200 admin /readyz
check "its certificate is refused by a client that trusts another authority" other_authority
plain_http() { [ "$(curl -s -o /dev/null -w '%{http_code}' "http://${url#https://}/readyz")" = 400 ]; }
check "it refuses plain HTTP" plain_http
wrong_token() {
    curl -s --cacert "$rig/pki/ca.crt" -H "Authorization: Bearer 0123456789abcdef0123456789abcdef" "$url/api/v1/pods" > "$work/out" &&
        says '"code": 401'
}
check "it refuses an unknown token" wrong_token

pods=/api/v1/namespaces/default/pods
pod_on() { # pod_on NODE NAME: a node without a kubelet, so that its pods stay as they are
    echo "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"$2\"}, \"spec\": {\"nodeName\": \"$1\"," \
        "\"terminationGracePeriodSeconds\": 0, \"containers\": [{\"name\": \"main\", \"image\": \"none\"}]}}" | kubectl create -f - > /dev/null
}
pod_on elsewhere ours && pod_on another theirs
list_of_node() {
    answers_with 200 evictd "/api/v1/pods?fieldSelector=spec.nodeName%3Delsewhere" && says '"name": "ours"' && ! says '"name": "theirs"'
}
check "evictd lists the pods of a node, and only those" list_of_node
check "a user without rights gets 403" answers_with 403 nobody /api/v1/pods
check "evictd may not delete pods" answers_with 403 evictd "$pods/ours" -X DELETE
check "evictd may not create pods" answers_with 403 evictd "$pods" -X POST -H 'Content-Type: application/json' -d '{}'
check "evictd may not read secrets" answers_with 403 evictd /api/v1/secrets

watch_sees() {
    local version
    version=$(kubectl get --raw "$pods" | grep -oE '"resourceVersion":"[0-9]+"' | head -n 1 | tr -dc 0-9)
    http_status evictd "$pods?watch=1&timeoutSeconds=4&resourceVersion=$version" > /dev/null &
    local watch=$!
    sleep 0.5
    pod_on elsewhere late
    wait "$watch"
    says '"type":"ADDED".*"name":"late"'
}
check "a watch delivers a pod that is created" watch_sees

patch_status() { # patch_status STATUS UID
    answers_with "$1" evictd "$pods/ours/status" -X PATCH -H 'Content-Type: application/strategic-merge-patch+json' \
        -d "{\"metadata\": {\"uid\": \"$2\"}, \"status\": {\"phase\": \"Failed\", \"reason\": \"Evicted\"}}"
}
wrong_uid() { patch_status 422 00000000-0000-4000-8000-000000000000 && ! pod_is ours Failed; }
right_uid() { patch_status 200 "$(pod_uid ours)" && pod_is ours Failed; }
check "evictd's status patch with another pod's UID is refused" wrong_uid
check "and with its own UID it counts" right_uid
evict() {
    answers_with 201 evictd "$pods/theirs/eviction" -X POST -H 'Content-Type: application/json' \
        -d '{"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "theirs", "namespace": "default"}}' &&
        answers_with 404 evictd "$pods/theirs"
}
check "evictd evicts a pod through the Eviction API" evict
restarted() { api_server_down && answers_with 000 evictd "$pods/ours" && kube_up && answers_with 200 evictd "$pods/ours"; }
check "it is stopped and started again with its data" restarted
exit "$failed"
