{{- /* SPDX-License-Identifier: Apache-2.0
CEL of the policy that gates Jobs (webhook/mutating_policy.yaml): literals, durations, and the wrapper's command. */ -}}

{{- /* A value as a CEL literal. CEL requires one type for all values of a map or list: dyn() is that type. */ -}}
{{- define "cronlatch.cel.literal" -}}
{{- if kindIs "map" . -}}
{{- $parts := list -}}
{{- range $key := keys . | sortAlpha -}}
{{- $parts = append $parts (printf "%s: dyn(%s)" (toJson $key) (include "cronlatch.cel.literal" (get $ $key))) -}}
{{- end -}}
{{ printf "{%s}" (join ", " $parts) }}
{{- else if kindIs "slice" . -}}
{{- $parts := list -}}
{{- range . -}}{{- $parts = append $parts (printf "dyn(%s)" (include "cronlatch.cel.literal" .)) -}}{{- end -}}
{{ printf "[%s]" (join ", " $parts) }}
{{- else -}}
{{ toJson . }}
{{- end -}}
{{- end -}}

{{- /* The seconds of a text that matches cronlatch.cel.durationPattern. */ -}}
{{- define "cronlatch.cel.seconds" -}}
(int({{ . }}.substring(0, size({{ . }}) - 1)) * {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[{{ . }}.substring(size({{ . }}) - 1)])
{{- end -}}
{{- define "cronlatch.cel.durationPattern" -}}
'^[1-9][0-9]{0,7}[smhd]$'
{{- end -}}

{{- /* Seconds as the operator writes them: in the largest unit that divides them. */ -}}
{{- define "cronlatch.cel.duration" -}}
[{{ . }}].map(s, s % 86400 == 0 ? string(s / 86400) + 'd' : s % 3600 == 0 ? string(s / 3600) + 'h'
: s % 60 == 0 ? string(s / 60) + 'm' : string(s) + 's')[0]
{{- end -}}

{{- /* The durations whose annotation the policy accepts, with their limits in seconds. The limits of src/options, except: a short
ttl (30 s) and a ttl that other values limit are left to the operator, which checks the timings together. */ -}}
{{- define "cronlatch.cel.durations" -}}
{{- $defaults := include "cronlatch.defaults" . | fromYaml -}}
{{- $limits := (include "cronlatch.cel.options" . | fromJson).durations -}}
{{- $alert := index (include "cronlatch.limits" . | fromJson).durations "alert-after" -}}
{{- $_ := set $limits "alert-after" (list (div (first $alert) 1000) (last (index $limits "max-run"))) -}}
{{- if or (hasKey $defaults "renew-every") (hasKey $defaults "op-timeout") (hasKey $defaults "max-ttl") (hasKey $defaults "strict")
      (include "cronlatch.isQuorum" .) -}}
{{- $_ := unset $limits "ttl" -}}
{{- else -}}
{{- $_ := set $limits "ttl" (list 30 (last $limits.ttl)) -}}
{{- end -}}
{{ toJson $limits }}
{{- end -}}

{{- /* The numbers whose annotation the policy accepts, with their limits. A quorum refuses slots. */ -}}
{{- define "cronlatch.cel.numbers" -}}
{{- $limits := (include "cronlatch.cel.options" . | fromJson).numbers -}}
{{- if include "cronlatch.isQuorum" . -}}{{- $_ := unset $limits "slots" -}}{{- end -}}
{{ toJson $limits }}
{{- end -}}

{{- /* The volume of the store's credentials and CA certificates (src/admission/store_volume.cc). */ -}}
{{- define "cronlatch.cel.storeVolume" -}}
{{- $store := .Values.store -}}
{{- $name := "@name@" -}}
{{- $source := dict "secret" (dict "secretName" $name "optional" true "defaultMode" 292) -}}
{{- if $store.caConfigMap -}}
{{- $secret := dict "secret" (dict "name" $name "optional" true) -}}
{{- $map := dict "configMap" (dict "name" $store.caConfigMap "optional" true "items" (list (dict "key" $store.caConfigMapKey "path" "ca.crt"))) -}}
{{- $source = dict "projected" (dict "sources" (list $secret $map) "defaultMode" 292) -}}
{{- end -}}
{{ include "cronlatch.cel.literal" (merge (dict "name" "cronlatch-store") $source) | replace (toJson $name) "variables.storeSecret" }}
{{- end -}}

{{- /* The options with a fixed set of words. */ -}}
{{- define "cronlatch.cel.words" -}}
{{- merge (include "cronlatch.cel.options" . | fromJson).words
      (dict "once-per-schedule" (list "true" "false") "lock-scope" (list "namespace")) | toJson -}}
{{- end -}}

{{- /* The words of the wrapper in front of the container's command, as a CEL list. The flags have the order of the option table
(src/options/option_table.cc); tests/chart/policy_mode_test.sh compares the result with the operator's. */ -}}
{{- define "cronlatch.cel.gate" -}}
{{- $defaults := include "cronlatch.defaults" . | fromYaml -}}
{{- $durations := include "cronlatch.cel.durations" . | fromJson -}}
{{- $options := include "cronlatch.cel.options" . | fromJson -}}
{{- $computed := dict
      "lock" "request.namespace + '/' + variables.lock"
      "job" "variables.cronjob == '' ? '' : request.namespace + '/' + variables.cronjob"
      "store" (include "cronlatch.literal" (include "cronlatch.storeUrl" .) | toJson)
      "once-per" "variables.once && size(variables.scheduled) > 0 ? request.namespace + '/' + variables.cronjob + '@' + string(variables.scheduled[0]) : ''"
      "grace-period" (printf "variables.once && variables.grace > 0 ? %s : ''" (include "cronlatch.cel.duration" "variables.grace"))
      "attempt-group" "'$(CRONLATCH_ATTEMPT_GROUP)'"
      "holder" (printf "request.namespace + '/$(CRONLATCH_HOLDER)@%s'" .Values.clusterName)
      "credentials-dir" "'/var/run/secrets/cronlatch'"
      "outcome-file" "variables.outcomeFile.replace('$', '$$')" -}}
['/cronlatch-bin/cronlatch', 'run', '--isolated'] + [
{{- range $options.flags }}
{{- $key := . }}
{{- $default := "''" }}
{{- if hasKey $defaults $key }}
{{- $value := get $defaults $key }}
{{- $default = include "cronlatch.literal" (kindIs "slice" $value | ternary (toRawJson $value) (toString $value)) | toJson }}
{{- end }}
{{- $annotation := printf "variables.own['cronlatch.dev/%s']" $key }}
{{- $is := printf "'%s' in variables.keys" $key }}
{{- if hasKey $computed $key }}
['--{{ $key }}=', string({{ get $computed $key }})],
{{- else if hasKey $durations $key }}
['--{{ $key }}=', string({{ $is }} ? {{ include "cronlatch.cel.duration" (include "cronlatch.cel.seconds" $annotation) }} : {{ $default }})],
{{- else if or (hasKey $options.words $key) (hasKey $options.numbers $key) }}
['--{{ $key }}=', string({{ $is }} ? {{ $annotation }} : {{ $default }})],
{{- else if ne $default "''" }}
['--{{ $key }}=', {{ $default }}],
{{- end }}
{{- end }}
].filter(f, f[1] != '').map(f, f[0] + f[1]) + ['--']
{{- end -}}

{{- /* dict: path and items (expressions), exists (a condition). Patches that append the items to an array, or create it. */ -}}
{{- define "cronlatch.cel.append" -}}
(size({{ .items }}) == 0 ? [] : {{ .exists }}
? {{ .items }}.map(i, JSONPatch{op: 'add', path: {{ .path }} + '/-', value: i})
: [JSONPatch{op: 'add', path: {{ .path }}, value: {{ .items }}}])
{{- end -}}

{{- /* dict: object, field, key, value (an expression). Patches that set one label or annotation below object.metadata. */ -}}
{{- define "cronlatch.cel.setKey" -}}
{{- $metadata := printf "%s.metadata" .object -}}
{{- $path := printf "/%s/%s" (trimPrefix "object." $metadata | replace "." "/") .field -}}
(has({{ $metadata }}) && has({{ $metadata }}.{{ .field }})
? [JSONPatch{op: 'add', path: '{{ $path }}/{{ replace "/" "~1" .key }}', value: {{ .value }}}]
: [JSONPatch{op: 'add', path: '{{ $path }}', value: {'{{ .key }}': {{ .value }}}}])
{{- end -}}
