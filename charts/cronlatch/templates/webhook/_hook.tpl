{{- /* SPDX-License-Identifier: Apache-2.0
Common fields of both webhooks. */ -}}

{{- /* Of webhook and policies: the value, and the namespaces that the operator serves. Empty: all namespaces. */ -}}
{{- define "cronlatch.namespaceSelector" -}}
{{- $selector := deepCopy (.Values.webhook.namespaceSelector | default dict) -}}
{{- with .Values.namespaces -}}
{{- $served := dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" . -}}
{{- $_ := set $selector "matchExpressions" (append ($selector.matchExpressions | default list) $served) -}}
{{- end -}}
{{- with $selector }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "cronlatch.hook" -}}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
# Other webhooks may rewrite images afterwards. This webhook is idempotent.
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.webhook.timeoutSeconds }}
{{- with include "cronlatch.namespaceSelector" . }}
namespaceSelector:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* caBundle is written at run time: by the leader in mode `own`, by cert-manager's injector in mode `cert-manager`. A template
that generates a certificate would change it at each rendering. */ -}}
{{- define "cronlatch.caBundle" -}}
{{- if and (eq .Values.certificates.mode "existing") .Values.certificates.caBundle -}}
caBundle: {{ .Values.certificates.caBundle | b64enc }}
{{- end -}}
{{- end -}}

{{- define "cronlatch.certificateSecret" -}}
{{- if eq .Values.certificates.mode "existing" -}}
{{- required "certificates.existingSecret: name the Secret that holds tls.crt and tls.key (or choose another certificates.mode)" .Values.certificates.existingSecret -}}
{{- else -}}
{{- include "cronlatch.fullname" . }}-webhook-cert
{{- end -}}
{{- end -}}

{{- /* Source of a projected volume with the CA certificates of the API servers' client certificates; empty when none are set. */ -}}
{{- define "cronlatch.clientCA" -}}
{{- with .Values.webhook.clientCA -}}
{{- if and .secretName .configMapName -}}
{{- fail "webhook.clientCA: name a Secret or a ConfigMap, not both" -}}
{{- else if .secretName -}}
secret: {name: {{ .secretName | toYaml }}, items: [{key: {{ .key | toYaml }}, path: client-ca/ca.crt}]}
{{- else if .configMapName -}}
configMap: {name: {{ .configMapName | toYaml }}, items: [{key: {{ .key | toYaml }}, path: client-ca/ca.crt}]}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.policyScope" -}}
matchPolicy: Equivalent
{{- with include "cronlatch.namespaceSelector" . }}
namespaceSelector:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}
