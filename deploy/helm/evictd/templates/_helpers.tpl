{{- /*
SPDX-License-Identifier: Apache-2.0
Copyright The evictd authors
Shared by the templates. Not the reasons for what they contain: those are in deploy/kustomize/base.
*/ -}}
{{- define "evictd.labels" -}}
app.kubernetes.io/name: evictd
{{- end }}

{{- define "evictd.subject" -}}
- {kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
{{- end }}

{{- define "evictd.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $own := default dict (get $config "evictd") -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $own "httpAddress" (printf "0.0.0.0:%d" (int .Values.metrics.port)) -}}
{{- end -}}
{{- if .Values.disks -}}
{{- $_ := set $own "disks" true -}}
{{- $kubelet := default dict (get $own "kubelet") -}}
{{- if and (ne .Values.hostPaths.kubelet "/var/lib/kubelet") (not (hasKey $kubelet "rootDirectory")) -}}
{{- $_ := set $own "kubelet" (set $kubelet "rootDirectory" .Values.hostPaths.kubelet) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.disks .Values.orphans -}}
{{- $gc := default dict (get $own "gc") -}}
{{- if not (hasKey $gc "orphans") -}}
{{- $_ := set $own "gc" (set $gc "orphans" "remove") -}}
{{- end -}}
{{- end -}}
{{- if not (or .Values.taints (hasKey $own "nodeStatus")) -}}
{{- $_ := set $own "nodeStatus" "conditions" -}}
{{- end -}}
{{- $_ := set $config "evictd" $own -}}
{{- toYaml $config -}}
{{- end }}

{{- define "evictd.socket" -}}
{{- with get (default dict .Values.config.evictd) "socketPath" }}, --socket, {{ . | quote }}{{ end -}}
{{- end }}

{{- define "evictd.confined" -}}
{{- if or (eq .Values.confine "always") (and (eq .Values.confine "auto") (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy")) -}}
true
{{- end -}}
{{- end }}
