#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example in manifests/examples is applied, and a Job of each CronJob is gated as the example says.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

in_here() { sed "s/namespace: demo$/namespace: $NS/" "$1"; }
applied() { in_here "$1" | k apply -f - 2>&1; }
# What a Job of the example would be, if it were created now: the first word of its first container's command.
first_word() {
  k create job "try-$2" --from="cronjob/$2" --dry-run=server -o 'jsonpath={.spec.template.spec.containers[0].command[0]}'
}
is_gated() { [ "$(first_word "$@")" = /cronlatch-bin/cronlatch ]; }
is_plain() { [ "$(first_word "$@")" = sh ]; }
not_for_this_namespace() { applied "$1" | grep -F 'may not use locks with cluster scope'; }

for example in "$ROOT"/manifests/examples/*.yaml; do
  file=$(basename -- "$example" .yaml)
  name=${file//_/-}
  case $file in
    lock_scope) check "$file: refused, because the platform did not allow this namespace" not_for_this_namespace "$example" ;;
    job_by_hand)
      check "$file: applied" applied "$example"
      becomes -t 120 "$file: it runs and completes" complete "$name"
      ;;
    nightly | lock_off)
      check "$file: applied" applied "$example"
      check "$file: its Jobs are left as they are" is_plain "$example" "$name"
      ;;
    *)
      check "$file: applied" applied "$example"
      check "$file: its Jobs are gated" is_gated "$example" "$name"
      ;;
  esac
done
finish
