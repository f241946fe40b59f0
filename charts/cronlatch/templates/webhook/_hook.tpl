{{- /* SPDX-License-Identifier: Apache-2.0
What both hooks share. */ -}}

{{- define "cronlatch.hook" -}}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
# Other hooks may rewrite images after us; ours gives the same answer twice.
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.webhook.timeoutSeconds }}
{{- with .Values.webhook.namespaceSelector }}
namespaceSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* In mode `own` the leader writes caBundle at run time, and cert-manager's injector does in its mode: a template that made
one would change it at each rendering. */ -}}
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

{{- /* Where the authorities of the API servers' client certificates are, as a projected volume's source; nothing: nowhere. */ -}}
{{- define "cronlatch.clientCA" -}}
{{- with .Values.webhook.clientCA -}}
{{- if and .secretName .configMapName -}}
{{- fail "webhook.clientCA: name a Secret or a ConfigMap, not both" -}}
{{- else if .secretName -}}
secret: {name: {{ .secretName }}, items: [{key: {{ .key }}, path: client-ca/ca.crt}]}
{{- else if .configMapName -}}
configMap: {name: {{ .configMapName }}, items: [{key: {{ .key }}, path: client-ca/ca.crt}]}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.policyScope" -}}
matchPolicy: Equivalent
{{- with .Values.webhook.namespaceSelector }}
namespaceSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
