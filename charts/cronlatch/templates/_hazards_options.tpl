{{- /* SPDX-License-Identifier: Apache-2.0
Warnings about the options that docs/reference/options.md calls unsafe: in `defaults`, in `select` and in `cronJobs`. */ -}}

{{- /* A JSON list. */ -}}
{{- define "cronlatch.optionHazards" -}}
{{- $places := dict -}}
{{- if .Values.enabled -}}{{- $_ := set $places "defaults" (include "cronlatch.defaults" . | fromYaml) -}}{{- end -}}
{{- if include "cronlatch.hasOperator" . -}}
{{- range $i, $rule := .Values.select -}}{{- $_ := set $places (printf "select[%d].annotations" $i) $rule.annotations -}}{{- end -}}
{{- end -}}
{{- range $name, $job := .Values.enabled | ternary .Values.cronJobs dict -}}{{- $_ := set $places (printf "cronJobs.%s.options" $name) ($job.options | default dict) -}}{{- end -}}
{{- $unsafe := dict
      "on-lost=warn" "a command continues after its lease is lost, and another run can start. Use kill"
      "on-lost=term" "a command that ignores TERM continues after its lease is lost, and another run can start. Use kill"
      "leftovers=leave" "background processes continue after the lock is released, and another run can start. Use end or wait"
      "on-store-down=run" "while the store is unavailable, runs start without a lock and can overlap. Use fail or wait"
      "guardian=off" "a command that is not process 1 continues when cronlatch is killed, and another run can start. Use auto"
      "tls-skip-verify=true" "the store's certificate is not verified, so another server in the network path can impersonate the store. Remove it" -}}
{{- $found := list -}}
{{- range $place := keys $places | sortAlpha -}}
{{- range $key, $value := get $places $place -}}
{{- $pair := printf "%s=%s" $key (toString $value) -}}
{{- with get $unsafe $pair -}}{{- $found = append $found (printf "%s.%s: %s" $place $pair .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}
