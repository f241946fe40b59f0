{{- /* SPDX-License-Identifier: Apache-2.0
Refuses options that the operator and each run would refuse at their start (src/options/option_check.cc, src/core/lease.cc,
src/admission/settings_checks.cc). _limits.tpl has the limits; values.schema.json checks the form of a value. */ -}}

{{- /* dict: root, options (of one place), name (of that place, in messages). The options of the place override `defaults`. */ -}}
{{- define "cronlatch.checkOptions" -}}
{{- include "cronlatch.checkRanges" . -}}
{{- $all := include "cronlatch.effectiveOptions" . | fromJson -}}
{{- $effective := dict "root" .root "options" $all "name" .name -}}
{{- include "cronlatch.checkTimings" $effective -}}
{{- include "cronlatch.checkTtl" $effective -}}
{{- if and (include "cronlatch.isQuorum" .root) (ne (get $all "slots" | default 1 | include "cronlatch.number") "1") -}}
{{- fail (printf "%s.slots: a quorum has one slot. Remove it" .name) -}}
{{- end -}}
{{- end -}}

{{- /* Of the operator, which applies `defaults` without options of a CronJob. */ -}}
{{- define "cronlatch.checkDefaults" -}}
{{- include "cronlatch.checkOptions" (dict "root" . "options" (include "cronlatch.defaults" . | fromYaml) "name" "defaults") -}}
{{- end -}}

{{- /* dict: root, options, name. Of a written-out gate: also the ranges of those `defaults` that it does not replace. */ -}}
{{- define "cronlatch.checkGateOptions" -}}
{{- $inherited := include "cronlatch.defaults" .root | fromYaml -}}
{{- range $key, $_ := .options -}}{{- $_ := unset $inherited $key -}}{{- end -}}
{{- include "cronlatch.checkRanges" (dict "root" .root "options" $inherited "name" "defaults") -}}
{{- include "cronlatch.checkOptions" . -}}
{{- end -}}

{{- /* dict: root, options. With `defaults`, as JSON. sprig's merge would replace a value of 0 or false by that of `defaults`. */ -}}
{{- define "cronlatch.effectiveOptions" -}}
{{- $all := include "cronlatch.defaults" .root | fromYaml -}}
{{- range $key, $value := .options -}}{{- $_ := set $all $key $value -}}{{- end -}}
{{ toJson $all }}
{{- end -}}

{{- /* dict: root, options, name. */ -}}
{{- define "cronlatch.checkRanges" -}}
{{- $limits := include "cronlatch.limits" .root | fromJson -}}
{{- $name := .name -}}
{{- range $key, $value := .options -}}
{{- $text := toString $value -}}
{{- $sizes := dict "durations" (include "cronlatch.millis" $text) "numbers" (include "cronlatch.number" $text) "texts" (len $text | toString) -}}
{{- range $kind, $size := $sizes -}}
{{- with get (get $limits $kind) $key -}}
{{- $isOff := and (eq $key "alert-after") (eq $text "off") -}}
{{- if and (not $isOff) (or (lt (int64 $size) (int64 (index . 0))) (gt (int64 $size) (int64 (index . 1)))) -}}
{{- fail (printf "%s.%s: %s is out of range. Allowed: %s. Set a value within this range" $name $key $text (index . 2)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Without leading zeros, which would make the number octal. */ -}}
{{- define "cronlatch.number" -}}
{{- regexReplaceAll "^0+" (toString .) "" | default "0" -}}
{{- end -}}

{{- /* dict: root, key. The option's default, as text. */ -}}
{{- define "cronlatch.defaultOf" -}}
{{- index (include "cronlatch.limits" .root | fromJson).durations .key 3 -}}
{{- end -}}

{{- /* dict: root, options (with `defaults`), name. The inequality of plan_timings: a lease must be long enough for a late renewal,
its retry and the end of the command. It always holds without renew-every and op-timeout. */ -}}
{{- define "cronlatch.checkTimings" -}}
{{- $rule := (include "cronlatch.limits" .root | fromJson).timings -}}
{{- $lease := get .options "ttl" | default (include "cronlatch.defaultOf" (dict "root" .root "key" "ttl")) -}}
{{- $ttl := include "cronlatch.millis" $lease | int64 -}}
{{- $renew := min (div $ttl $rule.renewShare) $rule.longestRenew -}}
{{- $op := min (div $ttl $rule.opShare) $rule.longestOp -}}
{{- if hasKey .options "renew-every" -}}{{- $renew = include "cronlatch.millis" (get .options "renew-every") | int64 -}}{{- end -}}
{{- if hasKey .options "op-timeout" -}}{{- $op = include "cronlatch.millis" (get .options "op-timeout") | int64 -}}{{- end -}}
{{- $gap := max (min (div $ttl $rule.gapShare) $rule.longestGap) $rule.leastGap -}}
{{- $margin := add (div $ttl $rule.marginShare) $rule.fixedMargin -}}
{{- $rest := sub $ttl (add (div (mul $renew $rule.renewPercent) 100) $op $gap $margin $rule.reap) -}}
{{- if lt (int64 $rest) (int64 $rule.leastGrace) -}}
{{- fail (printf "%s: ttl %s is too short for renew-every %dms and op-timeout %dms: %dms remain to stop the command, and %dms are needed. Raise ttl, or lower renew-every or op-timeout" .name (toString $lease) (int64 $renew) (int64 $op) (int64 $rest) (int64 $rule.leastGrace)) -}}
{{- end -}}
{{- end -}}

{{- /* dict: root, name (of the value, in messages), lock, prefix (of the name in the store). */ -}}
{{- define "cronlatch.checkLock" -}}
{{- $limits := include "cronlatch.limits" .root | fromJson -}}
{{- $hint := printf "Write a name of %s" (index $limits.texts.lock 2) -}}
{{- if has (lower .lock) $limits.reservedLocks -}}
{{- fail (printf "%s: %q is a word for yes or no, which is never the name of a lock. %s" .name .lock $hint) -}}
{{- end -}}
{{- include "cronlatch.checkLockName" . -}}
{{- end -}}

{{- /* The same dict. The form of a name; a reserved word has it, too. */ -}}
{{- define "cronlatch.checkLockName" -}}
{{- $limits := include "cronlatch.limits" .root | fromJson -}}
{{- $hint := printf "Write a name of %s" (index $limits.texts.lock 2) -}}
{{- if not (regexMatch "^[A-Za-z0-9._/-]+$" .lock) -}}
{{- fail (printf "%s: %q is not the name of a lock. %s" .name .lock $hint) -}}
{{- else if gt (len (printf "%s%s" .prefix .lock)) (int (index $limits.texts.lock 1)) -}}
{{- fail (printf "%s: %s%s has %d characters, and the name of a lock has at most %d. Write a shorter name" .name .prefix .lock (len (printf "%s%s" .prefix .lock)) (int (index $limits.texts.lock 1))) -}}
{{- end -}}
{{- end -}}

{{- /* The rules of `select`: what the operator refuses in its settings. The admission policies contain them at once. */ -}}
{{- define "cronlatch.checkSelect" -}}
{{- range $i, $rule := .Values.select -}}
{{- $name := printf "select[%d].annotations" $i -}}
{{- $lock := toString $rule.annotations.lock -}}
{{- $isCluster := eq (get $rule.annotations "lock-scope" | default "namespace") "cluster" -}}
{{- if and $.Values.namespaces (not (has $rule.namespace $.Values.namespaces)) -}}
{{- fail (printf "select[%d].namespace: %s is not in namespaces, so that the operator does not serve it. Add it to namespaces" $i $rule.namespace) -}}
{{- end -}}
{{- if and $isCluster (not (has $rule.namespace $.Values.clusterLockNamespaces)) -}}
{{- fail (printf "%s.lock-scope: namespace %s may not use locks with cluster scope. Add it to clusterLockNamespaces, or remove lock-scope" $name $rule.namespace) -}}
{{- end -}}
{{- if and $isCluster (eq $lock "true") -}}
{{- fail (printf "%s.lock: a lock with cluster scope needs a name, and true is none. Write a name" $name) -}}
{{- end -}}
{{- if not (has $lock (list "true" "false")) -}}
{{- include "cronlatch.checkLock" (dict "root" $ "name" (printf "%s.lock" $name) "lock" $lock "prefix" (include "cronlatch.lockPrefix" (dict "scope" (get $rule.annotations "lock-scope") "namespace" $rule.namespace))) -}}
{{- end -}}
{{- include "cronlatch.checkOptions" (dict "root" $ "options" (omit $rule.annotations "lock") "name" $name) -}}
{{- end -}}
{{- end -}}
