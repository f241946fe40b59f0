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
{{- $own := dict "root" .root "options" (.job.options | default dict) "name" (printf "cronJobs.%s.options" .name) -}}
{{- include "cronlatch.checkOptions" $own -}}
{{- $options := include "cronlatch.effectiveOptions" $own | fromJson -}}
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
