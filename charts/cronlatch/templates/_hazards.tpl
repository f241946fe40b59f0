{{- /* SPDX-License-Identifier: Apache-2.0
Warnings about dangerous values, one line each; NOTES.txt contains them. */ -}}

{{- define "cronlatch.hazards" -}}
{{- $v := .Values -}}
{{- $url := include "cronlatch.storeUrl" . -}}
{{- $found := list -}}
{{- if not $url -}}
{{- $found = append $found "store.url is empty: no run can acquire a lock. Set it to rediss://HOST:PORT or postgres://HOST/DATABASE, or set redis.enabled" -}}
{{- else -}}
{{- if regexMatch "^redis[:+]" $url -}}
{{- $found = append $found "store.url is not encrypted: passwords and locks can be read and changed in transit. Use rediss://" -}}
{{- end -}}
{{- if regexMatch "[?&]sslmode=disable" $url -}}
{{- $found = append $found "store.url has sslmode=disable and is not encrypted: locks can be read and changed in transit. Remove sslmode, and add ca.crt to the Secrets of the store" -}}
{{- end -}}
{{- if regexMatch "[?&]sslmode=require" $url -}}
{{- $found = append $found "store.url has sslmode=require: the store's certificate is not verified, so another server in the network path can impersonate the store. Remove sslmode, and add ca.crt to the Secrets of the store" -}}
{{- end -}}
{{- range $host := include "cronlatch.storeHosts" . | fromJsonArray -}}
{{- if and (contains "." $host) (regexMatch "[a-z]" $host) (not (hasSuffix "." $host)) (not (contains "[" $host)) -}}
{{- $found = append $found (printf "the store's host %q is not fully qualified: each start queries every search domain first. Write %q" $host (printf "%s." $host)) -}}
{{- end -}}
{{- if not (contains "." $host) -}}
{{- if not (contains "[" $host) -}}
{{- $found = append $found (printf "the store's host %q has no dot: gated pods of other namespaces cannot resolve it. Write SERVICE.NAMESPACE.svc.CLUSTER-DOMAIN." $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found = concat $found (include "cronlatch.optionHazards" . | fromJsonArray) -}}
{{- $mounts := or (eq $v.injection "image-volume") (and (include "cronlatch.hasOperator" .) (eq (include "cronlatch.injection" .) "auto")) -}}
{{- if and $mounts (not (contains "@" (include "cronlatch.injectedImage" .))) -}}
{{- $found = append $found (printf "injection %s with an image that has no digest: gated pods mount what the tag of %s names when their node pulls it. Set image.digest, or inject.image with a digest" $v.injection (include "cronlatch.injectedImage" .)) -}}
{{- end -}}
{{- if include "cronlatch.hasOperator" . -}}
{{- if eq (int (include "cronlatch.replicas" .)) 0 -}}
{{- $found = append $found "replicaCount is 0: no operator runs, and annotated Jobs that need it are refused; other Jobs run. Set 2 or more" -}}
{{- else if lt (int (include "cronlatch.replicas" .)) 2 -}}
{{- $found = append $found "one replica: annotated Jobs that need the operator are refused while its pod is replaced; other Jobs run. Set replicaCount to 2 or more" -}}
{{- end -}}
{{- if $v.hostNetwork -}}
{{- $found = append $found (printf "hostNetwork: ports %d and %d%s must be free on every node, NetworkPolicies do not apply, and the namespace cannot enforce Pod Security above privileged" (int $v.ports.admission) (int $v.ports.plain) (eq $v.metrics.auth "token" | ternary (printf " and %d" (int $v.ports.metrics)) "")) -}}
{{- end -}}
{{- /* https://kep.k8s.io/5607 */ -}}
{{- if and $v.hostNetwork (eq (toString $v.hostUsers) "false") -}}
{{- $found = append $found "hostUsers false with hostNetwork: the API server refuses the operator's pods, except with Kubernetes 1.35 or newer and the feature gate UserNamespacesHostNetworkSupport. Remove one of the two" -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.apiServerCIDRs) -}}
{{- $found = append $found "networkPolicy without apiServerCIDRs: each pod of the cluster can connect to the port of the webhook. docs/operations.md describes how to find the addresses" -}}
{{- end -}}
{{- if not $v.policies.enabled -}}
{{- $found = append $found (printf "policies are disabled: a Job that bypasses the webhook runs ungated, and is reported only afterwards (Event AdmissionBypassed). Policies of an earlier revision are kept. To delete them: kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l app.kubernetes.io/instance=%s" .Release.Name) -}}
{{- else if not (has "Deny" $v.policies.validationActions) -}}
{{- $found = append $found "policies.validationActions has no Deny: a Job that violates a policy runs ungated" -}}
{{- end -}}
{{- if and $v.select (not (and $v.policies.enabled (has "Deny" $v.policies.validationActions))) -}}
{{- $found = append $found "select without policies that deny: while no operator answers, a selected CronJob is admitted unchanged and its Jobs run ungated" -}}
{{- end -}}
{{- if and $v.select (not $v.patchCronJobs) -}}
{{- $found = append $found "select with patchCronJobs false: a CronJob that existed before its rule is not annotated until it is applied again. Until then its Jobs are refused if the rule has no labels, and run ungated if the rule has labels" -}}
{{- end -}}
{{- if not $v.webhook.enabled -}}
{{- $found = append $found (eq $v.admission.mode "policy" | ternary "no webhook: annotated Jobs that the API server does not gate are refused" "no webhook: Jobs are not rewritten, and annotated Jobs are refused") -}}
{{- end -}}
{{- if $v.namespaces -}}
{{- $found = append $found "namespaces: annotations in other namespaces have no effect, and this is not reported" -}}
{{- end -}}
{{- if $v.webhook.namespaceSelector -}}
{{- $found = append $found "webhook.namespaceSelector: annotations in other namespaces have no effect, and this is not reported" -}}
{{- end -}}
{{- if and (eq $v.certificates.mode "existing") (not $v.certificates.caBundle) -}}
{{- $found = append $found (printf "certificates.caBundle is empty: annotated Jobs are refused until you write it into MutatingWebhookConfiguration %s" (include "cronlatch.fullname" .)) -}}
{{- end -}}
{{- if include "cronlatch.clientCA" . -}}
{{- $found = append $found "webhook.clientCA: an API server whose AdmissionConfiguration names no client certificate for webhooks gets no response, and annotated Jobs are refused" -}}
{{- end -}}
{{- /* src/operator/endpoints.h: an admission waits up to 3 s for a lookup, and then answers. */ -}}
{{- if and $v.webhook.enabled $v.entrypointLookup.enabled (lt (int $v.webhook.timeoutSeconds) 4) -}}
{{- $found = append $found "webhook.timeoutSeconds below 4: an admission waits up to 3 s for the lookup of an image, and the API server can refuse the Job before. Set 4 or more, or entrypointLookup.enabled to false" -}}
{{- end -}}
{{- if and $v.webhook.enabled (gt (int $v.webhook.timeoutSeconds) 10) -}}
{{- $found = append $found "webhook.timeoutSeconds above 10: an operator that does not respond delays the creation of annotated Jobs" -}}
{{- end -}}
{{- range tuple "serviceMonitor" "podMonitor" "prometheusRule" -}}
{{- $m := index $v . -}}
{{- if and $m.enabled (eq $m.renderMode "skipIfMissing") (not ($.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
{{- $found = append $found (printf "%s.enabled, but this cluster has no monitoring.coreos.com/v1: not rendered" .) -}}
{{- end -}}
{{- end -}}
{{- if and $v.dashboards.enabled (not $v.prometheusRule.enabled) -}}
{{- $found = append $found "dashboards without prometheusRule: counts within a day have no data unless Prometheus loads charts/cronlatch/rules/recording.yaml" -}}
{{- end -}}
{{- if and $v.prometheusRule.enabled (not (or $v.serviceMonitor.enabled $v.podMonitor.enabled)) -}}
{{- $found = append $found "prometheusRule without serviceMonitor or podMonitor: CronlatchDown fires unless Prometheus discovers the pods by other means" -}}
{{- end -}}
{{- if include "cronlatch.hasRedis" . -}}
{{- if not $v.redis.persistence.enabled -}}
{{- $found = append $found "redis.persistence.enabled is false: when the pod of Redis is replaced, all locks are lost, and two runs of one lock are possible. Enable it" -}}
{{- end -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled $v.podMonitor.enabled -}}
{{- $found = append $found "serviceMonitor and podMonitor are both enabled: Prometheus scrapes each pod twice, and sums of counters are doubled. Disable one of them" -}}
{{- end -}}
{{- $found = concat $found (include "cronlatch.unusedValues" . | fromJsonArray) -}}
{{- end -}}
{{- range $found }}
  * {{ . }}
{{- end -}}
{{- end -}}
