#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value cronJobs: a written-out CronJob has the pod that the operator would inject, and what cannot run is refused.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

POD='one("CronJob"; "a").spec.jobTemplate.spec.template.spec'
INSTALL="$POD.initContainers[0].securityContext"
values() { printf 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"]%s}}' "$1"; }
render_with() { render "${BASE[@]}" --set-json "$(values "$1")" "${@:2}"; }
refuses_with() { check "refuses $1" refused_with "$2" "${BASE[@]}" --set-json "$(values "$3")"; }

render_with ''
check "the init container has the user of the image, which is not root" holds "$INSTALL | .runAsNonRoot and (has(\"runAsUser\") | not)"
check "without pull Secrets there is no list" holds "$POD | has(\"imagePullSecrets\") | not"
render_with ',"podSecurityContext":{"runAsUser":0}'
check "in a pod that runs as root, the init container runs as another user" holds "$INSTALL == {allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true, runAsNonRoot: true, runAsUser: 65532, capabilities: {drop: [\"ALL\"]}, seccompProfile: {type: \"RuntimeDefault\"}}"
render_with ',"podSecurityContext":{"runAsUser":1000}'
check "in a pod with another user, the init container has that user" holds "$INSTALL | has(\"runAsUser\") | not"
# The container that the policy of admission.mode policy injects is the same (policy_mode_test.sh compares it with the operator's).
render_with ',"podSecurityContext":{"runAsUser":0}' --set admission.mode=policy,clusterName=eu-1
check "the policy has the same user" holds "$INSTALL.runAsUser as \$uid"' | [.[] | select(.kind == "MutatingAdmissionPolicy").spec.variables[]
  | select(.name == "install").expression] | length == 1 and (.[0] | contains("\"runAsUser\": dyn(\($uid))"))'
render_with ',"imagePullSecrets":[{"name":"own"},{"name":"mirror"}]' --set 'inject.pullSecrets={mirror,more}'
check "the pull Secrets of the CronJob and of inject are listed, each once" holds "$POD.imagePullSecrets == [{name: \"own\"}, {name: \"mirror\"}, {name: \"more\"}]"
render_with '' --set 'inject.pullSecrets={mirror}'
check "those of inject alone" holds "$POD.imagePullSecrets == [{name: \"mirror\"}]"

# Of a run that records its scheduled time: the wrapper must stop its retries before the kubelet kills the pod.
COMMAND="$POD.containers[0].command"
for times in 10:10s 1:1s 3600:3600s 100000:86400s; do
  render_with ",\"oncePerSchedule\":true,\"terminationGracePeriodSeconds\":${times%:*}"
  check "a grace period of ${times%:*} s is that of the wrapper" holds "$COMMAND"' | .[: index("--")] | index("--grace-period='"${times#*:}"'")'
done
GRACE="$COMMAND"' | any(.[]; startswith("--grace-period")) | not'
render_with ',"oncePerSchedule":true'
check "without a grace period of the pod, both have their default of 30 s" holds "$GRACE"
render_with ',"oncePerSchedule":true,"terminationGracePeriodSeconds":0'
check "a grace period of 0 leaves no time for a retry" holds "$GRACE"
render_with ',"terminationGracePeriodSeconds":10'
check "a run that records no scheduled time needs no grace period" holds "$GRACE"

# The wait for the lock is a part of the deadline. The operator refuses the same.
DEADLINE=',"activeDeadlineSeconds":300,"options":{"on-busy":"wait"'
for wait in 10m 300s 5m1ms; do
  refuses_with "a wait for $wait within a deadline of 300 s" "cronJobs.a.options.wait-timeout: $wait is not below activeDeadlineSeconds, which is 300" \
    "$DEADLINE,\"wait-timeout\":\"$wait\"}"
done
refuses_with "a wait within a deadline of 1 s" "Write for example 500ms" ',"activeDeadlineSeconds":1,"options":{"wait-timeout":"1s"}'
check "accepts a shorter wait" render_with "$DEADLINE,\"wait-timeout\":\"299999ms\"}"
check "accepts a wait without a limit" render_with "$DEADLINE,\"wait-timeout\":0}" --set defaults.wait-timeout=10m
check "which the deadline ends" holds "$COMMAND"' | index("--wait-timeout=0")'
render_with "$DEADLINE}" --set defaults.wait-timeout=10m
check "a wait of the defaults is limited to half of the deadline" holds "$COMMAND"' | index("--wait-timeout=150s")'
render_with "$DEADLINE}" --set defaults.wait-timeout=299s
check "a shorter wait of the defaults is not changed" holds "$COMMAND"' | index("--wait-timeout=299s")'
render_with "" --set defaults.wait-timeout=10m
check "nor is one without a deadline" holds "$COMMAND"' | index("--wait-timeout=10m")'

with_schedule() { "$@" "${BASE[@]}" --set-json "cronJobs={\"a\":{\"schedule\":\"$SCHEDULE\",\"image\":\"i\",\"command\":[\"a\"]}}"; }
for SCHEDULE in bad '* * * *' '* * * * * *' @never '@every' '@every 5' '@Daily' '0 2 * * $' ' ' ' @daily' '@daily ' '@every  1h' '@every 1h ' '@every .h' '@every -1h'; do
  check "refuses the schedule '$SCHEDULE'" with_schedule refused_with "cronJobs.a.schedule: \"$SCHEDULE\" is not a schedule"
done
for SCHEDULE in '0 2 * * *' '*/5 0-6,9 1 JAN-DEC ?' ' 0  2 * * 7 ' @hourly @midnight '@every 1h30m' '0\t2 * * *' '0 2\n* * *\n' '@every .5h' '@every +1h' '@every 1.h' '@every 1µs' '@every 1μs1h'; do
  check "accepts the schedule '$SCHEDULE'" with_schedule chart_template
done
for SCHEDULE in 'TZ=UTC 0 2 * * *' 'CRON_TZ=Europe/Berlin 0 2 * * *' 'TZ=UTC @daily'; do
  check "refuses the schedule '$SCHEDULE'" with_schedule refused_with "Remove TZ= or CRON_TZ= with its zone, and set timeZone to that zone"
done
for name in CRONLATCH_POD CRONLATCH_JOB_NAME CRONLATCH_JOB_UID; do
  refuses_with "the variable $name" "cronJobs.a.env[1].name: $name is reserved" ",\"env\":[{\"name\":\"A\"},{\"name\":\"$name\",\"value\":\"const\"}]"
done
for name in cronlatch-bin cronlatch-store; do
  refuses_with "the volume $name" "cronJobs.a.volumes[0].name: $name is reserved" ",\"volumes\":[{\"name\":\"$name\",\"emptyDir\":{}}]"
done
for path in /cronlatch-bin /cronlatch-bin/ //cronlatch-bin /var//run/./secrets/cronlatch; do
  refuses_with "a mount at $path" "cronJobs.a.volumeMounts[0].mountPath: $path is reserved" ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"$path\"}]"
done
refuses_with "the name of the init container" "cronJobs.a.containerName: cronlatch-install is reserved" ',"containerName":"cronlatch-install"'
check "accepts other names, and a mount beside those of the gate" render_with ',"containerName":"main","env":[{"name":"CRONLATCH_X"}],
  "volumes":[{"name":"v","emptyDir":{}}],"volumeMounts":[{"name":"v","mountPath":"/cronlatch-bin2"}]'
# Each name that the template writes is refused: a new one needs a check, too.
render_with ''
OWN="$POD | (.volumes, .containers[0].env, .initContainers)[].name, .containers[0].volumeMounts[].mountPath"
each_name_is_checked() {
  local name
  for name in $(jq -r "def one(\$kind; \$name): map(select(.kind == \$kind and .metadata.name == \$name))[0]; $OWN" "$STAGE/objects.json"); do
    grep -qF "\"$name\"" "$CHART/templates/_cronjob_check.tpl" || { echo "not checked: $name"; return 1; }
  done
}
check "each name of the gate is refused" each_name_is_checked

for word in true True FALSE; do
  refuses_with "the lock $word" "cronJobs.a.lock: \"$word\" is a boolean" ",\"lock\":\"$word\""
done
for word in Yes on t 0 disabled; do
  check "accepts the lock $word, a reserved word of annotations" render_with ",\"lock\":\"$word\""
  check "the lock is $word of the namespace" holds "$POD.containers[0].command | index(\"--lock=cronlatch/$word\")"
done
refuses_with "a lock that is no text" "lock" ',"lock":true'
refuses_with "a lock whose name is too long with the namespace" "has 201 characters" ",\"lock\":\"$(printf 'a%.0s' {1..191})\""
refuses_with "a deadline of zero" "activeDeadlineSeconds" ',"activeDeadlineSeconds":0'
refuses_with "root in the container, and no root in the pod" "Set runAsNonRoot to false" ',"securityContext":{"runAsUser":0}'
refuses_with "root and no root in the pod" "Set runAsNonRoot to false" ',"podSecurityContext":{"runAsUser":0,"runAsNonRoot":true}'
check "accepts root in the container only" render_with ',"securityContext":{"runAsUser":0,"runAsNonRoot":false}'
check "its init container has the user of the image" holds "$INSTALL | has(\"runAsUser\") | not"
check "accepts a name that is part of a word" render_with ',"lock":"online","lockScope":"cluster"'
check "the lock has its scope" holds "$POD"'.containers[0].command | index("--lock=_cluster/online")'
finish
