#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What a pod keeps on disk, as evictd's survey counts it and as the kubelet does, in its /stats/summary: volumes and logs of a
# real pod, to the byte.
# needs: node
# in turns
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
program=${KUBE_SURVEY:-$(dirname "$EVICTD")/kube_survey}
[ -x "$program" ] || {
    skip "the survey beside the kubelet's figures" "no $program (tests/tools/build.sh build kube_survey)"
    exit 0
}

restart_kubelet() { # restart_kubelet [FILE]: with these keys more
    stop_recorded "$node/kubelet.pid"
    KUBELET_CONFIG=${1:-} kubelet_up && wait_for 30 kubelet_listens
}
kubelet_listens() { (exec 3<> "/dev/tcp/127.0.0.1/$(cat "$node/kubelet.port")") 2> /dev/null; }
echo 'volumeStatsAggPeriod: 2s' > "$work/kubelet.yaml" # else a volume is measured once a minute
check "the kubelet measures volumes often" restart_kubelet "$work/kubelet.yaml"

kubectl create configmap settings --from-literal=key=value > /dev/null
kubectl apply -f - > /dev/null << 'END'
apiVersion: v1
kind: Pod
metadata: {name: surveyed}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/load:1
    imagePullPolicy: Never
    command:
    - sh
    - -c
    - |
      dd if=/dev/zero of=/cache/big bs=1M count=8 2> /dev/null
      dd if=/dev/zero of=/memory/big bs=1M count=2 2> /dev/null
      mkdir -p /cache/a/b/c && for i in 1 2 3 4 5 6 7 8 9; do echo $i > /cache/a/b/$i && ln /cache/a/b/$i /cache/a/b/c/$i; done
      truncate -s 1G /cache/sparse && ln -s / /cache/root && mkfifo "/cache/a
      fifo"
      echo ready && exec sleep 1000
    volumeMounts: [{name: cache, mountPath: /cache}, {name: memory, mountPath: /memory}, {name: settings, mountPath: /settings}]
  volumes:
  - {name: cache, emptyDir: {}}
  - {name: memory, emptyDir: {medium: Memory}}
  - {name: settings, configMap: {name: settings}}
END
logs_ready() { kubelet_enter sh -c 'grep -qs ready /var/log/pods/default_surveyed_*/main/0.log'; }
check "a pod with volumes has written" wait_for 30 logs_ready
uid=$(pod_uid surveyed)
sync -f "$rig" # what is not written yet may be counted in another way

summary() {
    curl -sS --max-time 20 --cacert "$node/certs/kubelet.crt" --connect-to "n1::127.0.0.1:$(cat "$node/kubelet.port")" \
        -H "Authorization: Bearer $(cat "$rig/admin.token")" https://n1/stats/summary 2> "$work/err" | tr -d ' \n' > "$work/summary"
}
figures='"usedBytes":([0-9]+),"inodesFree":[0-9]+,"inodes":[0-9]+,"inodesUsed":([0-9]+)'
of_kubelet() { # of_kubelet NAME: "BYTES INODES" of a volume
    sed -nE "s/.*$figures,\"name\":\"$1\".*/\1 \2/p" "$work/summary"
}
# This kubelet counts names, by find; newer ones count an inode once, as evictd does.
without_links() { of_kubelet cache | awk '{ print $1, $2 - 9 }'; }
logs_of_kubelet() { sed -nE "s/.*\"logs\":\{\"time\":\"[^\"]*\",\"availableBytes\":[0-9]+,\"capacityBytes\":[0-9]+,$figures\}.*/\1 \2/p" "$work/summary"; }
survey() { kubelet_enter "$program" "$node/kubelet/pods" > "$work/out" 2> "$work/survey.err"; }
of_survey() { # of_survey KIND NAME: "BYTES INODES"
    awk -v uid="$uid" -v kind="$1" -v name="$2" '$1 == uid && $2 == kind && $3 == name { print $4, $5 }' "$work/out"
}
same() { # same KIND NAME COMMAND...: both have a figure, and it is the same
    local ours theirs
    : > "$work/compared"
    summary && survey || return 1
    ours=$(of_survey "$1" "$2") theirs=$("${@:3}")
    echo "    $1 $2: evictd ${ours:-none}, kubelet ${theirs:-none}" > "$work/compared"
    [ -n "$ours" ] && [ "$ours" = "$theirs" ]
}
alike() { wait_for 30 same "$@" || { cat "$work/compared" "$work/survey.err"; return 1; }; }
check "an emptyDir: a file, hard links, a hole, a symbolic link, a fifo" alike emptyDir cache without_links
check "an emptyDir in memory" alike emptyDir memory of_kubelet memory
check "a configMap" alike configMap settings of_kubelet settings
check "a container's logs" alike containerLogs main logs_of_kubelet
big() { [ "$(of_survey emptyDir cache | cut -d ' ' -f 1)" -ge 8388608 ] && [ "$(of_survey emptyDir cache | cut -d ' ' -f 1)" -lt 9000000 ]; }
check "which is what the pod wrote" big
others() { [ "$(awk -v uid="$uid" '$1 == uid { print $2 }' "$work/out" | sort | xargs)" = "configMap containerLogs emptyDir emptyDir etcHosts podLogs" ]; }
check "and nothing else, such as the token's volume" others

kubectl delete pod surveyed --force --grace-period 0 > /dev/null 2>&1
# Its logs stay until the kubelet collects them, once a minute, and are listed as long.
gone() { survey && ! grep -qE "^$uid (emptyDir|configMap|etcHosts) " "$work/out"; }
check "a pod that is deleted leaves the survey" wait_for 30 gone
check "the kubelet is as it was" restart_kubelet
