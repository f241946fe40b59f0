#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart value `namespaces`: the operator has rights in these namespaces only, gates Jobs there, and records Events.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

restore() {
  set_values >/dev/null
  kubectl delete namespace "$NS" "$NS-other" --wait=false >/dev/null 2>&1
}
trap restore EXIT
make_namespace "$NS-other"
OPERATOR=system:serviceaccount:cronlatch:cronlatch-operator
may() { kubectl auth can-i "$1" "$2" --as="$OPERATOR" -n "$3"; }

check "control: by default the operator may list the pods of every namespace" may list pods "$NS-other"
check "the chart value namespaces is set" set_values --set "namespaces={$NS}"
check "the operator may list the pods of that namespace" may list pods "$NS"
refuses "the operator may not list the pods of another namespace" may list pods "$NS-other"
refuses "the operator may not patch the CronJobs of another namespace" may patch cronjobs "$NS-other"

cronjob nightly lock=true -- "$HOLD"
becomes "the webhook admits its Jobs" admitted nightly
start_job nightly holder
needs "its run holds the lock" holds holder
start_job nightly second
becomes "a second run completes" complete second
check "it was skipped" outcome_has second '"outcome":"skipped"'
becomes "the leader records an Event in that namespace" event Skipped CronJob/nightly "$(pod_of holder)"
end_command holder
becomes "the holder completes" complete holder

in_other() { NS=$NS-other "$@"; }
in_other cronjob outside lock=true -- "echo ran"
has_no_copy() { lacks cronlatch.dev k get cronjob outside -o 'jsonpath={.metadata.name}: {.spec.jobTemplate.metadata}'; }
check "an annotation in another namespace has no effect" in_other has_no_copy
errors() { kubectl -n cronlatch logs deployment/cronlatch-operator --since=1m | grep -i forbidden; }
check "no request of the operator was forbidden" finds_none eval 'errors || true'
finish
