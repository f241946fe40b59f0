{{- /* SPDX-License-Identifier: Apache-2.0
The flags of a gate that is written out (jobs/cronjobs.yaml). They are the same flags that the webhook injects. */ -}}

{{- /* The kubelet expands $(NAME) in commands and replaces $$ by $. Text from values must stay unchanged. */ -}}
{{- define "cronlatch.literal" -}}
{{- replace "$" "$$" . -}}
{{- end -}}

{{- define "cronlatch.lockName" -}}
{{- $lock := .job.lock | default .name -}}
{{- if eq (.job.lockScope | default "namespace") "cluster" -}}
_cluster/{{ $lock }}
{{- else -}}
{{ .namespace }}/{{ $lock }}
{{- end -}}
{{- end -}}

{{- /* dict: root, name, namespace, job, url */ -}}
{{- define "cronlatch.gate" -}}
{{- include "cronlatch.checkStore" .root -}}
{{- $flags := dict
      "store" .url
      "lock" (include "cronlatch.lockName" .)
      "job" (printf "%s/%s" .namespace .name)
      "credentials-dir" "/var/run/secrets/cronlatch"
      "outcome-file" "/dev/termination-log" -}}
{{- $options := merge (dict) (.job.options | default dict) (include "cronlatch.defaults" .root | fromYaml) -}}
{{- include "cronlatch.checkTtl" (dict "root" .root "options" $options "name" (printf "cronJobs.%s.options" .name)) -}}
{{- if and (include "cronlatch.isQuorum" .root) (ne (get $options "slots" | default 1 | toString | int) 1) -}}
{{- fail (printf "cronJobs.%s.options.slots: a quorum has one slot. Remove it" .name) -}}
{{- end -}}
{{- if and (eq (.job.concurrencyPolicy | default "Allow") "Replace") (not (hasKey $options "on-busy")) -}}
{{- fail (printf "cronJobs.%s: with concurrencyPolicy Replace the previous run is terminated while this run starts, and a skip would leave no run. Set options.on-busy: wait, and options.wait-timeout" .name) -}}
{{- end -}}
{{- range $key, $value := $options -}}
{{- $_ := set $flags $key (kindIs "slice" $value | ternary (toJson $value) (toString $value)) -}}
{{- end -}}
- /cronlatch-bin/cronlatch
- run
- --isolated
{{- range $key, $value := $flags }}
- {{ printf "--%s=%s" $key (include "cronlatch.literal" $value) | toJson }}
{{- end }}
- --holder={{ .namespace }}/$(CRONLATCH_POD){{ with .root.Values.clusterName }}@{{ . }}{{ end }}
- --attempt-group=$(CRONLATCH_JOB_UID)
{{- if .job.oncePerSchedule }}
# The CronJob controller derives a Job's name from its scheduled minute. The name is the same in every cluster.
- --once-per={{ .namespace }}/$(CRONLATCH_JOB_NAME)
{{- end }}
- --
{{- end -}}
