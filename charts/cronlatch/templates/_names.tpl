{{- /* SPDX-License-Identifier: Apache-2.0
Names, labels and the metadata block of every object. `toYaml` quotes a name that YAML would read as another type: `2024`, `on`.
*/ -}}

{{- define "cronlatch.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- /* The name of a Service is a DNS label; that of a release may contain a dot. */ -}}
{{- define "cronlatch.checkName" -}}
{{- $name := include "cronlatch.fullname" . -}}
{{- $fault := contains "." $name | ternary "contains a dot" (regexMatch "^[0-9]" $name | ternary "begins with a digit" "") -}}
{{- with $fault -}}
{{- fail (printf "the name %q %s, and Kubernetes refuses such a Service. Use another name of the release, or set fullnameOverride" $name .) -}}
{{- end -}}
{{- end -}}

{{- /* Truncated so that the name with the longest suffix is valid. */ -}}
{{- define "cronlatch.fullname" -}}
{{- $name := include "cronlatch.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* "true" where the chart renders the operator. */ -}}
{{- define "cronlatch.hasOperator" -}}
{{- if and .Values.enabled .Values.operator.enabled -}}true{{- end -}}
{{- end -}}

{{- /* "true" where the chart renders the Job of `helm test`: not where the values exclude the namespace of the release. */ -}}
{{- define "cronlatch.hasTest" -}}
{{- $namespace := .Release.Namespace -}}
{{- $selector := .Values.webhook.namespaceSelector | default dict -}}
{{- $labels := $selector.matchLabels | default dict -}}
{{- $isServed := or (not .Values.namespaces) (has .Release.Namespace .Values.namespaces) -}}
{{- $isSelected := eq (get $labels "kubernetes.io/metadata.name" | default .Release.Namespace) .Release.Namespace -}}
{{- range $selector.matchExpressions -}}
{{- if eq (get . "key" | toString) "kubernetes.io/metadata.name" -}}
{{- $isListed := has $namespace (get . "values" | default list) -}}
{{- /* Every namespace has this label. */ -}}
{{- if or (and (eq .operator "In") (not $isListed)) (and (eq .operator "NotIn") $isListed) (eq .operator "DoesNotExist") -}}{{- $isSelected = false -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (include "cronlatch.hasOperator" .) .Values.webhook.enabled .Values.helmTest.enabled $isServed $isSelected -}}true{{- end -}}
{{- end -}}

{{- /* "true" where metrics and status page require a token. */ -}}
{{- define "cronlatch.metricsToken" -}}
{{- if and (include "cronlatch.hasOperator" .) (eq .Values.metrics.auth "token") -}}true{{- end -}}
{{- end -}}

{{- /* Name of the port of metrics and status page, in the pod and in its Service. */ -}}
{{- define "cronlatch.metricsPort" -}}
{{- eq .Values.metrics.auth "token" | ternary "https-metrics" "http-metrics" -}}
{{- end -}}

{{- define "cronlatch.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (printf "%s-operator" (include "cronlatch.fullname" .)) -}}
{{- end -}}

{{- define "cronlatch.operatorStoreSecret" -}}
{{- .Values.store.operatorSecretName | default .Values.store.secretName -}}
{{- end -}}

{{- define "cronlatch.selector" -}}
app.kubernetes.io/name: {{ include "cronlatch.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toYaml }}
app.kubernetes.io/component: operator
{{- end -}}

{{- /* dict: root, component; optional labels. A label of the chart is never replaced: selectors and uninstall-check use
them. */ -}}
{{- define "cronlatch.labels" -}}
{{- $root := .root -}}
{{- $own := dict
  "app.kubernetes.io/name" (include "cronlatch.name" $root)
  "app.kubernetes.io/instance" $root.Release.Name
  "app.kubernetes.io/component" .component
  "app.kubernetes.io/part-of" "cronlatch"
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/managed-by" $root.Release.Service
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") -}}
{{- mergeOverwrite (dict) $root.Values.commonLabels (.labels | default dict) $own | toYaml -}}
{{- end -}}

{{- /* dict: root, component; optional suffix (behind the fullname) or name, namespace ("none": cluster-wide),
labels, annotations */ -}}
{{- define "cronlatch.metadata" -}}
{{- $root := .root -}}
name: {{ .name | default (printf "%s%s" (include "cronlatch.fullname" $root) (.suffix | default "")) | toYaml }}
{{- if ne (.namespace | default "") "none" }}
namespace: {{ .namespace | default $root.Release.Namespace | toYaml }}
{{- end }}
labels:
  {{- include "cronlatch.labels" . | nindent 2 }}
{{- with mergeOverwrite (dict) $root.Values.commonAnnotations (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
