{{- /* SPDX-License-Identifier: Apache-2.0
Parts of the store's URL: scheme://[user@]host[:port][,...][/master][/db], postgres://[user@]host[:port][,...]/database[?sslmode=MODE][&wake=poll];
a quorum is a list of redis:// or rediss:// URLs. */ -}}

{{- define "cronlatch.storeAuthority" -}}
{{- $authorities := list -}}
{{- $url := include "cronlatch.storeUrl" . -}}
{{- range (regexMatch ",rediss?://" $url | ternary (splitList "," $url) (list $url)) -}}
{{- $authorities = append $authorities (regexReplaceAll "^[a-z+]+://([^@/]*@)?([^/?]*).*$" . "${2}") -}}
{{- end -}}
{{- join "," $authorities -}}
{{- end -}}

{{- /* The port of a host without one; with Sentinels also the usual one of a master. */ -}}
{{- define "cronlatch.storeDefaultPort" -}}
{{- if regexMatch "^rediss?[+]sentinel:" (include "cronlatch.storeUrl" .) -}}26379{{- else if hasPrefix "postgres:" (include "cronlatch.storeUrl" .) -}}5432{{- else -}}6379{{- end -}}
{{- end -}}

{{- /* The ports of all hosts, and with Sentinels the usual one of a master; a JSON list. */ -}}
{{- define "cronlatch.storePorts" -}}
{{- $isSentinel := regexMatch "^rediss?[+]sentinel:" (include "cronlatch.storeUrl" .) -}}
{{- $default := include "cronlatch.storeDefaultPort" . -}}
{{- $ports := list -}}
{{- range splitList "," (include "cronlatch.storeAuthority" .) -}}
{{- $ports = append $ports (regexMatch ":[0-9]+$" . | ternary (regexFind "[0-9]+$" .) $default | int) -}}
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

{{- /* dict: root, secret. The source of the volume with credentials and CA certificates, as the webhook injects it
(src/admission/store_volume.cc). The kubelet writes the sources in this order, so the ConfigMap's ca.crt replaces the Secret's. */ -}}
{{- define "cronlatch.storeVolume" -}}
{{- $store := .root.Values.store -}}
{{- if $store.caConfigMap -}}
projected:
  sources:
  - secret: {name: {{ .secret | toYaml }}, optional: true}
  - configMap: {name: {{ $store.caConfigMap | toYaml }}, optional: true, items: [{key: {{ $store.caConfigMapKey | quote }}, path: ca.crt}]}
{{- else -}}
secret: {secretName: {{ .secret | toYaml }}, optional: true}
{{- end -}}
{{- end -}}

{{- /* The value `defaults`; with separateClusters the key prefix contains the name of the cluster. */ -}}
{{- define "cronlatch.defaults" -}}
{{- $v := .Values -}}
{{- $defaults := deepCopy ($v.defaults | default dict) -}}
{{- if $v.separateClusters -}}
{{- $name := required "separateClusters: clusterName is empty, and the key prefix must contain it. Set clusterName" $v.clusterName -}}
{{- $_ := set $defaults "key-prefix" (printf "%s%s:" (index $defaults "key-prefix" | default "cronlatch:") $name) -}}
{{- end -}}
{{- toYaml $defaults -}}
{{- end -}}
