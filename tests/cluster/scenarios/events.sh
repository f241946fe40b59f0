#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repeated skips are one Event of the CronJob with a count and the last note; a reason in events.skip has no Event.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
NS=$NS-$$  # the Events of earlier runs
fresh_namespace pod-security.kubernetes.io/warn=restricted

events() { k get events.v1.events.k8s.io -o json | jq -c "[.items[] | select(.regarding.kind == \"CronJob\" and .regarding.name == \"$1\" and .reason == \"$2\")]"; }
# counted CRONJOB REASON NUMBER: there is one Event of this count.
counted() { events "$1" "$2" | jq -e "length == 1 and (.[0].series.count // 1) == $3" >/dev/null; }
last_note() { events second Skipped | jq -e --arg pod "$(pod_of "$1")" '.[0].note | contains($pod)' >/dev/null; }
columns() { k describe cronjob second | grep -E "Skipped .*\(x$1 over "; }
none() { [ "$(events "$1" "$2")" = '[]' ]; }

cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
start_job first holder
needs "the first run holds the lock" holds holder
for i in 1 2 3 4; do
  start_job second "skipped$i"
  becomes "run $i is skipped" complete "skipped$i"
  becomes "one Event contains $i skips" counted second Skipped "$i"
done
check "its note is that of the last skip" last_note skipped4
check "kubectl describe shows the count" columns 4
end_command holder
becomes "the holder completes" complete holder
becomes "its run has an Event" counted first Acquired 1

restore() {
  set_values >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT
leader() { kubectl -n cronlatch get lease cronlatch-operator -o 'jsonpath={.spec.holderIdentity}'; }
before=$(leader)
other_leads() { local now; now=$(leader) && [ -n "$now" ] && [ "${now%-*}" != "${before%-*}" ]; }  # another ReplicaSet
needs "the chart is upgraded with events.skip" set_values --set 'events.skip={Acquired}'
await_rollout cronlatch cronlatch-operator
# The previous leader leads until it ends.
needs "a replica with the new settings leads" other_leads
cronjob third lock=true -- "echo ran"
start_job third quiet
becomes "a run completes" complete quiet
cronjob fourth lock=true on-busy=fail store-secret=missing -- "echo never"
start_job fourth refused
becomes "the Event of a later run exists" counted fourth Refused 1
check "the skipped reason has no Event" none third Acquired
finish
