{{- /* SPDX-License-Identifier: Apache-2.0
Parts of the store's URL: scheme://[user@]host[:port][/db]. */ -}}

{{- define "cronlatch.storeAuthority" -}}
{{- if hasPrefix "postgres:" .Values.store.url -}}
{{- fail "store.url: the operator and gated CronJobs do not support a postgres:// store. Use rediss://HOST:PORT; docs/postgres.md describes what supports postgres://" -}}
{{- end -}}
{{- regexReplaceAll "^[a-z+]+://([^@/]*@)?([^/?]*).*$" .Values.store.url "${2}" -}}
{{- end -}}

{{- define "cronlatch.storePort" -}}
{{- $a := include "cronlatch.storeAuthority" . -}}
{{- regexMatch ":[0-9]+$" $a | ternary (regexFind "[0-9]+$" $a) "6379" -}}
{{- end -}}

{{- define "cronlatch.storeHost" -}}
{{- regexReplaceAll ":[0-9]+$" (include "cronlatch.storeAuthority" .) "" -}}
{{- end -}}
