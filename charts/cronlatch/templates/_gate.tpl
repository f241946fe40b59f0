{{- /* SPDX-License-Identifier: Apache-2.0
The flags of a gate that is written out (jobs/cronjobs.yaml). They are the same flags that the webhook injects. */ -}}

{{- /* The kubelet expands $(NAME) in commands and replaces $$ by $. Text from values must stay unchanged. */ -}}
{{- define "cronlatch.literal" -}}
{{- replace "$" "$$" . -}}
{{- end -}}

{{- /* dict: scope, namespace. The part of a lock's name before that of the values (src/admission/lock_names.cc). */ -}}
{{- define "cronlatch.lockPrefix" -}}
{{- if eq (.scope | default "namespace") "cluster" }}_cluster/{{ else }}{{ .namespace }}/{{ end -}}
{{- end -}}

{{- /* dict: root, name, namespace, job. */ -}}
{{- define "cronlatch.lockName" -}}
{{- $prefix := include "cronlatch.lockPrefix" (dict "scope" .job.lockScope "namespace" .namespace) -}}
{{- with .job.lock -}}
{{- /* Unlike in an annotation, any other reserved word is a name. */ -}}
{{- if has (lower .) (list "true" "false") -}}
{{- fail (printf "cronJobs.%s.lock: %q is a boolean, and not the name of a lock. Write a name, or remove lock: the lock then has the name of the CronJob" $.name .) -}}
{{- end -}}
{{- include "cronlatch.checkLockName" (dict "root" $.root "name" (printf "cronJobs.%s.lock" $.name) "lock" . "prefix" $prefix) -}}
{{- end -}}
{{ $prefix }}{{ .job.lock | default .name }}
{{- end -}}

{{- /* dict: root, job. The pull Secrets of the CronJob and those of `inject`, each once, as JSON; "" without any. */ -}}
{{- define "cronlatch.gatedPullSecrets" -}}
{{- $all := .job.imagePullSecrets | default list -}}
{{- range .root.Values.inject.pullSecrets -}}{{- $all = append $all (dict "name" .) -}}{{- end -}}
{{- with uniq $all }}{{ toJson . }}{{ end -}}
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
{{- include "cronlatch.checkGateOptions" $own -}}
{{- $options := include "cronlatch.effectiveOptions" $own | fromJson -}}
{{- if and (eq (.job.concurrencyPolicy | default "Allow") "Replace") (not (hasKey $options "on-busy")) -}}
{{- fail (printf "cronJobs.%s: with concurrencyPolicy Replace the previous run is terminated while this run starts, and a skip would leave no run. Set options.on-busy: wait, and options.wait-timeout" .name) -}}
{{- end -}}
{{- /* Without the key the pod has 30 s, which is the default of the option. src/admission/wrapper_command.cc has the same rule. */ -}}
{{- if and .job.oncePerSchedule .job.terminationGracePeriodSeconds -}}
{{- $_ := set $flags "grace-period" (printf "%ds" (min (int64 .job.terminationGracePeriodSeconds) 86400)) -}}
{{- end -}}
{{- with include "cronlatch.waitWithinDeadline" (dict "name" .name "job" .job "options" $options) }}{{ $_ := set $options "wait-timeout" . }}{{ end -}}
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
