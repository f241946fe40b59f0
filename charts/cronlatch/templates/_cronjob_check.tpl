{{- /* SPDX-License-Identifier: Apache-2.0
Refuses a value of `cronJobs` that the API server or the kubelet would refuse later, or that the operator refuses in an annotated
CronJob (src/admission/job_restrictions.cc). */ -}}

{{- /* dict: name, pod, container (their security contexts). The kubelet does not start such a container. */ -}}
{{- define "cronlatch.checkUser" -}}
{{- $all := dict -}}
{{- range list .pod .container -}}
{{- range $key, $value := pick . "runAsUser" "runAsNonRoot" -}}{{- $_ := set $all $key (toString $value) -}}{{- end -}}
{{- end -}}
{{- if and (eq (get $all "runAsUser") "0") (eq (get $all "runAsNonRoot") "true") -}}
{{- fail (printf "cronJobs.%s: runAsUser is 0, and runAsNonRoot is true, so that the container would not start. Set runAsNonRoot to false in podSecurityContext or securityContext, or another runAsUser" .name) -}}
{{- end -}}
{{- end -}}

{{- /* dict: name, job, options (with `defaults`). The wait-timeout of a run with a deadline, if it is another than in the options;
else "". A Job that reaches its deadline does not name the lock: the wait must end before. */ -}}
{{- define "cronlatch.waitWithinDeadline" -}}
{{- $deadline := mul 1000 (int64 (.job.activeDeadlineSeconds | default 0)) -}}
{{- $wait := get .options "wait-timeout" | toString -}}
{{- if and $deadline (ge (include "cronlatch.millis" $wait | int64) $deadline) -}}
{{- /* Half of the deadline, in whole seconds. */ -}}
{{- $half := div $deadline 2 -}}
{{- $fit := lt $half 1000 | ternary (printf "%dms" $half) (printf "%ds" (div $half 1000)) -}}
{{- if hasKey (.job.options | default dict) "wait-timeout" -}}
{{- fail (printf "cronJobs.%s.options.wait-timeout: %s is not below activeDeadlineSeconds, which is %d and includes the wait for the lock. Write for example %s" .name $wait (int64 .job.activeDeadlineSeconds) $fit) -}}
{{- end -}}
{{- $fit -}}
{{- end -}}
{{- end -}}

{{- /* dict: name, job. Five fields, or a macro without blanks around it (robfig/cron, as in Kubernetes). */ -}}
{{- define "cronlatch.checkSchedule" -}}
{{- $schedule := .job.schedule -}}
{{- if contains "TZ=" $schedule -}}
{{- fail (printf "cronJobs.%s.schedule: %q contains a time zone, and the API server refuses such a CronJob. Remove TZ= or CRON_TZ= with its zone, and set timeZone to that zone" .name $schedule) -}}
{{- end -}}
{{- $every := "every [+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+" -}}
{{- $macro := printf "@(yearly|annually|monthly|weekly|daily|midnight|hourly|%s)" $every -}}
{{- $field := "[-0-9A-Za-z*/,?]+" -}}
{{- $fields := printf "[[:space:]]*%s([[:space:]]+%s){4}[[:space:]]*" $field $field -}}
{{- if not (regexMatch (printf "^(%s|%s)$" $macro $fields) $schedule) -}}
{{- fail (printf "cronJobs.%s.schedule: %q is not a schedule. Write five fields, for example 0 2 * * *, or for example @daily; timeZone sets the time zone" .name $schedule) -}}
{{- end -}}
{{- end -}}

{{- /* dict: name, job. Names that the gate adds: of two entries with one name, the API server refuses the object, or the last wins. */ -}}
{{- define "cronlatch.checkReservedNames" -}}
{{- $at := printf "cronJobs.%s" .name -}}
{{- if eq (.job.containerName | default "") "cronlatch-install" -}}
{{- fail (printf "%s.containerName: cronlatch-install is reserved for the init container of the gate. Write another name" $at) -}}
{{- end -}}
{{- range $i, $variable := .job.env -}}
{{- if has (get $variable "name" | toString) (list "CRONLATCH_POD" "CRONLATCH_JOB_NAME" "CRONLATCH_JOB_UID") -}}
{{- fail (printf "%s.env[%d].name: %s is reserved for a variable of the gate. Rename the variable" $at $i (get $variable "name")) -}}
{{- end -}}
{{- end -}}
{{- range $i, $volume := .job.volumes -}}
{{- if has (get $volume "name" | toString) (list "cronlatch-bin" "cronlatch-store") -}}
{{- fail (printf "%s.volumes[%d].name: %s is reserved for a volume of the gate. Rename the volume" $at $i (get $volume "name")) -}}
{{- end -}}
{{- end -}}
{{- range $i, $mount := .job.volumeMounts -}}
{{- if has (get $mount "mountPath" | toString | clean) (list "/cronlatch-bin" "/var/run/secrets/cronlatch") -}}
{{- fail (printf "%s.volumeMounts[%d].mountPath: %s is reserved for a volume of the gate. Mount the volume at another path" $at $i (get $mount "mountPath")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
