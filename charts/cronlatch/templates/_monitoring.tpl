{{- /* SPDX-License-Identifier: Apache-2.0
Objects of other projects are rendered if the cluster has their kind, or according to renderMode. */ -}}

{{- /* TLS of a monitor with metrics.auth token. The targets are pods: the name is that of the webhook's certificate. dict: root,
key, monitor (the values) */ -}}
{{- define "cronlatch.monitorTls" -}}
{{- $root := .root -}}
{{- $mode := $root.Values.certificates.mode -}}
{{- $fullname := include "cronlatch.fullname" $root -}}
{{- if .monitor.tlsConfig -}}
{{- toYaml .monitor.tlsConfig -}}
{{- else -}}
{{- if eq $mode "existing" -}}
{{- fail (printf "%s with metrics.auth token and certificates.mode existing: set %s.tlsConfig, with the CA and the serverName" .key .key) -}}
{{- end -}}
{{- if not (has .monitor.namespace (list "" $root.Release.Namespace)) -}}
{{- fail (printf "%s.namespace with metrics.auth token: the CA is in a Secret of namespace %s. Remove %s.namespace, or set %s.tlsConfig" .key $root.Release.Namespace .key .key) -}}
{{- end -}}
serverName: {{ $fullname }}-webhook.{{ $root.Release.Namespace }}.svc
ca:
  secret: {name: {{ $fullname }}-webhook-{{ eq $mode "own" | ternary "tls" "cert" }}, key: ca.crt}
{{- end -}}
{{- end -}}

{{- /* dict: root, key (of the values), kind, group; optional of (the values, if they are nested deeper). Returns "yes"
or "". */ -}}
{{- define "cronlatch.renders" -}}
{{- $m := .of | default (index .root.Values .key) -}}
{{- $known := .root.Capabilities.APIVersions.Has (printf "%s/%s" .group .kind) -}}
{{- if $m.enabled -}}
{{- if and (not $known) (eq $m.renderMode "failIfMissing") -}}
{{- fail (printf "%s.enabled: this cluster has no %s (%s). Install its project's CRDs, or set %s.renderMode" .key .kind .group .key) -}}
{{- end -}}
{{- if or $known (eq $m.renderMode "alwaysRender") -}}yes{{- end -}}
{{- end -}}
{{- end -}}
