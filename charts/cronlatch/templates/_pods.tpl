{{- /* SPDX-License-Identifier: Apache-2.0
Common parts of the chart's pods: the image, and a security context that Pod Security's level `restricted` admits.
*/ -}}

{{- /* dict: root, image (registry, repository, tag, digest). The tag is by default that of the chart. */ -}}
{{- define "cronlatch.imageName" -}}
{{- $i := .image -}}
{{- with get (.root.Values.global | default dict) "imageRegistry" | default $i.registry }}{{ . }}/{{ end }}{{ $i.repository }}
{{- if $i.digest }}@{{ $i.digest }}{{ else }}:{{ $i.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end -}}

{{- define "cronlatch.image" -}}
{{- include "cronlatch.imageName" (dict "root" . "image" .Values.image) -}}
{{- end -}}

{{- /* The image that gated pods copy the wrapper from. */ -}}
{{- define "cronlatch.injectedImage" -}}
{{- with regexFind "^[^/@]*/" .Values.inject.image -}}
{{- include "cronlatch.checkPortOf" (dict "name" "inject.image" "host" (trimSuffix "/" .)) -}}
{{- end -}}
{{- .Values.inject.image | default (include "cronlatch.image" .) -}}
{{- end -}}

{{- /* `auto` needs the operator, with the right to read the nodes of the whole cluster, for each Job. */ -}}
{{- define "cronlatch.injection" -}}
{{- $v := .Values -}}
{{- if and (eq $v.injection "auto") (or $v.namespaces (eq $v.admission.mode "policy")) -}}init-container{{- else -}}{{ $v.injection }}{{- end -}}
{{- end -}}

{{- /* The volume with the wrapper (src/admission/wrapper_source.cc), where no operator decides. */ -}}
{{- define "cronlatch.wrapperVolume" -}}
{{- $source := dict "emptyDir" (dict "sizeLimit" "32Mi") -}}
{{- if eq .Values.injection "image-volume" -}}
{{- $source = dict "image" (dict "reference" (include "cronlatch.injectedImage" .) "pullPolicy" .Values.inject.pullPolicy) -}}
{{- end -}}
{{ merge (dict "name" "cronlatch-bin") $source | toJson }}
{{- end -}}

{{- /* dict: root, asRoot (the pod runs as root, and runAsNonRoot requires another uid). The container that copies the wrapper, as
JSON (src/admission/wrapper_source.cc). */ -}}
{{- define "cronlatch.installContainer" -}}
{{- $small := dict "cpu" "50m" "memory" "32Mi" -}}
{{- $security := include "cronlatch.containerSecurity" .root | fromYaml -}}
{{- if .asRoot }}{{ $_ := set $security "runAsUser" 65532 }}{{ end -}}
{{- dict "name" "cronlatch-install"
      "image" (include "cronlatch.injectedImage" .root)
      "imagePullPolicy" .root.Values.inject.pullPolicy
      "command" (list "/cronlatch" "install" "/cronlatch-bin")
      "resources" (.root.Values.inject.resources | default (dict "requests" $small "limits" $small))
      "securityContext" $security
      "terminationMessagePolicy" "FallbackToLogsOnError"
      "volumeMounts" (list (dict "name" "cronlatch-bin" "mountPath" "/cronlatch-bin")) | toJson -}}
{{- end -}}

{{- /* The pull Secrets of the chart and of the umbrella chart, each once, as JSON; "" without any. An umbrella chart may
list names or maps. */ -}}
{{- define "cronlatch.pullSecrets" -}}
{{- $all := list -}}
{{- range concat .Values.image.pullSecrets (get (.Values.global | default dict) "imagePullSecrets" | default list) -}}
{{- $all = append $all (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with uniq $all }}{{ toJson . }}{{ end -}}
{{- end -}}

{{- /* "" without a PriorityClass. */ -}}
{{- define "cronlatch.priorityClass" -}}
{{- .Values.priorityClassName | default (.Values.ha.enabled | ternary "system-cluster-critical" "") -}}
{{- end -}}

{{- define "cronlatch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "cronlatch.replicas" -}}
{{- if .Values.ha.enabled }}{{ max 3 (int .Values.replicaCount) }}{{ else }}{{ int .Values.replicaCount }}{{ end -}}
{{- end -}}

{{- define "cronlatch.spread" -}}
{{- if .Values.topologySpreadConstraints -}}
{{- tpl (toYaml .Values.topologySpreadConstraints) . -}}
{{- else -}}
{{- $root := . -}}
{{- range $index, $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" -}}
{{- $hard := and $root.Values.ha.enabled (eq $key "kubernetes.io/hostname") -}}
{{- if $index }}{{ printf "\n" }}{{ end -}}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: {{ $hard | ternary "DoNotSchedule" "ScheduleAnyway" }}
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "cronlatch.selector" $root | nindent 6 }}
{{- end -}}
{{- end -}}
{{- end -}}
