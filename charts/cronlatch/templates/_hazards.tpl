{{- /* SPDX-License-Identifier: Apache-2.0
What can be seen to be dangerous in the values, one line each; NOTES.txt shows them. */ -}}

{{- define "cronlatch.hazards" -}}
{{- $v := .Values -}}
{{- $url := $v.store.url -}}
{{- $host := include "cronlatch.storeHost" . -}}
{{- $found := list -}}
{{- if not $url -}}
{{- $found = append $found "store.url is empty: no run can take a lock. Set it to rediss://HOST:PORT" -}}
{{- else -}}
{{- if hasPrefix "redis:" $url -}}
{{- $found = append $found "store.url is not encrypted: passwords and locks can be read and changed on the way. Use rediss://" -}}
{{- end -}}
{{- if and (contains "." $host) (regexMatch "[a-z]" $host) (not (hasSuffix "." $host)) (not (contains "[" $host)) -}}
{{- $found = append $found (printf "the store's host %q is not fully qualified: each start asks every search domain first. Write %q" $host (printf "%s." $host)) -}}
{{- end -}}
{{- if not (contains "." $host) -}}
{{- if not (contains "[" $host) -}}
{{- $found = append $found (printf "the store's host %q has no dot: gated pods of other namespaces cannot resolve it. Write SERVICE.NAMESPACE.svc.CLUSTER-DOMAIN." $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq (toString (index $v.defaults "tls-skip-verify" | default "false")) "true" -}}
{{- $found = append $found "defaults.tls-skip-verify: anybody on the way can pretend to be the store" -}}
{{- end -}}
{{- if $v.operator.enabled -}}
{{- if lt (int (include "cronlatch.replicas" .)) 2 -}}
{{- $found = append $found "one replica: while its pod moves, annotated Jobs are refused (others run). Set replicaCount to 2 or more" -}}
{{- end -}}
{{- if $v.hostNetwork -}}
{{- $found = append $found (printf "hostNetwork: ports %d and %d must be free on every node, NetworkPolicies do not apply, and the namespace cannot enforce Pod Security above privileged" (int $v.ports.admission) (int $v.ports.plain)) -}}
{{- end -}}
{{- if not $v.policies.enabled -}}
{{- $found = append $found (printf "policies are off: a Job whose hook was bypassed runs ungated, and is reported only afterwards (Event Ungated). Policies of an earlier revision are kept: kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l app.kubernetes.io/instance=%s" .Release.Name) -}}
{{- else if not (has "Deny" $v.policies.validationActions) -}}
{{- $found = append $found "policies do not deny: what they find runs ungated" -}}
{{- end -}}
{{- if and $v.select (not (and $v.policies.enabled (has "Deny" $v.policies.validationActions))) -}}
{{- $found = append $found "select without policies that deny: while no operator answers, a selected CronJob is admitted as it is and its Jobs run ungated" -}}
{{- end -}}
{{- if and $v.select (not $v.patchCronJobs) -}}
{{- $found = append $found "select with patchCronJobs false: a CronJob that existed before its rule is not annotated until it is applied again; until then its Jobs are refused where the rule has no labels, and run ungated where it has" -}}
{{- end -}}
{{- if not $v.webhook.enabled -}}
{{- $found = append $found "no webhook: nothing is rewritten, annotated Jobs are refused" -}}
{{- end -}}
{{- if $v.webhook.namespaceSelector -}}
{{- $found = append $found "webhook.namespaceSelector: annotations outside of those namespaces do nothing, without a word" -}}
{{- end -}}
{{- if and (eq $v.certificates.mode "existing") (not $v.certificates.caBundle) -}}
{{- $found = append $found (printf "certificates.caBundle is empty: write it into MutatingWebhookConfiguration %s, or annotated Jobs are refused" (include "cronlatch.fullname" .)) -}}
{{- end -}}
{{- if include "cronlatch.clientCA" . -}}
{{- $found = append $found "webhook.clientCA: an API server whose AdmissionConfiguration names no client certificate for webhooks gets no answer, and annotated Jobs are refused" -}}
{{- end -}}
{{- if and $v.webhook.enabled (gt (int $v.webhook.timeoutSeconds) 10) -}}
{{- $found = append $found "webhook.timeoutSeconds above 10: a stuck operator makes the creation of annotated Jobs slow" -}}
{{- end -}}
{{- range tuple "serviceMonitor" "podMonitor" "prometheusRule" -}}
{{- $m := index $v . -}}
{{- if and $m.enabled (eq $m.renderMode "skipIfMissing") (not ($.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
{{- $found = append $found (printf "%s.enabled, but this cluster has no monitoring.coreos.com/v1: not rendered" .) -}}
{{- end -}}
{{- end -}}
{{- if and $v.prometheusRule.enabled (not (or $v.serviceMonitor.enabled $v.podMonitor.enabled)) -}}
{{- $found = append $found "prometheusRule without serviceMonitor or podMonitor: unless your Prometheus finds the pods by itself, CronlatchDown fires" -}}
{{- end -}}
{{- if and $v.copier.source (not $v.copier.namespaces) -}}
{{- $found = append $found "copier.source without copier.namespaces copies nothing" -}}
{{- end -}}
{{- if hasKey $v "uninstall" -}}
{{- $found = append $found "uninstall.guard and uninstall.policy have no effect any more: an uninstall always keeps the policies. Remove them from your values" -}}
{{- end -}}
{{- end -}}
{{- range $found }}
  * {{ . }}
{{- end -}}
{{- end -}}
