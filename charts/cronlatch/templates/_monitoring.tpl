{{- /* SPDX-License-Identifier: Apache-2.0
Objects of other projects are rendered if the cluster has their kind, or according to renderMode. */ -}}

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
