#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# While the operator has no replica, annotated Jobs are refused with a reason, and every other Job runs.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
scale() { kubectl -n cronlatch scale deployment cronlatch-operator --replicas="$1"; }

cronjob gated lock=true -- "echo ran"
cronjob other -- "echo ran"
check "the operator is scaled to zero" scale 0
trap 'scale 2 >/dev/null; await_rollout cronlatch cronlatch-operator; kubectl delete namespace "$NS" --wait=false >/dev/null' EXIT
becomes "the operator has no pod" finds_none operator_pods

check "an annotated Job is refused, and the message contains the name of the webhook" \
  refused_with annotated-jobs-need-the-operator.cronlatch.dev start_job gated never
start_job other plain
becomes "a Job without annotation runs" complete plain
job by-hand -- "echo ran"
becomes "a Job without a CronJob runs" complete by-hand
check "a new annotation is refused, because the operator cannot copy it" \
  refused_with "missing or different in spec.jobTemplate.metadata.annotations" k annotate cronjob other cronlatch.dev/lock=true
check "a CronJob without annotation can be changed" k annotate cronjob other example.com/a=b

check "the operator is scaled up again" scale 2
await_rollout cronlatch cronlatch-operator
runs_again() { start_job gated again; }
becomes "an annotated Job is admitted again" runs_again
becomes "the Job completes" complete again
check "the Job was gated" outcome_has again '"outcome":"ran"'
finish
