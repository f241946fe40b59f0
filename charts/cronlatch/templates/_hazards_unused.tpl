{{- /* SPDX-License-Identifier: Apache-2.0
Warnings about values that have no effect because of another value. */ -}}

{{- /* A JSON list. */ -}}
{{- define "cronlatch.unusedValues" -}}
{{- $v := .Values -}}
{{- $found := list -}}
{{- if and $v.copier.source (not $v.copier.namespaces) -}}
{{- $found = append $found "copier.source without copier.namespaces: the Secret is not copied" -}}
{{- else if and $v.copier.namespaces (not $v.copier.source) -}}
{{- $found = append $found "copier.namespaces without copier.source: no Secret is copied" -}}
{{- end -}}
{{- range list "existingSecret" "caBundle" -}}
{{- if and (get $v.certificates .) (ne $v.certificates.mode "existing") -}}
{{- $found = append $found (printf "certificates.%s has no effect with certificates.mode %s. Set the mode to existing, or remove it" . $v.certificates.mode) -}}
{{- end -}}
{{- end -}}
{{- if and $v.certificates.certManager.issuerRef (ne $v.certificates.mode "cert-manager") -}}
{{- $found = append $found (printf "certificates.certManager.issuerRef has no effect with certificates.mode %s. Set the mode to cert-manager, or remove it" $v.certificates.mode) -}}
{{- end -}}
{{- if not $v.networkPolicy.enabled -}}
{{- range list "apiServerCIDRs" "metricsFrom" "storeTo" "storePorts" "extraIngress" "extraEgress" -}}
{{- if get $v.networkPolicy . -}}{{- $found = append $found (printf "networkPolicy.%s has no effect without networkPolicy.enabled" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $v.entrypointLookup.enabled -}}
{{- range list "dockerConfigSecret" "pullSecretNamespaces" "caConfigMap" -}}
{{- if get $v.entrypointLookup . -}}{{- $found = append $found (printf "entrypointLookup.%s has no effect without entrypointLookup.enabled" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $v.namespaces -}}
{{- range $name, $listed := dict "clusterLockNamespaces" $v.clusterLockNamespaces "copier.namespaces" $v.copier.namespaces -}}
{{- range $listed -}}
{{- if not (has . $v.namespaces) -}}
{{- $found = append $found (printf "%s: %s is not in namespaces, so that the operator gates no Job there" $name .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq $v.metrics.auth "none") $v.metrics.readers -}}
{{- $found = append $found "metrics.readers has no effect with metrics.auth none" -}}
{{- end -}}
{{- if and (not (include "cronlatch.hasRedis" .)) (or $v.redis.namespaces $v.redis.namespaceLabels) -}}
{{- $found = append $found "redis.namespaces and redis.namespaceLabels have no effect without redis.enabled" -}}
{{- end -}}
{{- if hasKey $v "uninstall" -}}
{{- $found = append $found "uninstall.guard and uninstall.policy have no effect: an uninstall always keeps the policies. Remove them from your values" -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}
