#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# helm upgrade replaces the operator's pods while annotated Jobs are created continuously: none is refused, none is ungated.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob report lock=true -- "$HOLD"
start_job report holder
needs "a run holds the lock" holds holder
start_load report

upgrade() { set_values --set logLevel="$1"; }
generation() { kubectl -n cronlatch get deployment cronlatch-operator -o 'jsonpath={.status.observedGeneration}'; }
before=$(generation)
check "helm upgrade with a changed setting succeeds" upgrade debug
check "the Deployment of the operator was changed" [ "$(generation)" -gt "$before" ]
check "helm upgrade to the earlier setting succeeds" upgrade info
end_load
check "no admission failed meanwhile" none_failed
check "every Job of the load was gated" all_gated
check "the holder still runs" unfinished holder
end_command holder
becomes "the holder completes" complete holder
finish
