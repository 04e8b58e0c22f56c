# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# shellcheck shell=bash disable=SC2034,SC2154  # what the three scripts share
# The node's pods, as a kubelet with the systemd cgroup driver lays them out: cgroups, oom_score_adj, manifests, and
# processes with real memory. Sourced by session.sh. Builtins wherever possible: a fork costs 10 ms in here.

root=/sys/fs/cgroup
slice=$root/kubepods.slice
mib=1048576
capacity=$(($(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo) * 1024))
loads=/run/peers # what the pods' processes say, and the pipe the growing ones wait at
manifests=/run/peers/manifests
table=/run/peers/pods # for the poller: CGROUP REQUEST PRIORITY

# NAME QOS REQUEST(MiB) PRIORITY HELD(MiB). Some are over their request by a little, as on every node; only the growing pod is
# over by much.
ordinary_pods() { # ordinary_pods WEB API WORKER DB: what each of these holds
    local i
    for i in 1 2 3 4; do echo "web-$i guaranteed 96 1000 $1"; done
    for i in 1 2 3 4 5 6; do echo "api-$i burstable 80 100 $2"; done
    for i in 1 2 3 4 5 6; do echo "worker-$i burstable 48 0 $3"; done
    for i in 1 2; do echo "batch-$i besteffort 0 0 40"; done
    for i in 1 2; do echo "db-$i guaranteed 160 1000 $4"; done
}

# Somewhat over 1,300 MiB, so that a growing pod soon meets the threshold.
pods_of_speed() { ordinary_pods 64 64 60 128; }

# The same in total with what the growing pod holds from the start. The pods db work on every CPU (work()).
pods_of_busy() { ordinary_pods 48 48 40 64; }

# The biggest process is quiet and within its request; the pod that grows is made of eight smaller ones. The kubelet's
# oom_score_adj makes a process's score its size beyond its pod's request, so the neighbours are well within theirs, and no pod is
# BestEffort: whoever goes by that score would shoot those first, however small they are.
pods_of_culprit() {
    local i
    for i in 1 2 3 4; do echo "web-$i guaranteed 96 1000 28"; done
    for i in 1 2 3 4 5 6; do echo "api-$i burstable 80 100 28"; done
    for i in 1 2 3 4 5 6; do echo "worker-$i burstable 64 0 36"; done
    for i in 1 2; do echo "batch-$i burstable 80 0 40"; done
    echo "db-1 guaranteed 160 1000 28"
    echo "quiet burstable 608 0 600"
}

# case: what grows. NAME QOS REQUEST PRIORITY, vm_load's rate and processes, MiB held from the start
hog_of() {
    case $1 in
        slow) echo "hog burstable 64 0 100 1 0" ;;
        fast) echo "hog burstable 64 0 500 1 0" ;;
        full) echo "hog burstable 64 0 max 1 0" ;;
        culprit) echo "hog burstable 256 0 500 8 0" ;;
        busy) echo "hog besteffort 0 0 100 1 400" ;;
        *) echo "hog burstable 64 0 100 1 0" ;;
    esac
}

# kuberuntime: qos.GetContainerOOMScoreAdjust
oom_score_adj() { # oom_score_adj QOS REQUEST-MIB -> adj
    case $1 in
        guaranteed) adj=-997 ;;
        besteffort) adj=1000 ;;
        *)
            adj=$((1000 - 1000 * $2 * mib / capacity))
            [ "$adj" -ge 3 ] || adj=3
            [ "$adj" -lt 1000 ] || adj=999
            ;;
    esac
}

place() { # place QOS NUMBER -> cgroup (the pod's) and scope (its container's), made
    local uid digits parent=$slice
    printf -v digits '%012d' "$2"
    uid=00000000_0000_4000_8000_$digits
    if [ "$1" = guaranteed ]; then
        cgroup=$slice/kubepods-pod$uid.slice
    else
        parent=$slice/kubepods-$1.slice
        cgroup=$parent/kubepods-$1-pod$uid.slice
    fi
    printf -v digits '%064x' "$2"
    scope=$cgroup/cri-containerd-$digits.scope
    mkdir -p "$scope"
    echo "+memory +pids" > "$slice/cgroup.subtree_control"
    echo "+memory +pids" > "$parent/cgroup.subtree_control"
    echo "+memory +pids" > "$cgroup/cgroup.subtree_control"
    echo 1 > "$scope/memory.oom.group" # the kubelet does since 1.28
}

manifest() { # manifest NAME QOS REQUEST-MIB PRIORITY NUMBER
    local resources="{requests: {memory: ${3}Mi}}" digits cpu=100m
    [[ $1 != db-* ]] || cpu=500m
    [ "$2" != guaranteed ] || resources="{requests: {memory: ${3}Mi, cpu: $cpu}, limits: {memory: ${3}Mi, cpu: $cpu}}"
    [ "$2" != besteffort ] || resources="{}"
    printf -v digits '%012d' "$5"
    printf '%s\n' "apiVersion: v1" "kind: Pod" \
        "metadata: {name: $1, namespace: peers, uid: 00000000-0000-4000-8000-$digits}" \
        "spec:" "  priority: $4" "  containers:" "  - {name: main, image: none, resources: $resources}" > "$manifests/$1.yaml"
}

pod() { # pod NAME QOS REQUEST PRIORITY NUMBER vm_load's words...
    local name=$1 qos=$2 request=$3 priority=$4 number=$5
    shift 5
    place "$qos" "$number"
    oom_score_adj "$qos" "$request"
    manifest "$name" "$qos" "$request" "$priority" "$number"
    echo "$cgroup $((request * mib)) $priority" >> "$table"
    scopes[$name]=$scope
    (echo "$adj" > /proc/self/oom_score_adj; exec vm_load "$@" --in "$scope") >> "$loads/$name.log" 2>&1 < "$loads/go" &
    disown # bash would announce each death
}

ready() { # ready COUNT: returns when so many hold what they should
    local tries=0
    until [ "$(cat "$loads"/*.log | grep -c ready)" -ge "$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "pods do not come up" >&2; cat "$loads"/*.log >&2; return 1; }
        sleep 0.1
    done
}

# In 4K pages, as without huge pages or after many small allocations: a process takes long to return those.
huge_pages=/sys/kernel/mm/transparent_hugepage/enabled

declare -A scopes
make_pods() { # make_pods CASE -> scopes, hog_cgroup, hog_processes; returns when all hold what they should
    local name qos request priority held number=0 rate processes set=speed
    case $1 in culprit | busy) set=$1 ;; esac
    # A cgroup keeps its pressure averages: a new one, or a contender that goes by them acts on the run before.
    systemctl start kubepods.slice || return 1
    rm -rf "$loads"
    mkdir -p "$loads" "$manifests"
    mkfifo "$loads/go"
    exec {go_end}<> "$loads/go" # held open: nobody gets an end of file
    scopes=()
    read -r name qos request priority rate processes held <<< "$(hog_of "$1")"
    hog_processes=$processes
    [ "$held" = 0 ] || echo never > "$huge_pages"
    pod "$name" "$qos" "$request" "$priority" 99 grow "$rate" "$processes" --hold "$held" --after -
    hog_cgroup=$cgroup
    if [ "$held" != 0 ]; then
        ready 1 || return 1
        echo always > "$huge_pages"
    fi
    while read -r name qos request priority held; do
        number=$((number + 1))
        pod "$name" "$qos" "$request" "$priority" "$number" hold "$held"
    done < <("pods_of_$set")
    ready $((number + 1))
}

# The CPUs become busy: an endless loop each in two pods, while the growing pod has the least weight there is. The weights are
# the kubelet's: of 2 CPUs for all pods, 500m for each of the two, none for BestEffort pods and those that request memory only.
cpu_enabled="" # yes: by work(), and the next run begins without it
work() {
    local name directory
    grep -qw cpu "$root/cgroup.subtree_control" || cpu_enabled=yes
    for directory in "$root" "$slice" "$slice/kubepods-besteffort.slice" "$slice/kubepods-burstable.slice"; do
        echo +cpu > "$directory/cgroup.subtree_control" || return 1
    done
    weigh "$slice" 2000
    weigh "$slice/kubepods-besteffort.slice" 0
    weigh "$slice/kubepods-burstable.slice" 0
    weigh "$hog_cgroup" 0
    for name in "${!scopes[@]}"; do
        case $name in
            web-*) weigh "${scopes[$name]%/*}" 100 ;;
            db-*)
                weigh "${scopes[$name]%/*}" 500
                (printf vm_load > /proc/self/comm; echo -997 > /proc/self/oom_score_adj
                    echo 0 > "${scopes[$name]}/cgroup.procs"; while :; do :; done) &
                disown
                ;;
        esac
    done
}

# kubelet and runc: shares of a request, then the weight of the shares.
weigh() { # weigh CGROUP MILLI-CPU
    local shares=$(($2 * 1024 / 1000))
    [ "$shares" -ge 2 ] || shares=2
    echo $((1 + (shares - 2) * 9999 / 262142)) > "$1/cpu.weight"
}

who_is_who() { # a line a process: "pid PID POD"
    local name pids pid
    for name in "${!scopes[@]}"; do
        mapfile -t pids < "${scopes[$name]}/cgroup.procs"
        for pid in "${pids[@]}"; do echo "pid $pid $name"; done
    done
}

end_pods() { # whoever is left goes, and so do their cgroups
    local tries=0 directories i
    [ -d "$slice" ] || return 0
    echo 1 > "$slice/cgroup.kill"
    until grep -q 'populated 0' "$slice/cgroup.events"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "pods do not end" >&2; return 1; }
        sleep 0.05
    done
    mapfile -t directories < <(find "$slice" -mindepth 1 -depth -type d)
    for ((i = 0; i < ${#directories[@]}; i += 50)); do rmdir "${directories[@]:i:50}"; done
    systemctl stop kubepods.slice
    [ -z "$cpu_enabled" ] || echo -cpu > "$root/cgroup.subtree_control"
    cpu_enabled=
    [ -z "${go_end:-}" ] || exec {go_end}>&-
    go_end=
}
