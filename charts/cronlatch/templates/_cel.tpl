{{- /* SPDX-License-Identifier: Apache-2.0
CEL expressions over annotations. Every field access is guarded by has(). Without the guard the expression fails on an
object without annotations, and the API server refuses every such object in the cluster. */ -}}

{{- /* list START FIELD...: the guards, "has(START.a) && has(START.a.b)", and the path "START.a.b", as JSON. */ -}}
{{- define "cronlatch.cel.path" -}}
{{- $at := first . -}}
{{- $guards := list -}}
{{- range rest . -}}
{{- $at = printf "%s.%s" $at . -}}
{{- $guards = append $guards (printf "has(%s)" $at) -}}
{{- end -}}
{{- dict "guards" (join " && " $guards) "at" $at | toJson -}}
{{- end -}}

{{- /* The annotations at the path request a lock. */ -}}
{{- define "cronlatch.cel.requestsLock" -}}
{{- $w := include "cronlatch.cel.path" . | fromJson -}}
({{ $w.guards }} && 'cronlatch.dev/lock' in {{ $w.at }} && {{ $w.at }}['cronlatch.dev/lock'] != 'false')
{{- end -}}

{{- /* The annotations at the path contain a key of cronlatch.dev. */ -}}
{{- define "cronlatch.cel.annotated" -}}
{{- $w := include "cronlatch.cel.path" . | fromJson -}}
({{ $w.guards }} && {{ $w.at }}.exists(k, k.startsWith('cronlatch.dev/')))
{{- end -}}

{{- /* The annotations at the path, or an empty map. */ -}}
{{- define "cronlatch.cel.map" -}}
{{- $w := include "cronlatch.cel.path" . | fromJson -}}
({{ $w.guards }}) ? {{ $w.at }} : {}
{{- end -}}

{{- /* A Job requests a lock in its own annotations or in those of its pod template. Some charts only have a value for
the latter. */ -}}
{{- define "cronlatch.cel.jobRequestsLock" -}}
{{ include "cronlatch.cel.requestsLock" (list "object.metadata" "annotations") }}
|| {{ include "cronlatch.cel.requestsLock" (list "object.spec.template" "metadata" "annotations") }}
{{- end -}}

{{- /* A CronJob that the webhook has to process: annotated in one of the three places, or before this update. */ -}}
{{- define "cronlatch.cel.cronJobIsRelevant" -}}
{{ include "cronlatch.cel.annotated" (list "object.metadata" "annotations") }}
|| {{ include "cronlatch.cel.annotated" (list "object.spec.jobTemplate" "metadata" "annotations") }}
|| {{ include "cronlatch.cel.annotated" (list "object.spec.jobTemplate.spec.template" "metadata" "annotations") }}
|| (oldObject != null && {{ include "cronlatch.cel.annotated" (list "oldObject.metadata" "annotations") }})
|| (oldObject != null && {{ include "cronlatch.cel.annotated" (list "oldObject.spec.jobTemplate" "metadata" "annotations") }})
{{- $namespaces := list }}
{{- range .Values.select }}{{ $namespaces = append $namespaces .namespace }}{{ end }}
{{- range uniq $namespaces }}
|| request.namespace == {{ toJson . }}
{{- end }}
{{- end -}}

{{- /* The rules of `select` as a CEL map: namespace -> its rules, each a map of lists of strings: `name` is the pattern
as an anchored regular expression, `labels` and `annotations` are "key=value". Every JSON string is a CEL string.
dict "select" RULES "jobs" BOOL: for Jobs only the names, of rules without labels, because a Job does not have its
CronJob's labels. A rule whose lock is "false" is left out. The result is "" when no rule remains. */ -}}
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

{{- /* The elements of variables.rules that match the namespace and NAME, a CEL expression. */ -}}
{{- define "cronlatch.cel.matchingRules" -}}
(request.namespace in variables.rules ? variables.rules[request.namespace] : [])
.filter(r, {{ . }}.matches(r.name[0]))
{{- end -}}

{{- /* The container that is gated, in the same order of precedence as in the operator; '' is no container's name. Requires the
variables `job` and `pod`: the annotations. */ -}}
{{- define "cronlatch.cel.container" -}}
'cronlatch.dev/container' in variables.job ? variables.job['cronlatch.dev/container']
: 'cronlatch.dev/container' in variables.pod ? variables.pod['cronlatch.dev/container']
: 'kubectl.kubernetes.io/default-container' in variables.pod
&& object.spec.template.spec.containers.exists(c, c.name == variables.pod['kubectl.kubernetes.io/default-container'])
? variables.pod['kubectl.kubernetes.io/default-container']
: size(object.spec.template.spec.containers) == 1 ? object.spec.template.spec.containers[0].name : ''
{{- end -}}

{{- /* The command line V, command and args joined, contains the gate: the same rule as in src/labels/gate_argv.cc. The gate is
first, or after another webhook's program, but not after a shell's -c. */ -}}
{{- define "cronlatch.cel.isGated" -}}
[{{ . }}.indexOf('/cronlatch-bin/cronlatch')].exists(i, i >= 0 && i + 2 < {{ . }}.lastIndexOf('--')
&& {{ . }}[i + 1] == 'run' && {{ . }}[i + 2] == '--isolated'
&& !{{ . }}.exists(w, w.startsWith('-') && w.matches('^-[a-z]*c$') && {{ . }}.indexOf(w) < i))
{{- end -}}

{{- /* The annotations that only the operator and the policies write (src/admission/annotations.cc). */ -}}
{{- define "cronlatch.cel.ofOperator" -}}
['cronlatch.dev/mirrored', 'cronlatch.dev/injected', 'cronlatch.dev/command-from', 'cronlatch.dev/gated-by-policy']
{{- end -}}

{{- /* The policy of admission.mode `policy` gated the Job, and no webhook removed its gate. The policy removes the annotation from
every other Job. */ -}}
{{- define "cronlatch.cel.gatedByPolicy" -}}
{{- $annotations := include "cronlatch.cel.path" (list "object.metadata" "annotations") | fromJson -}}
({{ $annotations.guards }} && 'cronlatch.dev/gated-by-policy' in {{ $annotations.at }}
&& object.spec.template.spec.containers.filter(c, c.name == {{ $annotations.at }}['cronlatch.dev/gated-by-policy'] && has(c.command)
&& size(c.command) > 0).map(c, c.command + (has(c.args) ? c.args : [])).exists(v, {{ include "cronlatch.cel.isGated" "v" }}))
{{- end -}}
