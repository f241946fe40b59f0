{{- /* SPDX-License-Identifier: Apache-2.0
NOTES.txt: the next steps after an install, and warnings about dangerous values. */ -}}

{{- define "cronlatch.notes" -}}
{{- $v := .Values -}}
{{- $fullname := include "cronlatch.fullname" . -}}
{{- if include "cronlatch.hasOperator" . -}}
cronlatch {{ .Chart.AppVersion }} is installed in namespace {{ .Release.Namespace }}.

{{ if include "cronlatch.hasRedis" . -}}
1. The store is one Redis, {{ $fullname }}-redis. It has no failover: while its pod is replaced, no run starts, and running
   commands continue for their outage tolerance (docs/redis.md). The operator writes the Secret {{ $v.store.secretName }} into:

     {{ prepend (include "cronlatch.redisNamespaces" . | fromJsonArray) .Release.Namespace | join ", " }}{{ with $v.redis.namespaceLabels }}, and namespaces with the labels {{ toJson . }}{{ end }}

   Add a namespace with redis.namespaces or redis.namespaceLabels.
{{- else -}}
1. Create the Secret with the store's credentials in each namespace with gated CronJobs{{ if $v.copier.source }} (copied to: {{ join ", " $v.copier.namespaces }}){{ end }}:

     kubectl -n NAMESPACE create secret generic {{ $v.store.secretName }} \
       --from-literal=username=... --from-literal=password=... --from-file=ca.crt
{{- end }}
{{- if hasPrefix "postgres:" $v.store.url }}

   Create the schema, once, as the owner of the database (docs/postgres.md):

     cronlatch store init --tls-ca ca.crt --store '{{ regexReplaceAll "^postgres://([^@/]*@)?" $v.store.url "postgres://OWNER@" }}'
{{- end }}

2. Gate a CronJob:

     kubectl -n NAMESPACE annotate cronjob NAME cronlatch.dev/lock=true

3. Test the installation:

     kubectl -n {{ .Release.Namespace }} rollout status deployment/{{ $fullname }}-operator
{{- if include "cronlatch.hasTest" . }}
     helm -n {{ .Release.Namespace }} test {{ .Release.Name }}
{{- if $v.webhook.namespaceSelector }}

   The test fails if webhook.namespaceSelector does not select namespace {{ .Release.Namespace }}: its container does not start, because
   /cronlatch-bin/cronlatch exists in gated pods only.
{{- end }}
{{- end }}

{{- if and $v.webhook.enabled (not $v.networkPolicy.enabled) (not (include "cronlatch.clientCA" .)) }}

   Each client that reaches port {{ int $v.ports.admission }} of the operator can send admission reviews, and read ENTRYPOINTs of images with them.
   To admit only API servers, set networkPolicy or webhook.clientCA (docs/admission.md#who-can-request-a-lookup).
{{- end }}

4. Monitor it:
{{ if $v.dashboards.enabled }}
     dashboards "Cronlatch / Overview" and "Cronlatch / Operator"{{ with $v.dashboards.folder }}, folder {{ . }}{{ end }}
{{- else }}
     set serviceMonitor.enabled, prometheusRule.enabled and dashboards.enabled: docs/dashboards.md
{{- end }}
{{- if eq $v.metrics.auth "token" }}

   Prometheus needs the ClusterRole {{ $fullname }}-metrics-reader{{ if $v.metrics.readers }} (metrics.readers){{ else }}: set metrics.readers, or

     kubectl create clusterrolebinding prometheus-{{ $fullname }} --clusterrole={{ $fullname }}-metrics-reader --serviceaccount=NAMESPACE:NAME
{{- end }}
{{- end }}
{{- if $v.policies.enabled }}

5. Before an uninstall, list the CronJobs that still request a lock:

     kubectl cronlatch uninstall-check

   `helm uninstall` keeps the policies {{ $fullname }}-mirrored-cronjobs and {{ $fullname }}-gated-jobs: Jobs of those CronJobs are refused
   and do not run without a lock. An install with the same release name and namespace adopts the policies.
   `kubectl cronlatch uninstall-check --remove` deletes them.
{{- end }}
{{- with include "cronlatch.selectNotes" . }}

{{ ternary "6" "5" $v.policies.enabled }}. CronJobs that `select` selects:
{{ . }}
{{- end }}
{{- else -}}
cronlatch {{ .Chart.AppVersion }}: {{ len $v.cronJobs }} gated CronJobs, no operator and no webhook. Annotations have no effect in this cluster.

Each namespace needs the Secret {{ $v.store.secretName }} (username, password, ca.crt, tls.crt, tls.key; each optional).
{{- end }}
{{- $hazards := include "cronlatch.hazards" . }}
{{- if $hazards }}

Warnings:
{{ $hazards }}
{{- end }}

All annotations and their effects: docs/kubernetes.md
{{- end -}}

{{- /* What the policies refuse for CronJobs that `select` selects, when their action is Deny. */ -}}
{{- define "cronlatch.selectNotes" -}}
{{- $byName := list -}}
{{- $byLabels := list -}}
{{- range $i, $rule := .Values.select -}}
{{- if ne (toString $rule.annotations.lock) "false" -}}
{{- if $rule.labels -}}
{{- $byLabels = append $byLabels (printf "select[%d]" $i) -}}
{{- else -}}
{{- $byName = append $byName (printf "select[%d]" $i) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.policies.enabled (has "Deny" .Values.policies.validationActions) -}}
{{- with $byName }}
     by namespace and name ({{ join ", " . }}): the API server refuses such a CronJob while its Job template lacks the
     rule's annotations. It refuses each of its Jobs that is not gated, also while no operator answers
{{- end }}
{{- with $byLabels }}
     by labels ({{ join ", " . }}): the API server refuses a new or changed CronJob while its Job template lacks the
     rule's annotations. A Job does not have the labels of its CronJob: Jobs of a CronJob that existed before the rule
     run ungated until the operator has annotated it (Event Mirrored; cronlatch_gated_cronjobs{state="pending"} is 0)
{{- end }}
{{- end -}}
{{- end -}}
