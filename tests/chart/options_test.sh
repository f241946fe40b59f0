#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart refuses the options that the operator refuses, and accepts those that it accepts: in `defaults`, in `select` and in
# `cronJobs`. Each case is also decided by the operator.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

OPERATOR=${TESTED_OPERATOR:-$ROOT/build/dev/cronlatch-operator}
unset KUBERNETES_SERVICE_HOST
# operator_accepts SETTINGS: JSON with the settings that differ from the smallest file. See settings_test.sh.
operator_accepts() {
  local seen
  jq -n --argjson more "$1" '{image: "x", store: "rediss://redis.shop.svc.cluster.local."} + $more
    | if .defaults then .defaults |= map_values(tostring) else . end
    | if .select then .select |= map(.annotations |= map_values(tostring)) else . end' >"$STAGE/operator.yaml"
  seen=$("$OPERATOR" --config "$STAGE/operator.yaml" 2>&1)
  printf '%s\n' "$seen"
  [[ $seen == *"this is no pod"* ]]
}
operator_refuses() { ! operator_accepts "$1"; }
# both VERB SENTENCE TEXT KEY JSON: chart and operator accept or refuse the value; a refusal of the chart contains TEXT.
both() {
  local settings
  settings=$(jq -n -c --argjson value "$5" --arg key "$4" '{($key): $value}')
  if [ "$1" = refuse ]; then
    check "$2: the chart refuses it" refused_with "$3" "${BASE[@]}" --set-json "$4=$5"
    [ ! -x "$OPERATOR" ] || check "$2: so does the operator" operator_refuses "$settings"
  else
    check "$2: the chart accepts it" chart_template "${BASE[@]}" --set-json "$4=$5"
    [ ! -x "$OPERATOR" ] || check "$2: so does the operator" operator_accepts "$settings"
  fi
}
[ -x "$OPERATOR" ] || skip "the operator's decisions" "no operator at $OPERATOR (./dev build dev)"

# ---- defaults: each limit of the option table ----
both refuse "a ttl above its maximum" "defaults.ttl: 2h is out of range. Allowed: 5s to 1h" defaults '{"ttl":"2h"}'
both refuse "a ttl below its minimum" "defaults.ttl: 4999ms is out of range" defaults '{"ttl":"4999ms"}'
both refuse "an op-timeout below its minimum" "defaults.op-timeout: 5ms is out of range. Allowed: 50ms to 1m" defaults '{"op-timeout":"5ms"}'
both refuse "a connect-timeout above its maximum" "defaults.connect-timeout: 61s is out of range" defaults '{"connect-timeout":"61s"}'
both refuse "a renew-every above its maximum" "defaults.renew-every: 21m is out of range" defaults '{"renew-every":"21m","ttl":"1h"}'
both refuse "a max-ttl above its maximum" "defaults.max-ttl: 1h1ms is out of range" defaults '{"max-ttl":"1h1ms"}'
both refuse "a max-run above its maximum" "defaults.max-run: 366d is out of range" defaults '{"max-run":"366d"}'
both refuse "a once-ttl of zero" "defaults.once-ttl: 0s is out of range" defaults '{"once-ttl":"0s"}'
both refuse "min-replicas above their maximum" "defaults.min-replicas: 33 is out of range. Allowed: 0 to 32" defaults '{"min-replicas":33,"strict":true}'
both refuse "a user name that is too long" "defaults.redis-username" defaults "{\"redis-username\":\"$(printf 'a%.0s' {1..201})\"}"
both refuse "a key prefix that is too long" "defaults.key-prefix" defaults "{\"key-prefix\":\"$(printf 'a%.0s' {1..101})\"}"
both refuse "a key prefix with a brace" "key-prefix" defaults '{"key-prefix":"a{"}'
both refuse "an empty user name" "redis-username" defaults '{"redis-username":""}'
both refuse "units in another order" "ttl" defaults '{"ttl":"5s1m"}'
both refuse "a unit twice" "ttl" defaults '{"ttl":"5m5m"}'
both refuse "a duration that is too long" "max-run" defaults '{"max-run":"99999999999999d"}'
both refuse "a skip-command without a program" "skip-command" defaults '{"skip-command":[""]}'
both refuse "a skip-command that is no JSON" "skip-command" defaults '{"skip-command":"echo"}'
both accept "the limits themselves" "" defaults '{"ttl":"1h","connect-timeout":"100ms","max-run":"365d","min-hold":"7d","once-ttl":"1m","kill-after":0,"max-ttl":"5s","renew-every":"20m"}'
both accept "mixed units and arrays" "" defaults '{"ttl":"1m30s","wait-timeout":"1d1ms","skip-command":"[ \"sh\", \"-c\", \"echo \\\"a\\\"\" ]"}'
both accept "a key prefix of all characters" "" defaults '{"key-prefix":"!\"#a|~:"}'
check "a key prefix that is too long only with the name of the cluster" refused_with "defaults.key-prefix" "${BASE[@]}" \
  --set clusterName="$(printf 'a%.0s' {1..63})",separateClusters=true --set-string defaults.key-prefix="$(printf 'b%.0s' {1..40})"

# ---- renew-every and op-timeout against ttl: the inequality of src/core/lease.cc ----
both refuse "a renew-every that the default ttl does not permit" "defaults: ttl 2m is too short for renew-every 120000ms" defaults '{"renew-every":"2m"}'
for ttl in 5s 6s 29s 30s 31s 2m 1h; do
  for times in 1s:1s 2500ms:900ms 25s:1s 26s:500ms 20m:1m 90s:10s; do
    options="{\"ttl\":\"$ttl\",\"renew-every\":\"${times%:*}\",\"op-timeout\":\"${times#*:}\"}"
    verdict=refuse
    [ ! -x "$OPERATOR" ] || ! operator_accepts "{\"defaults\":$options}" >/dev/null || verdict=accept
    if [ "$verdict" = accept ]; then
      check "$options: accepted, as by the operator" chart_template "${BASE[@]}" --set-json "defaults=$options"
    elif [ -x "$OPERATOR" ]; then
      check "$options: refused, as by the operator" refused_with "is too short for renew-every" "${BASE[@]}" --set-json "defaults=$options"
    fi
  done
done
both refuse "a ttl of a selection below its minimum" "select[0].annotations.ttl: 3s is out of range" select '[{"namespace":"a","annotations":{"lock":"true","ttl":"3s"}}]'
check "a ttl of a selection and the default renew-every" refused_with "select[0].annotations: ttl 20s is too short" "${BASE[@]}" --set defaults.renew-every=18s \
  --set-json 'select=[{"namespace":"a","annotations":{"lock":"true","ttl":"20s"}}]'
check "in mode policy, too" refused_with "defaults.ttl: 2h is out of range" "${BASE[@]}" --set admission.mode=policy,clusterName=eu-1,defaults.ttl=2h
check "in mode policy: op-timeout" refused_with "defaults.op-timeout: 5ms" "${BASE[@]}" --set admission.mode=policy,clusterName=eu-1,defaults.op-timeout=5ms

# ---- select ----
rule() { printf '[{"namespace":"shop","annotations":%s}]' "$1"; }
both refuse "an unknown key" "tll" select "$(rule '{"lock":"true","tll":"5m"}')"
both refuse "an option that is no annotation" "renew-every" select "$(rule '{"lock":"true","renew-every":"5s"}')"
both refuse "a key of the operator" "injected" select "$(rule '{"lock":"true","injected":"1"}')"
both refuse "a reserved word" 'select[0].annotations.lock: "Yes" is a word for yes or no' select "$(rule '{"lock":"Yes"}')"
both refuse "a number that is a reserved word" 'select[0].annotations.lock: "1" is a word' select "$(rule '{"lock":1}')"
both refuse "a lock with a blank" 'select[0].annotations.lock: "a b" is not the name of a lock' select "$(rule '{"lock":"a b"}')"
both refuse "an empty lock" 'select[0].annotations.lock: "" is not the name' select "$(rule '{"lock":""}')"
both refuse "a lock whose name is too long with the namespace" "has 201 characters" select "$(rule "{\"lock\":\"$(printf 'a%.0s' {1..196})\"}")"
both refuse "a ttl out of range" "select[0].annotations.ttl: 2h is out of range" select "$(rule '{"lock":"true","ttl":"2h"}')"
both refuse "slots out of range" "select[0].annotations.slots: 5000 is out of range. Allowed: 1 to 1000" select "$(rule '{"lock":"true","slots":5000}')"
both refuse "an unknown word" "on-busy" select "$(rule '{"lock":"true","on-busy":"queue"}')"
both refuse "a scope of another kind" "lock-scope" select "$(rule '{"lock":"a","lock-scope":"world"}')"
both refuse "a cluster-wide lock without permission" "Add it to clusterLockNamespaces" select "$(rule '{"lock":"a","lock-scope":"cluster"}')"
check "a cluster-wide lock without a name" refused_with "needs a name" "${BASE[@]}" --set 'clusterLockNamespaces={shop}' \
  --set-json "select=$(rule '{"lock":true,"lock-scope":"cluster"}')"
both refuse "once-per-schedule that is no boolean" "once-per-schedule" select "$(rule '{"lock":"true","once-per-schedule":"daily"}')"
both refuse "a command that is no JSON" "command" select "$(rule '{"lock":"true","command":"python3"}')"
both refuse "a Secret that cannot exist" "store-secret" select "$(rule '{"lock":"true","store-secret":"A_B"}')"
both refuse "an alert-after below its minimum" "select[0].annotations.alert-after: 59s is out of range" select "$(rule '{"lock":"true","alert-after":"59s"}')"
both accept "each annotation" "" select "$(rule '{"lock":"nightly","ttl":"5m","on-busy":"wait","skip-command":"[\"sh\"]","wait-timeout":0,"slots":3,"min-hold":"1m",
  "max-run":"30m","kill-after":"20s","leftovers":"wait","guardian":"off","warn-after":"20m","on-lost":"term","on-store-down":"wait","once-ttl":"7d",
  "lock-scope":"namespace","once-per-schedule":true,"container":"main","command":"[\"python3\", \"main.py\"]","store-secret":"locks","alert-after":"off"}')"
both accept "a fraction as lock" "" select "$(rule '{"lock":1.5}')"
for slots in 02 08 0000000000010 01000; do both accept "slots $slots" "" select "$(rule "{\"lock\":\"true\",\"slots\":\"$slots\"}")"; done
both refuse "slots 00" "select[0].annotations.slots: 00 is out of range" select "$(rule '{"lock":"true","slots":"00"}')"
both refuse "slots 01001" "select[0].annotations.slots: 01001 is out of range" select "$(rule '{"lock":"true","slots":"01001"}')"
both accept "min-replicas 00" "" defaults '{"min-replicas":"00"}'
both accept "min-replicas 08" "" defaults '{"min-replicas":"08","strict":true}'
both refuse "min-replicas 08 without strict" "min-replicas is set without defaults.strict" defaults '{"min-replicas":"08"}'
both refuse "min-replicas 040" "defaults.min-replicas: 040 is out of range" defaults '{"min-replicas":"040","strict":true}'
both accept "a boolean and a number as lock" "" select '[{"namespace":"a","annotations":{"lock":true}},{"namespace":"b","annotations":{"lock":2024,"alert-after":"1m"}},{"namespace":"c","annotations":{"lock":false}}]'

# ---- cronJobs ----
written_out() { printf '{"a":{"schedule":"@daily","image":"i","command":["a"],%s}}' "$1"; }
refuses_written_out() { check "cronJobs: $1" refused_with "$2" "${BASE[@]}" --set-json "cronJobs=$(written_out "$3")"; }
refuses_written_out "a ttl out of range" "cronJobs.a.options.ttl: 2h is out of range" '"options":{"ttl":"2h"}'
refuses_written_out "slots out of range" "cronJobs.a.options.slots: 5000 is out of range" '"options":{"slots":5000}'
refuses_written_out "slots that are no number" "slots" '"options":{"slots":"many"}'
check "cronJobs: a ttl that is too short for the default renew-every" refused_with "cronJobs.a.options: ttl 20s is too short" "${BASE[@]}" \
  --set defaults.renew-every=18s --set-json "cronJobs=$(written_out '"options":{"ttl":"20s"}')"
# Without the operator, only the options of each run count.
NO_OPERATOR=("${BASE[@]}" --set operator.enabled=false)
check "cronJobs without the operator: defaults that only its own ttl permits" chart_template "${NO_OPERATOR[@]}" --set defaults.renew-every=5m \
  --set-json "cronJobs=$(written_out '"options":{"ttl":"1h"}')"
check "cronJobs without the operator: defaults out of range that its own value replaces" chart_template "${NO_OPERATOR[@]}" --set defaults.ttl=2h \
  --set-json "cronJobs=$(written_out '"options":{"ttl":"1h"}')"
check "cronJobs without the operator: its own ttl does not permit the defaults" refused_with "cronJobs.a.options: ttl 10m is too short" "${NO_OPERATOR[@]}" \
  --set defaults.renew-every=15m --set-json "cronJobs=$(written_out '"options":{"ttl":"10m"}')"
check "cronJobs without the operator: defaults out of range" refused_with "defaults.connect-timeout: 61s is out of range" "${NO_OPERATOR[@]}" \
  --set defaults.connect-timeout=61s --set-json "cronJobs=$(written_out '"options":{"ttl":"1h"}')"
check "with the operator, the defaults alone are refused" refused_with "defaults: ttl 2m is too short" "${BASE[@]}" --set defaults.renew-every=5m \
  --set-json "cronJobs=$(written_out '"options":{"ttl":"1h"}')"
render "${BASE[@]}" --set defaults.wait-timeout=10m --set-json "cronJobs=$(written_out '"options":{"wait-timeout":0}')"
check "cronJobs: a zero replaces the value of defaults" holds 'one("CronJob"; "a").spec.jobTemplate.spec.template.spec.containers[0].command | index("--wait-timeout=0")'
finish
