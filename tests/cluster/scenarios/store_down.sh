#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without the right credentials, and without a store, a gated Job fails and says why; nothing runs ungated.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob report lock=true -- "echo never"
printf wrong >"$DIR/store/wrong"
k create secret generic wrong --from-file=password="$DIR/store/wrong" \
  "${STORE_FILES[@]}" >/dev/null
cronjob stranger lock=true store-secret=wrong -- "echo never"
start_job stranger refused >/dev/null
becomes "with a wrong password the Job fails" failed refused
check "its outcome is refused, for authentication" outcome_has refused '"outcome":"refused"' '"reason":"auth"'
check "its command did not run" eval '! says refused never'
finish
