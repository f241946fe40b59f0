#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubectl cronlatch, called by a real kubectl: ls, describe and why; release stops a holder in a restricted namespace.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

# kubectl finds the plugin in PATH by its name; the plugin runs kubectl.
plugin() { in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" kubectl cronlatch "$@" -n "$NS"; }
output_has() {  # output_has TEXT ARGUMENT...: its standard output or standard error contains the text
  local text=$1 seen
  shift
  seen=$(plugin "$@" 2>&1)
  [[ $seen == *"$text"* ]] || { printf 'no %s in: %s\n' "$text" "$seen" && return 1; }
}
field_is() {  # field_is CRONJOB FIELD VALUE
  [ "$(plugin ls -o json | jq -r ".cronjobs[] | select(.cronjob == \"$1\") | .$2")" = "$3" ]
}
ls_has() { client ls | grep -F "$NS/shared" | grep -F -- "$1"; }
cause_is() {  # cause_is CRONJOB CODE
  local seen
  seen=$(plugin why "$1" -o json | jq -r '.findings[0].code')
  [ "$seen" = "$2" ] || { echo "the first cause is $seen" && return 1; }
}

cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
cronjob plain -- "echo plain"
check "gated CronJobs are listed" output_has shared ls
check "a CronJob without annotations is not listed" lacks plain plugin ls
check "the cause of a CronJob that was never due is not_due" cause_is first not_due
check "why reports that a CronJob requests no lock" output_has "requests no lock" why plain

start_job first holder
needs "the first run holds the lock" holds holder
becomes "ls contains the holder, from the status page of the operator through the API server" field_is first holder "$NS/$(pod_of holder)"
becomes "ls contains the state" field_is first state held
start_job second other
becomes "the Job of the second CronJob completes" complete other
check "the cause of the second CronJob is skipped" cause_is second skipped
check "why contains the holder" output_has "held by $NS/$(pod_of holder)" why second
check "ls contains the holder for the skipped CronJob" output_has "held by $NS/$(pod_of holder)" ls
check "describe contains the skipped run" output_has "skipped (held)" describe second
check "without the status page, ls reports that it has no live lock state" output_has "no live lock state" ls --status none

check "release without --force is refused, and its message contains the holder" refused_with "$(pod_of holder)" plugin release first
check "the API server accepts a dry run of release" output_has "the API server accepts the Job" release first --dry-run
check "the holder still runs" unfinished holder
check "release with --force revokes the lease of the holder" output_has "revoked the lease of $NS/$(pod_of holder)" release first --force
becomes "the holder's command was stopped" failed holder
check "why contains the revocation of the lease" output_has "the lease was revoked" why first
becomes "the Job of the release is deleted" finds_none k get jobs -l app.kubernetes.io/component=release -o name

# A person keeps the lock from a shell: each skipped run has the reason.
reason="database maintenance, ticket 4711"
client hold "$NS/shared" --for 1h --reason "$reason" >/dev/null 2>&1 &
HOLD_PID=$!
becomes "ls contains the reason of a hold" output_has "$reason" ls
start_job second maintenance
becomes "a Job completes during the hold" complete maintenance
check "its outcome is skipped" outcome_has maintenance '"outcome":"skipped"' "$reason"
becomes "an Event on its CronJob contains the reason of the hold" event Skipped CronJob/second "$reason"
check "why contains the reason of the hold" output_has "held by $reason" why second
check "cronlatch ls contains the reason of the hold" ls_has "$reason"
check "release --force ends the hold" output_has "revoked the lease of $reason" release second --force
wait "$HOLD_PID"
check "the hold reports that it lost its lease" [ $? -eq 79 ]

IMAGE=cronlatch.test/no-such:1 cronjob broken lock=true -- "echo never"
start_job broken pull
becomes "the cause is image when the image cannot be pulled" cause_is broken image
finish
