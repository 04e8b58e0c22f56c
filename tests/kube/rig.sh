# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034  # some of it is for the cases that source this
# The rig as shell functions for tests, on top of tests/integration/lib.sh (check, wait_for, run, says). Sourced, never run.
# A rig that kube_up made is removed when the test ends, however it ends; one that EVICTD_KUBE_RUN names is used as it is.

# shellcheck source=tests/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
# shellcheck source=tests/kube/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/kube/leftovers.sh
. "$(dirname "${BASH_SOURCE[0]}")/leftovers.sh"
rig_is_ours=

kube_up() { # kube_up: an API server; $rig has NAME.token, NAME.kubeconfig, pki/ca.crt and url (see up.sh)
    if [ -z "${EVICTD_KUBE_RUN:-}" ]; then
        rig=$(mktemp -d "${TMPDIR:-/tmp}/evictd-kube.XXXXXX")
        node=$rig/node rig_is_ours=1
        export EVICTD_KUBE_RUN=$rig
    fi
    "$kube/up.sh" > /dev/null
}
kubelet_up() { "$kube/kubelet_up.sh" > /dev/null; } # kubelet_up: a node n1 that is Ready (see kubelet_up.sh)
kubelet_down() { "$kube/kubelet_down.sh"; }
kube_down() { # kube_down: all of it, if it is ours
    [ -n "$rig_is_ours" ] || return 0
    "$kube/down.sh" && unset EVICTD_KUBE_RUN && rig_is_ours=
}
api_server_down() { stop_recorded "$rig/apiserver.pid" 15; } # kube_up starts it again, with its data and port
kubectl() { "$kube/kubectl" "$@"; }                          # AS=evictd kubectl ...: with another token
kubelet_enter() { "$kube/kubelet_enter" "$@"; }

trap 'trap "" PIPE; kube_down; clean_up' EXIT
trap 'exit 130' INT TERM

# ---- requests

http_status() { # http_status USER PATH [CURL-ARGUMENT...]: of the API server's answer to that user's token
    local user=$1 path=$2
    shift 2
    curl -s -o "$work/out" -w '%{http_code}' --max-time 20 --cacert "$rig/pki/ca.crt" \
        -H "Authorization: Bearer $(cat "$rig/$user.token")" "$@" "$(cat "$rig/url")$path"
    echo >> "$work/out" # it is printed when a check fails, and ends in the middle of a line
}
answers_with() { # answers_with STATUS USER PATH [CURL-ARGUMENT...]: the answer is in $work/out
    local want=$1 got
    shift
    got=$(http_status "$@")
    [ "$got" = "$want" ] || { echo "    $*: status $got, not $want"; return 1; }
}

# ---- pods

jsonpath() { kubectl get "$1" "${@:3}" -o "jsonpath=$2"; } # jsonpath OBJECT PATH [ARGUMENT...]
pod_is() { [ "$(jsonpath "pod/$1" '{.status.phase}' "${@:3}" 2> /dev/null)" = "$2" ]; } # pod_is NAME PHASE [ARGUMENT...]
pod_uid() { jsonpath "pod/$1" '{.metadata.uid}' "${@:2}"; }
pod_cgroup() { # pod_cgroup UID: its directory in the memory controller
    find /sys/fs/cgroup/memory/"$(cgroup_of "$rig")" -name "pod$1" | grep .
}
make_pod() { # make_pod NAME REQUEST LIMIT COMMAND...: on the node; an empty REQUEST and LIMIT make it BestEffort
    # env: RESTART (Always), GRACE (2): seconds that it has to terminate
    local command
    printf -v command '"%s", ' "${@:4}"
    kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1", labels: {app: test}}
spec:
  nodeName: n1
  restartPolicy: ${RESTART:-Always}
  terminationGracePeriodSeconds: ${GRACE:-2}
  containers:
  - name: main
    image: localhost/load:1
    imagePullPolicy: Never
    command: [${command%, }]
    resources: {requests: {${2:+memory: $2}}, limits: {${3:+memory: $3}}}
END
}
container_pid() { # container_pid POD: the load generator in its container
    local file pid
    for file in "$(pod_cgroup "$(pod_uid "$1")")"/*/cgroup.procs; do
        while read -r pid; do
            [ "$(readlink "/proc/$pid/exe")" != /bin/vm_load ] || { echo "$pid"; return; }
        done < "$file"
    done
    return 1
}
remove_pods() { # remove_pods: all, and waits for the kubelet to have removed their cgroups
    kubectl delete pod --all-namespaces --all --force --grace-period 0 > /dev/null 2>&1
    wait_until 30 no_pod_cgroups
}
no_pod_cgroups() { ! grep -q . < <(find /sys/fs/cgroup/memory/"$(cgroup_of "$rig")" -name 'pod*-*'); }

# ---- evictd on the node: start_agent, reload, stop_agent of tests/integration/lib.sh

agent_on_node() { # agent_on_node: start_agent runs it in the node's mount namespace, write_config names the node's cgroup
    wrap=("$kube/kubelet_enter")
    intents=/dev/shm/$(cgroup_of "$rig")/intents
    eval "plain_$(declare -f write_config)"
    # shellcheck disable=SC2317  # cases call it
    write_config() {
        plain_write_config "$@" && sed -i "s,^cgroupRoot: .*,cgroupRoot: /$(cgroup_of "$rig")," "$work/config.yaml"
    }
    mkdir -p "$work/pods"
}
write_manifests() { # write_manifests: the pods that the API server has, for evictd.podManifestPath
    local namespace pod
    while read -r namespace pod; do
        kubectl get pod -n "$namespace" "$pod" -o yaml > "$work/pods/.$namespace.$pod" &&
            mv "$work/pods/.$namespace.$pod" "$work/pods/$namespace.$pod.yaml"
    done < <(kubectl get pods --all-namespaces --no-headers | awk '{ print $1, $2 }')
}
