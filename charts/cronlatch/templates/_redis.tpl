{{- /* SPDX-License-Identifier: Apache-2.0
The Redis of the chart (`redis.enabled`). Its users, passwords and certificate are created by the operator at run time: a
template would change them at each rendering. */ -}}

{{- /* "true" where the chart renders it. Refuses values that contradict it. */ -}}
{{- define "cronlatch.hasRedis" -}}
{{- if and .Values.enabled .Values.redis.enabled -}}
{{- if .Values.store.url -}}
{{- fail "redis.enabled: store.url is set, too. Remove store.url to use the Redis of the chart, or set redis.enabled to false" -}}
{{- end -}}
{{- if not .Values.operator.enabled -}}
{{- fail "redis.enabled: the operator creates the passwords, and operator.enabled is false. Enable it, or use a Redis of your own in store.url" -}}
{{- end -}}
{{- if .Values.copier.source -}}
{{- fail "redis.enabled: copier.source is set, too, and the operator writes the Secrets itself. Remove copier.source" -}}
{{- end -}}
{{- if .Values.store.operatorSecretName -}}
{{- fail "redis.enabled: store.operatorSecretName is set, too, and the operator creates its own credentials. Remove it" -}}
{{- end -}}
{{- if .Values.store.caConfigMap -}}
{{- fail "redis.enabled: store.caConfigMap is set, too, and the operator creates the CA itself. Remove it" -}}
{{- end -}}
{{- $defaults := .Values.defaults | default dict -}}
{{- range list "redis-username" "tls-server-name" "tls-skip-verify" "strict" -}}
{{- if and (hasKey $defaults .) (ne (toString (get $defaults .)) "false") -}}
{{- fail (printf "defaults.%s: does not apply to the Redis of the chart. Remove it" .) -}}
{{- end -}}
{{- end -}}
{{- include "cronlatch.checkRedisMemory" . -}}
true
{{- end -}}
{{- end -}}

{{- /* At `maxmemory` Redis refuses grants. At the limit of its memory the kernel kills it, which stops every command. */ -}}
{{- define "cronlatch.checkRedisMemory" -}}
{{- $r := .Values.redis -}}
{{- with $r.resources -}}
{{- with .limits -}}
{{- with .memory -}}
{{- if ge (include "cronlatch.bytes" $r.maxMemory | float64) (include "cronlatch.bytes" . | float64) -}}
{{- fail (printf "redis.maxMemory: %s is not below redis.resources.limits.memory, which is %s, so that the kernel would kill Redis before it is full. Lower it to three quarters of the limit, or raise the limit" $r.maxMemory (toString .)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The bytes of a size of Redis (192mb) or of a quantity of Kubernetes (256Mi, 1.5G, 2e8, 268435456). */ -}}
{{- define "cronlatch.bytes" -}}
{{- $text := toString . -}}
{{- $units := dict "" 1 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776
      "Pi" 1125899906842624 "Ei" 1152921504606846976 "mb" 1048576 "gb" 1073741824 -}}
{{- $number := regexFind "^[+]?[0-9.]+([eE][+-]?[0-9]+)?" $text -}}
{{- $unit := trimPrefix $number $text -}}
{{- mulf (float64 $number) (get $units $unit) -}}
{{- end -}}

{{- /* The store of all runs: that of the values, or the Redis of the chart. */ -}}
{{- define "cronlatch.storeUrl" -}}
{{- if include "cronlatch.hasRedis" . -}}
rediss://{{ include "cronlatch.fullname" . }}-redis.{{ .Release.Namespace }}.svc.{{ .Values.redis.clusterDomain }}.:6379
{{- else -}}
{{- with .Values.store.url }}{{ include "cronlatch.checkStoreUrl" . }}{{ . }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.redisSelector" -}}
app.kubernetes.io/name: {{ include "cronlatch.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toYaml }}
app.kubernetes.io/component: redis
{{- end -}}

{{- define "cronlatch.redisImage" -}}
{{- include "cronlatch.imageName" (dict "root" . "image" .Values.redis.image) -}}
{{- end -}}

{{- /* The client program of the image, for the probes. */ -}}
{{- define "cronlatch.redisClient" -}}
{{- contains "valkey" .Values.redis.image.repository | ternary "valkey-cli" "redis-cli" -}}
{{- end -}}

{{- /* dict: root, name, namespace, job. The Redis of the chart admits the listed namespaces only. */ -}}
{{- define "cronlatch.checkRedisAccess" -}}
{{- if include "cronlatch.hasRedis" .root -}}
{{- $r := .root.Values.redis -}}
{{- if not (or $r.namespaceLabels (eq .namespace .root.Release.Namespace) (has .namespace $r.namespaces)) -}}
{{- fail (printf "cronJobs.%s: namespace %s has no access to the Redis of the chart. Add it to redis.namespaces" .name .namespace) -}}
{{- end -}}
{{- if and (eq (.job.lockScope | default "namespace") "cluster") (not (has .namespace .root.Values.clusterLockNamespaces)) -}}
{{- fail (printf "cronJobs.%s: with the Redis of the chart, lockScope cluster needs namespace %s in clusterLockNamespaces" .name .namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The namespaces with a user, without that of the release; a JSON list. */ -}}
{{- define "cronlatch.redisNamespaces" -}}
{{- without (uniq .Values.redis.namespaces) .Release.Namespace | toJson -}}
{{- end -}}

{{- define "cronlatch.redisConf" -}}
port 0
tls-port 6379
tls-cert-file /etc/redis/tls.crt
tls-key-file /etc/redis/tls.key
tls-ca-cert-file /etc/redis/ca.crt
tls-auth-clients no
tls-protocols "TLSv1.2 TLSv1.3"
aclfile /etc/redis/users.acl
dir /data
save ""
appendonly yes
appendfsync always
maxmemory {{ .Values.redis.maxMemory }}
maxmemory-policy noeviction
{{- end -}}
