{{- /* SPDX-License-Identifier: Apache-2.0
Parts of the store's URL: scheme://[user@]host[:port][,...][/master][/db]. */ -}}

{{- define "cronlatch.storeAuthority" -}}
{{- if hasPrefix "postgres:" .Values.store.url -}}
{{- fail "store.url: the operator and gated CronJobs do not support a postgres:// store. Use rediss://HOST:PORT; docs/postgres.md describes what supports postgres://" -}}
{{- end -}}
{{- regexReplaceAll "^[a-z+]+://([^@/]*@)?([^/?]*).*$" .Values.store.url "${2}" -}}
{{- end -}}

{{- /* The ports of all hosts, and with Sentinels the usual one of a master; a JSON list. */ -}}
{{- define "cronlatch.storePorts" -}}
{{- $isSentinel := regexMatch "^rediss?[+]sentinel:" .Values.store.url -}}
{{- $ports := list -}}
{{- range splitList "," (include "cronlatch.storeAuthority" .) -}}
{{- $ports = append $ports (regexMatch ":[0-9]+$" . | ternary (regexFind "[0-9]+$" .) ($isSentinel | ternary "26379" "6379") | int) -}}
{{- end -}}
{{- if $isSentinel -}}{{- $ports = append $ports 6379 -}}{{- end -}}
{{- range .Values.networkPolicy.storePorts -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{- /* The hosts, without ports; a JSON list. */ -}}
{{- define "cronlatch.storeHosts" -}}
{{- $hosts := list -}}
{{- range splitList "," (include "cronlatch.storeAuthority" .) -}}
{{- $hosts = append $hosts (regexReplaceAll ":[0-9]+$" . "") -}}
{{- end -}}
{{- $hosts | toJson -}}
{{- end -}}
