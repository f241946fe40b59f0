{{- /* SPDX-License-Identifier: Apache-2.0
CEL that looks at annotations. Every step is guarded by has(): an expression that fails on an object without
annotations would refuse every such object in the cluster. */ -}}

{{- /* list START FIELD...: the guards, "has(START.a) && has(START.a.b)", and the path "START.a.b", as JSON. */ -}}
{{- define "cronlatch.cel.walk" -}}
{{- $at := first . -}}
{{- $guards := list -}}
{{- range rest . -}}
{{- $at = printf "%s.%s" $at . -}}
{{- $guards = append $guards (printf "has(%s)" $at) -}}
{{- end -}}
{{- dict "guards" (join " && " $guards) "at" $at | toJson -}}
{{- end -}}

{{- /* The annotations there ask for a lock. */ -}}
{{- define "cronlatch.cel.locked" -}}
{{- $w := include "cronlatch.cel.walk" . | fromJson -}}
({{ $w.guards }} && 'cronlatch.dev/lock' in {{ $w.at }} && {{ $w.at }}['cronlatch.dev/lock'] != 'false')
{{- end -}}

{{- /* There is any annotation of ours there. */ -}}
{{- define "cronlatch.cel.ours" -}}
{{- $w := include "cronlatch.cel.walk" . | fromJson -}}
({{ $w.guards }} && {{ $w.at }}.exists(k, k.startsWith('cronlatch.dev/')))
{{- end -}}

{{- /* The annotations there, or an empty map. */ -}}
{{- define "cronlatch.cel.map" -}}
{{- $w := include "cronlatch.cel.walk" . | fromJson -}}
({{ $w.guards }}) ? {{ $w.at }} : {}
{{- end -}}

{{- /* A Job asks for a lock, by itself or by its pod template (whose annotations are all that some charts let you set). */ -}}
{{- define "cronlatch.cel.jobIsLocked" -}}
{{ include "cronlatch.cel.locked" (list "object.metadata" "annotations") }}
|| {{ include "cronlatch.cel.locked" (list "object.spec.template" "metadata" "annotations") }}
{{- end -}}

{{- /* A CronJob that we have to look at: annotated now in one of the three places, or before this update. */ -}}
{{- define "cronlatch.cel.cronJobIsOurs" -}}
{{ include "cronlatch.cel.ours" (list "object.metadata" "annotations") }}
|| {{ include "cronlatch.cel.ours" (list "object.spec.jobTemplate" "metadata" "annotations") }}
|| {{ include "cronlatch.cel.ours" (list "object.spec.jobTemplate.spec.template" "metadata" "annotations") }}
|| (oldObject != null && {{ include "cronlatch.cel.ours" (list "oldObject.metadata" "annotations") }})
|| (oldObject != null && {{ include "cronlatch.cel.ours" (list "oldObject.spec.jobTemplate" "metadata" "annotations") }})
{{- $chosen := list }}
{{- range .Values.select }}{{ $chosen = append $chosen .namespace }}{{ end }}
{{- range uniq $chosen }}
|| request.namespace == {{ toJson . }}
{{- end }}
{{- end -}}

{{- /* The rules of `select` as a CEL map: namespace -> its rules, each a map of lists of strings: `name` is the pattern as an
anchored regular expression, `labels` and `annotations` are "key=value". Every JSON string is a CEL string.
dict "select" RULES "jobs" BOOL: for Jobs the names alone, of rules without labels, because a Job does not carry its CronJob's labels.
A rule whose lock is "false" gates nothing. "" when no rule is left. */ -}}
{{- define "cronlatch.cel.rules" -}}
{{- $jobs := .jobs -}}
{{- $spaces := dict -}}
{{- range .select -}}
{{- if and (ne (toString .annotations.lock) "false") (not (and $jobs .labels)) -}}
{{- $pattern := .name | default "*" | regexQuoteMeta | replace "\\*" ".*" | replace "\\?" "." -}}
{{- $rule := dict "name" (list (printf "^%s$" $pattern)) -}}
{{- if not $jobs -}}
{{- if .labels -}}
{{- $labels := list -}}
{{- range $key, $value := .labels -}}{{- $labels = append $labels (printf "%s=%s" $key (toString $value)) -}}{{- end -}}
{{- $_ := set $rule "labels" $labels -}}
{{- end -}}
{{- $annotations := list -}}
{{- range $key, $value := .annotations -}}{{- $annotations = append $annotations (printf "cronlatch.dev/%s=%s" $key (toString $value)) -}}{{- end -}}
{{- $_ := set $rule "annotations" $annotations -}}
{{- end -}}
{{- $_ := set $spaces .namespace (append (get $spaces .namespace | default list) $rule) -}}
{{- end -}}
{{- end -}}
{{- if $spaces -}}{{ toJson $spaces }}{{- end -}}
{{- end -}}

{{- /* Of variables.rules those that choose NAME, a CEL expression, by namespace and name. */ -}}
{{- define "cronlatch.cel.named" -}}
(request.namespace in variables.rules ? variables.rules[request.namespace] : [])
.filter(r, {{ . }}.matches(r.name[0]))
{{- end -}}
