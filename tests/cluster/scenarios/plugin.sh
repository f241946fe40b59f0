#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubectl cronlatch, run by a real kubectl, lists, describes and says why; release stops a holder in a restricted namespace.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

# kubectl finds the plugin in PATH by its name; the plugin runs kubectl.
ask() { in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" kubectl cronlatch "$@" -n "$NS"; }
answer_has() {  # answer_has TEXT ARGUMENT...: its answer, on either stream, holds the text
  local text=$1 seen
  shift
  seen=$(ask "$@" 2>&1)
  [[ $seen == *"$text"* ]] || { printf 'no %s in: %s\n' "$text" "$seen" && return 1; }
}
field_is() {  # field_is CRONJOB FIELD VALUE
  [ "$(ask ls -o json | jq -r ".cronjobs[] | select(.cronjob == \"$1\") | .$2")" = "$3" ]
}
cause_is() {  # cause_is CRONJOB CODE
  local seen
  seen=$(ask why "$1" -o json | jq -r '.findings[0].code')
  [ "$seen" = "$2" ] || { echo "the cause is $seen" && return 1; }
}

cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
cronjob plain -- "echo plain"
check "gated CronJobs are listed" answer_has shared ls
check "others are not" lacks plain ask ls
check "one that was never due says so" cause_is first not_due
check "one without a lock says so" answer_has "requests no lock" why plain

start_job first holder
needs "the first holds the lock" holds holder
becomes "the operator's page tells the holder, through the API server" field_is first holder "$NS/$(pod_of holder)"
becomes "and the state" field_is first state held
start_job second other
becomes "the second is skipped" complete other
check "why says so" cause_is second skipped
check "and by whom" answer_has "held by $NS/$(pod_of holder)" why second
check "the list says by whom, too" answer_has "held by $NS/$(pod_of holder)" ls
check "describe shows its run" answer_has "skipped (held)" describe second
check "without the page pods say who runs" answer_has "no live lock state" ls --status none

check "a release without --force does nothing, and says whom it would stop" refused_with "$(pod_of holder)" ask release first
check "a dry run is accepted by the API server" answer_has "the API server accepts the Job" release first --dry-run
check "the holder still runs" unfinished holder
check "a release with --force" answer_has "revoked the lease of $NS/$(pod_of holder)" release first --force
becomes "the holder's command was stopped" failed holder
check "why says that its lease was revoked" answer_has "revoked its lease" why first
becomes "nothing of the release stays" finds_none k get jobs -l app.kubernetes.io/component=release -o name

IMAGE=cronlatch.test/no-such:1 cronjob broken lock=true -- "echo never"
start_job broken pull
becomes "an image that cannot be had is the cause" cause_is broken image
finish
