{{- /* SPDX-License-Identifier: Apache-2.0
Refuses combinations of the store with options that the operator and each run would refuse at their start
(src/options/option_check.cc). */ -}}

{{- /* Of the operator's settings and of each written-out gate. */ -}}
{{- define "cronlatch.checkStore" -}}
{{- $url := include "cronlatch.storeUrl" . -}}
{{- $defaults := .Values.defaults | default dict -}}
{{- if and $url (hasKey $defaults "sentinel-username") (not (regexMatch "^rediss?[+]sentinel:" $url)) -}}
{{- fail "defaults.sentinel-username: the store has no Sentinels. Remove it, or set store.url to a rediss+sentinel:// URL" -}}
{{- end -}}
{{- if regexMatch "^redis[:+]|[?&]sslmode=disable" $url -}}
{{- $hint := "Remove it, or set store.url to a URL with TLS" -}}
{{- if hasKey $defaults "tls-server-name" -}}
{{- fail (printf "defaults.tls-server-name: the store does not use TLS. %s" $hint) -}}
{{- end -}}
{{- if eq (toString (get $defaults "tls-skip-verify" | default "false")) "true" -}}
{{- fail (printf "defaults.tls-skip-verify: the store does not use TLS. %s" $hint) -}}
{{- end -}}
{{- end -}}
{{- include "cronlatch.checkServers" . -}}
{{- include "cronlatch.checkStrict" . -}}
{{- end -}}

{{- /* "true" with several redis:// URLs. */ -}}
{{- define "cronlatch.isQuorum" -}}
{{- if regexMatch ",rediss?://" (include "cronlatch.storeUrl" .) -}}true{{- end -}}
{{- end -}}

{{- /* "true" with the option strict. */ -}}
{{- define "cronlatch.isStrict" -}}
{{- if eq (toString (get (.Values.defaults | default dict) "strict" | default "false")) "true" -}}true{{- end -}}
{{- end -}}

{{- define "cronlatch.checkServers" -}}
{{- $url := include "cronlatch.storeUrl" . -}}
{{- if hasPrefix "redis" $url -}}
{{- $port := include "cronlatch.storeDefaultPort" . -}}
{{- $servers := list -}}
{{- range splitList "," (include "cronlatch.storeAuthority" .) -}}
{{- $host := regexReplaceAll ":[0-9]+$" . "" | trimSuffix "." | lower -}}
{{- $server := printf "%s:%d" $host (regexMatch ":[0-9]+$" . | ternary (regexFind "[1-9][0-9]*$" .) $port | int) -}}
{{- if has $server $servers -}}
{{- fail (printf "store.url: the server %s is listed twice. List each server once" $server) -}}
{{- end -}}
{{- $servers = append $servers $server -}}
{{- end -}}
{{- end -}}
{{- if include "cronlatch.isQuorum" . -}}
{{- $same := list -}}
{{- range splitList "," $url -}}
{{- $parts := regexReplaceAll "^(rediss?://([^@/]*@)?)[^/]*/?(.*)$" . "${1} ${3}" -}}
{{- $same = append $same (regexReplaceAll " 0*$" $parts " ") -}}
{{- end -}}
{{- if gt (len (uniq $same)) 1 -}}
{{- fail "store.url: the URLs of a quorum have different schemes, users or databases. Write the same in each of them" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.checkStrict" -}}
{{- $url := include "cronlatch.storeUrl" . -}}
{{- $replicas := get (.Values.defaults | default dict) "min-replicas" | default 0 | include "cronlatch.number" | int -}}
{{- if not (include "cronlatch.isStrict" .) -}}
{{- if $replicas -}}
{{- fail "defaults.min-replicas is set without defaults.strict. Set defaults.strict to true, or remove defaults.min-replicas" -}}
{{- end -}}
{{- else -}}
{{- $hint := "Set store.url to a rediss://, rediss+sentinel:// or postgres:// URL, or remove defaults.strict" -}}
{{- if not $url -}}
{{- fail (printf "defaults.strict: store.url is empty. %s" $hint) -}}
{{- else if include "cronlatch.isQuorum" . -}}
{{- fail (printf "defaults.strict: a quorum cannot be strict. %s" $hint) -}}
{{- else if regexMatch "^rediss?[+]cluster:" $url -}}
{{- fail (printf "defaults.strict: a Redis Cluster cannot be strict. %s" $hint) -}}
{{- else if and (regexMatch "^rediss?[+]sentinel:" $url) (not $replicas) -}}
{{- fail "defaults.strict: defaults.min-replicas is 0, and the Sentinels can promote a replica. Set defaults.min-replicas to the number of all replicas" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* dict: root, options, name (of the options, in the message). PostgreSQL has no quarantine, so that no time depends on
max-ttl. */ -}}
{{- define "cronlatch.checkTtl" -}}
{{- $isPostgres := hasPrefix "postgres:" (include "cronlatch.storeUrl" .root) -}}
{{- if or (include "cronlatch.isQuorum" .root) (and (include "cronlatch.isStrict" .root) (not $isPostgres)) -}}
{{- $ttl := get .options "ttl" | default (include "cronlatch.defaultOf" (dict "root" .root "key" "ttl")) -}}
{{- $limit := get (.root.Values.defaults | default dict) "max-ttl" | default (include "cronlatch.defaultOf" (dict "root" .root "key" "max-ttl")) -}}
{{- if gt (include "cronlatch.millis" $ttl | int64) (include "cronlatch.millis" $limit | int64) -}}
{{- fail (printf "%s.ttl: %s is above max-ttl, which is %s. Lower it, or raise defaults.max-ttl in every cluster with this store" .name $ttl $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A duration like 1h30m in milliseconds. */ -}}
{{- define "cronlatch.millis" -}}
{{- $units := dict "d" 86400000 "h" 3600000 "m" 60000 "s" 1000 "ms" 1 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|[smhd])" (toString .) -1 -}}
{{- /* A leading 0 would make the number octal. */ -}}
{{- $sum = add $sum (mul (regexFind "[1-9][0-9]*" . | default "0") (get $units (regexFind "[a-z]+" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}
