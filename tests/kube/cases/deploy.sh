#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What an operator applies: the manifests of deploy/ are valid for a real API server, the chart is the kustomize base, and the
# service account may do what deploy/docs/install.md lists and nothing else.
# needs: api
# in turns
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../manifests.sh
. "$(dirname "$0")/../manifests.sh"
account=system:serviceaccount:evictd:evictd
unknown_kinds="ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding PodMonitor PrometheusRule"

kubectl apply -f "$top/deploy/kustomize/base/namespace.yaml" > /dev/null
documents_of only Namespace < "$top/deploy/kustomize/cleanup/rbac.yaml" | kubectl apply -f - > /dev/null
accepted() { # accepted: the manifests on stdin; a server-side dry run
    documents_of but "$unknown_kinds" > "$work/manifest.yaml"
    # kubectl 1.20 refuses a field of newer servers, which the server itself ignores.
    sed -i '/appArmorProfile:$/,/type: Unconfined$/d' "$work/manifest.yaml"
    kubectl apply --dry-run=server -f "$work/manifest.yaml" > "$work/out" 2> "$work/err" && [ ! -s "$work/err" ]
}
renders() { manifests "$1" > "$work/$2.yaml" && [ -s "$work/$2.yaml" ] && ! grep -qx '{}' "$work/$2.yaml"; }
for directory in base overlays/{confined,privileged,conditions-only,dry-run,monitoring,older-kubelet,removals,pods-api,disks,orphans} cleanup; do
    file=${directory#overlays/}
    check "$directory renders" renders "$directory" "$file"
    check "the server accepts $directory" accepted < "$work/$file.yaml"
done
for kind in $unknown_kinds; do skip "the server accepts $kind" "Kubernetes 1.20 does not have it"; done

refused() { # the dry run does look
    sed 's/maxUnavailable: 10%/maxUnavailable: ten/' "$work/base.yaml" > "$work/wrong.yaml"
    ! accepted < "$work/wrong.yaml"
}
check "and refuses a wrong one" refused

# ---- the admission policy: an account that it does not match, or a binding that names no policy, confines nothing

confines() { # confines: the manifests on stdin; each account of theirs is matched, and each policy is bound
    local account policies pattern
    cat > "$work/confines.yaml"
    documents_of only ValidatingAdmissionPolicy < "$work/confines.yaml" > "$work/policies"
    policies=$(grep -c '^kind: ' "$work/policies")
    [ "$policies" -gt 0 ] && [ "$(grep -c 'username\.matches' "$work/policies")" -eq "$policies" ] || return 1
    diff <(names_of ValidatingAdmissionPolicy) <(sed -n 's/^  policyName: //p' "$work/confines.yaml") || return 1
    account=system:serviceaccount$(documents_of only ServiceAccount < "$work/confines.yaml" | sed -n 's/^  namespace: /:/p')$(names_of ServiceAccount | sed 's/^/:/')
    while read -r pattern; do
        echo "$account" | grep -qE "$pattern" || { echo "    $account is not matched by $pattern"; return 1; }
        for other in system:serviceaccount:evictd-cleanup:cleanup system:node:n1 system:serviceaccount:x:evictdx admin; do
            ! echo "$other" | grep -qE "$pattern" || { echo "    $other is matched"; return 1; }
        done
    done < <(sed -nE "s/.*username\.matches\('([^']*)'\).*/\1/p" "$work/policies")
}
names_of() { documents_of only "$1" < "$work/confines.yaml" | sed -n '/^metadata:/,/^[a-z]/s/^  name: //p'; }
check "overlays/confined matches its own account" confines < "$work/confined.yaml"
overlay() { # overlay LINE...: a kustomization of its own on overlays/confined
    mkdir -p "$work/kustomize/own"
    printf '%s\n' "bases: [../overlays/confined]" "$@" > "$work/kustomize/own/kustomization.yaml"
    manifests own > "$work/own.yaml" && [ -s "$work/own.yaml" ]
}
renamed() { overlay "namespace: node-agents" && ! grep -q 'namespace: evictd$' "$work/own.yaml" && confines < "$work/own.yaml"; }
check "and follows another namespace" renamed
prefixed() { overlay "namePrefix: prod-" "nameSuffix: -eu" && grep -q 'name: prod-evictd-eu$' "$work/own.yaml" && confines < "$work/own.yaml"; }
check "and another name" prefixed

# ---- the chart

chart_renders() { chart > "$work/chart.yaml"; }
check "the chart renders" chart_renders
check "the server accepts it" accepted < "$work/chart.yaml"
documents_of but Namespace < "$work/base.yaml" > "$work/base-without.yaml" # which "helm install --create-namespace" makes
check "with default values it equals the kustomize base" chart -equals "$work/base-without.yaml"
# The chart knows its account; an overlay of an overlay may still change name and namespace.
documents_of but Namespace < "$work/confined.yaml" | sed 's/:\[^:\]+:(\.+-)?evictd(-\.+)?\$/:evictd:evictd$/' > "$work/confined-without.yaml"
newer=(-kube v1.31.0 -api admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy)
check "on a newer server it equals overlays/confined" chart "${newer[@]}" -equals "$work/confined-without.yaml"
chart_confines() { chart "${newer[@]}" "$@" > "$work/confined-chart.yaml" && confines < "$work/confined-chart.yaml"; }
check "and confines its account" chart_confines
check "and that of a release of another name" chart_confines -release node-agent -namespace other
evaluated() { # with a CEL library, which the rig does not install
    chart "${newer[@]}" -json ValidatingAdmissionPolicy/evictd-own-node > "$work/policy.json" && node "$kube/policy.mjs" "$work/policy.json" "$cel"
}
cel=${EVICTD_CEL:-$(dirname "$cache")/cel}/node_modules
if [ -d "$cel/@marcbachmann/cel-js" ] && command -v node > /dev/null; then
    check "it accepts what evictd sends, and refuses everything else that its rights allow" evaluated
else
    skip "it accepts what evictd sends, and refuses everything else" "no node or no @marcbachmann/cel-js"
fi
with() { # with VALUES FLAG...: the chart with these values
    echo "$1" > "$work/values.yaml"
    chart -values "$work/values.yaml" "${@:2}" 2> "$work/err"
}
documents_of but Namespace < "$work/privileged.yaml" > "$work/privileged-without.yaml"
check "privileged equals overlays/privileged" with "privileged: true" -equals "$work/privileged-without.yaml"
documents_of but Namespace < "$work/pods-api.yaml" > "$work/pods-api-without.yaml"
check "podsAPI equals overlays/pods-api" with "podsAPI: true" -equals "$work/pods-api-without.yaml"
# kubectl 1.20 adds empty annotations where a generator merges.
documents_of but Namespace < "$work/disks.yaml" | sed '/^  annotations: {}$/d' > "$work/disks-without.yaml"
check "disks equals overlays/disks" with "disks: true" -equals "$work/disks-without.yaml"
documents_of but Namespace < "$work/orphans.yaml" | sed '/^  annotations: {}$/d' > "$work/orphans-without.yaml"
check "orphans equals overlays/orphans" with $'disks: true\norphans: true' -equals "$work/orphans-without.yaml"
check "and without disks it changes nothing" with "orphans: true" -equals "$work/base-without.yaml"
only_reported() {
    with $'disks: true\norphans: true\nconfig: {evictd: {gc: {orphans: report}}}' > "$work/reported.yaml" &&
        grep -q 'orphans: report$' "$work/reported.yaml" && ! grep -q 'orphans: remove$' "$work/reported.yaml"
}
check "and they are only reported where the configuration says so" only_reported
elsewhere() {
    with $'disks: true\nhostPaths: {kubelet: /data/kubelet}' > "$work/elsewhere.yaml" &&
        grep -q 'rootDirectory: /data/kubelet$' "$work/elsewhere.yaml" && ! grep -q rootDirectory "$work/disks.yaml"
}
check "disks of a kubelet with another root directory are measured there" elsewhere
differs() { ! with "dryRun: true" -equals "$work/base-without.yaml"; }
check "and what differs is noticed" differs
for values in "dryRun: true" "metrics: {enabled: true, podMonitor: true}" "taints: false" "olderKubelet: true" "removals: true"; do
    varied() { with "$values" > "$work/varied.yaml" && accepted < "$work/varied.yaml"; }
    check "the server accepts it with $values" varied
done
for values in "dryRun: maybe" "unknown: 1" "capabilities: [CAP_BPF]" "hostPaths: {run: run}" "metrics: {port: 70000}"; do
    refuses() { ! with "$values" > "$work/out" && complains '^chart: values: '; }
    check "its schema refuses $values" refuses
done

# ---- configurations, versions, metrics

version=$("$EVICTD" --version | cut -d ' ' -f 2)
for file in "$top"/deploy/kustomize/base/config.yaml "$top"/deploy/kustomize/overlays/*/config.yaml; do
    check "evictd accepts ${file#"$top"/deploy/kustomize/}" run 0 check "$file"
done
chart_config() { chart | sed -n '/^  config.yaml: |/,/^---/{s/^    //p}' > "$work/chart-config.yaml" && run 0 check "$work/chart-config.yaml"; }
check "and the chart's" chart_config
versions() { [ "$(cat "$work/base.yaml" "$work/chart.yaml" "$work/cleanup.yaml" | grep -oE 'image: .*' | sort -u)" = "image: localhost/evictd:$version" ]; }
check "images have the program's version" versions
metrics() {
    local name
    while read -r name; do
        grep -q "$name" "$EVICTD" || { echo "    evictd has no metric $name"; return 1; }
    done < <(grep -oE 'evictd_[a-z_]+' "$top/deploy/kustomize/overlays/monitoring/alerts.yaml" | sort -u)
}
check "alerts are about metrics that there are" metrics

# ---- rights

grant() { # grant OVERLAY: the rights of its manifests
    documents_of only ClusterRole ClusterRoleBinding ServiceAccount < "$work/$1.yaml" > "$work/rights.yaml"
    kubectl apply -f "$work/rights.yaml" > /dev/null
}
grant older-kubelet
rights_of() { # rights_of USER: a line "RESOURCE VERB" each, but what every user may
    kubectl auth can-i --list --as="$1" 2> /dev/null |
        awk 'NR > 1 && $1 !~ /^\[|^selfsubject/ { split($0, part, "["); n = split(part[4], verbs, /[] ]+/);
            for (i = 1; i <= n; i++) if (verbs[i] != "") print $1, verbs[i] }' | sort -u
}
documented() { # of the table in install.md, but what an overlay adds
    awk -F '|' '/^## / { inside = $0 == "## Rights" } inside && $2 ~ /`/ && $4 !~ /^ only with/ { gsub(/[` ]/, "", $2); gsub(/ /, "", $3);
        n = split($3, verbs, ","); for (i = 1; i <= n; i++) print $2, verbs[i] }' "$top/deploy/docs/install.md" | sort -u
}
older="nodes/proxy get"
exactly() {
    documented > "$work/documented"
    rights_of "$account" | grep -vxF "$older" > "$work/out"
    [ "$(wc -l < "$work/documented")" -ge 10 ] && diff "$work/documented" "$work/out" | sed 's/^/    /' && cmp -s "$work/documented" "$work/out"
}
check "the service account has the rights that install.md lists, and no other" exactly
can_i() { [ "$(kubectl auth can-i "${@:2}" --as="$account" 2> /dev/null)" = "$1" ]; } # can_i yes|no VERB RESOURCE...
check "it may patch a pod's status in any namespace" can_i yes patch pods --subresource=status -n kube-system
check "with older-kubelet it may ask any kubelet" can_i yes get nodes --subresource=proxy
denied() {
    local right
    while read -r right; do
        # shellcheck disable=SC2086  # words are wanted
        can_i no $right || { echo "    it may $right"; return 1; }
    done << 'END'
delete pods
create pods
patch pods
create pods --subresource=exec
get secrets -A
get configmaps -n evictd
list nodes
delete nodes
create nodes --subresource=proxy
update daemonsets.apps -n evictd
create serviceaccounts --subresource=token -n evictd
impersonate users
patch clusterroles
END
}
check "it may not do what would make it more" denied
removals() { # with it and nothing else; gone after it
    grant removals && can_i yes delete pods -n kube-system && can_i no delete nodes
    local status=$?
    kubectl delete clusterrole,clusterrolebinding evictd-removals > /dev/null
    return "$status"
}
check "with removals it may delete pods" removals
without() { grant "$1" && can_i no "${@:2}"; } # without OVERLAY VERB RESOURCE...: the right is gone
check "conditions-only takes the right to taint" without conditions-only patch nodes
check "dry-run takes the right to evict" without dry-run create pods --subresource=eviction
only_reads() { kubectl delete clusterrole evictd-older-kubelet > /dev/null && ! rights_of "$account" | grep -vE ' (get|list|watch)$'; }
check "and every other that changes something" only_reads
grant cleanup
of_cleanup() { # what a cleanup needs
    rights_of system:serviceaccount:evictd-cleanup:cleanup > "$work/out"
    [ "$(cat "$work/out")" = $'nodes get\nnodes list\nnodes patch\nnodes/status patch' ]
}
check "the cleanup's service account has what install.md lists, and no other right" of_cleanup
kubectl delete -f "$work/cleanup.yaml" > /dev/null 2>&1
grant older-kubelet
rest() { cmp -s <(rights_of evictd) <(rights_of "$account"); }
check "the rig's user evictd has the same rights" rest
exit "$failed"
