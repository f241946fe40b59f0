{{- /* SPDX-License-Identifier: Apache-2.0
The operator's configuration file. Strings are quoted, because YAML reads a name like `on` or `0123` as another type.
*/ -}}

{{- define "cronlatch.settings" -}}
{{- include "cronlatch.checkStore" . -}}
{{- include "cronlatch.checkDefaults" . -}}
{{- include "cronlatch.checkValues" . -}}
{{- include "cronlatch.checkName" . -}}
{{- include "cronlatch.checkSelect" . -}}
{{- $v := .Values -}}
name: {{ include "cronlatch.fullname" . | quote }}
namespace: {{ .Release.Namespace | quote }}
admission-address: {{ printf "[::]:%d" (int $v.ports.admission) | quote }}
plain-address: {{ printf "[::]:%d" (int $v.ports.plain) | quote }}
{{- if include "cronlatch.metricsToken" . }}
metrics-auth: token
metrics-address: {{ printf "[::]:%d" (int $v.ports.metrics) | quote }}
{{- end }}
image: {{ include "cronlatch.injectedImage" . | quote }}
image-pull-policy: {{ $v.inject.pullPolicy | quote }}
injection: {{ include "cronlatch.injection" . }}
{{- with $v.inject.pullSecrets }}
image-pull-secrets: {{ toJson . }}
{{- end }}
{{- with $v.inject.resources }}
resources: {{ toJson . }}
{{- end }}
{{- with include "cronlatch.storeUrl" . }}
store: {{ . | quote }}
{{- end }}
store-secret: {{ $v.store.secretName | quote }}
{{- with $v.store.caConfigMap }}
store-ca-config-map: {{ . | quote }}
store-ca-key: {{ $v.store.caConfigMapKey | quote }}
{{- end }}
{{- with $v.namespaces }}
namespaces: {{ toJson . }}
{{- end }}
{{- with $v.clusterName }}
cluster-name: {{ . | quote }}
{{- end }}
{{- with include "cronlatch.defaults" . | fromYaml }}
defaults:
  {{- range $key, $value := . }}
  {{ $key }}: {{ kindIs "slice" $value | ternary (toJson $value) (toString $value) | quote }}
  {{- end }}
{{- end }}
{{- with $v.clusterLockNamespaces }}
cluster-lock-namespaces: {{ toJson . }}
{{- end }}
{{- with $v.imageIndex }}
image-index: {{ toJson . }}
{{- end }}
{{- with $v.entrypointLookup }}
lookup: {{ .enabled }}
{{- if .enabled }}
lookup-registries: {{ toJson .registries }}
lookup-timeout: {{ .timeout | quote }}
lookup-cache-size: {{ int .cacheSize }}
lookup-pin: {{ .pin }}
lookup-architectures: {{ toJson .architectures }}
{{- if .dockerConfigSecret }}
lookup-docker-config: /etc/cronlatch/registries/config.json
{{- end }}
{{- with .pullSecretNamespaces }}
lookup-pull-secret-namespaces: {{ toJson . }}
{{- end }}
{{- if .caConfigMap }}
lookup-ca-file: /etc/cronlatch/registries/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- with $v.select }}
select:
  {{- range . }}
  - namespace: {{ .namespace | quote }}
    {{- with .name }}
    name: {{ . | quote }}
    {{- end }}
    {{- with .labels }}
    labels: {{ toJson . }}
    {{- end }}
    annotations:
      {{- range $key, $value := .annotations }}
      {{ $key | quote }}: {{ $value | toString | quote }}
      {{- end }}
  {{- end }}
{{- end }}
certificate-mode: {{ eq $v.certificates.mode "own" | ternary "own" "files" }}
certificate-dir: /etc/cronlatch/tls
credentials-dir: /etc/cronlatch/store
{{- if include "cronlatch.clientCA" . }}
client-ca-file: /etc/cronlatch/client-ca/ca.crt
{{- end }}
patch-cronjobs: {{ $v.patchCronJobs }}
{{- with $v.copier.source }}
copy-secret-source: {{ . | quote }}
copy-secret-namespaces: {{ toJson $v.copier.namespaces }}
{{- end }}
{{- with $v.events.skip }}
events-skip: {{ toJson . }}
{{- end }}
events-per-second: {{ int $v.events.perSecond }}
{{- if $v.lockHistograms }}
lock-histograms: true
{{- end }}
{{- if include "cronlatch.hasRedis" . }}
store-server: true
store-server-namespaces: {{ include "cronlatch.redisNamespaces" . }}
store-server-namespace-labels: {{ toJson $v.redis.namespaceLabels }}
{{- end }}
log-format: {{ $v.logFormat | quote }}
log-level: {{ $v.logLevel | quote }}
{{- end -}}
