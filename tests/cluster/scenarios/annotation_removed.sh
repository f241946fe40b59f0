#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# After the annotation is removed, the next run is not gated.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob report lock=true ttl=1m -- "echo ran; [ -z \"\$CRONLATCH_FENCE\" ] && echo ungated"
start_job report before
becomes "the first run completes" eval 'complete before || failed before'
check "the first run was gated" outcome_has before '"outcome":"ran"'

check "the annotations are removed" k annotate cronjob report cronlatch.dev/lock- cronlatch.dev/ttl-
becomes "their copy in the Job template is removed" lacks cronlatch.dev k get cronjob report -o 'jsonpath={.metadata.name}: {.spec.jobTemplate.metadata}'
start_job report after
becomes "the next run completes" complete after
check "the next run was not gated" log_has after ungated
finish
