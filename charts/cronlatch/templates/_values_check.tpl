{{- /* SPDX-License-Identifier: Apache-2.0
Refuses combinations of values that the API server, cert-manager or the operator would refuse later. values.schema.json checks the
form of each value alone. */ -}}

{{- define "cronlatch.checkValues" -}}
{{- include "cronlatch.checkPorts" . -}}
{{- include "cronlatch.checkPod" . -}}
{{- include "cronlatch.checkWebhook" . -}}
{{- include "cronlatch.checkLookup" . -}}
{{- include "cronlatch.checkSubjects" . -}}
{{- end -}}

{{- /* Each server of a pod needs a port of its own. */ -}}
{{- define "cronlatch.checkPorts" -}}
{{- $used := dict -}}
{{- $names := list "admission" "plain" -}}
{{- if include "cronlatch.metricsToken" . }}{{ $names = append $names "metrics" }}{{ end -}}
{{- range $name := $names -}}
{{- $port := toString (int (index $.Values.ports $name)) -}}
{{- if hasKey $used $port -}}
{{- fail (printf "ports.%s: %s is also ports.%s. Set different ports" $name $port (get $used $port)) -}}
{{- end -}}
{{- $_ := set $used $port $name -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.checkPod" -}}
{{- $v := .Values -}}
{{- if and (eq $v.dnsPolicy "None") (not (get ($v.dnsConfig | default dict) "nameservers")) -}}
{{- fail "dnsPolicy: None requires the addresses of name servers. Set dnsConfig.nameservers, or another dnsPolicy" -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.checkWebhook" -}}
{{- $v := .Values -}}
{{- if and (has "Deny" $v.policies.validationActions) (has "Warn" $v.policies.validationActions) -}}
{{- fail "policies.validationActions: Deny and Warn exclude each other, and the API server refuses both together. Remove Warn: a refusal contains the message" -}}
{{- end -}}
{{- $cm := $v.certificates.certManager -}}
{{- if and (eq $v.certificates.mode "cert-manager") $cm.issuerRef (not (get $cm.issuerRef "name")) -}}
{{- fail "certificates.certManager.issuerRef: the name is missing, and cert-manager refuses such a Certificate. Set issuerRef.name, or remove issuerRef" -}}
{{- end -}}
{{- $isLate := ge (include "cronlatch.millis" $cm.renewBefore | int64) (include "cronlatch.millis" $cm.duration | int64) -}}
{{- if and (eq $v.certificates.mode "cert-manager") $isLate -}}
{{- fail (printf "certificates.certManager.renewBefore: %s is not below duration, which is %s, and cert-manager refuses such a Certificate. Set a shorter renewBefore" $cm.renewBefore $cm.duration) -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.checkLookup" -}}
{{- $lookup := .Values.entrypointLookup -}}
{{- if $lookup.enabled -}}
{{- $range := index (include "cronlatch.limits" . | fromJson).settings "lookup-timeout" -}}
{{- $timeout := include "cronlatch.millis" $lookup.timeout | int64 -}}
{{- if or (lt $timeout (int64 (index $range 0))) (gt $timeout (int64 (index $range 1))) -}}
{{- fail (printf "entrypointLookup.timeout: %s is out of range. Allowed: %s. Set a value within this range" $lookup.timeout (index $range 2)) -}}
{{- end -}}
{{- range $lookup.pullSecretNamespaces -}}
{{- if and $.Values.namespaces (not (has . $.Values.namespaces)) -}}
{{- fail (printf "entrypointLookup.pullSecretNamespaces: %s is not in namespaces, so that the operator would have the right to read each Secret there, and no use for it. Add it to namespaces, or remove it" .) -}}
{{- end -}}
{{- end -}}
{{- range $lookup.registries -}}
{{- include "cronlatch.checkPortOf" (dict "name" "entrypointLookup.registries" "host" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* metrics.readers, without tokens, render nothing. Only a RoleBinding has a namespace that its ServiceAccounts can have, too. */ -}}
{{- define "cronlatch.checkSubjects" -}}
{{- if include "cronlatch.metricsToken" . -}}
{{- range $i, $subject := .Values.metrics.readers -}}
{{- if and (eq $subject.kind "ServiceAccount") (not $subject.namespace) -}}
{{- fail (printf "metrics.readers[%d]: the namespace of ServiceAccount %s is missing, and the API server refuses such a ClusterRoleBinding. Set namespace" $i $subject.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* dict: name (of the value, in messages), host (`host` or `host:port`). */ -}}
{{- define "cronlatch.checkPortOf" -}}
{{- if regexMatch ":[0-9]+$" .host -}}
{{- $digits := regexFind "[0-9]+$" .host -}}
{{- $port := include "cronlatch.number" $digits -}}
{{- if or (gt (len $port) 5) (not (and (ge (int $port) 1) (le (int $port) 65535))) -}}
{{- fail (printf "%s: the port %s of %s is out of range. Allowed: 1 to 65535. Set the port of the server" .name $digits .host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
