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
{{- range list "redis-username" "tls-server-name" "tls-skip-verify" "strict" -}}
{{- if and (hasKey $.Values.defaults .) (ne (toString (index $.Values.defaults .)) "false") -}}
{{- fail (printf "defaults.%s: does not apply to the Redis of the chart. Remove it" .) -}}
{{- end -}}
{{- end -}}
true
{{- end -}}
{{- end -}}

{{- /* The store of all runs: that of the values, or the Redis of the chart. */ -}}
{{- define "cronlatch.storeUrl" -}}
{{- if include "cronlatch.hasRedis" . -}}
rediss://{{ include "cronlatch.fullname" . }}-redis.{{ .Release.Namespace }}.svc.{{ .Values.redis.clusterDomain }}.:6379
{{- else -}}
{{- .Values.store.url -}}
{{- end -}}
{{- end -}}

{{- define "cronlatch.redisSelector" -}}
app.kubernetes.io/name: {{ include "cronlatch.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toYaml }}
app.kubernetes.io/component: redis
{{- end -}}

{{- define "cronlatch.redisImage" -}}
{{- $i := .Values.redis.image -}}
{{- with .Values.global.imageRegistry | default $i.registry }}{{ . }}/{{ end }}{{ $i.repository }}
{{- if $i.digest }}@{{ $i.digest }}{{ else }}:{{ $i.tag }}{{ end }}
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
