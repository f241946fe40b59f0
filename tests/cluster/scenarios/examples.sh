#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example in manifests/examples is applied, and a Job of each CronJob is gated as the example describes.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

with_namespace() { sed "s/namespace: demo$/namespace: $NS/" "$1"; }
applied() { with_namespace "$1" | k apply -f - 2>&1; }
# The first word of the first container's command in a Job of the example, from a dry run.
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
    lock_scope) check "$file: refused, because the operator does not allow this namespace" not_for_this_namespace "$example" ;;
    job_by_hand)
      check "$file: applied" applied "$example"
      becomes -t 120 "$file: the Job completes" complete "$name"
      ;;
    nightly | lock_off)
      check "$file: applied" applied "$example"
      check "$file: its Jobs are not changed" is_plain "$example" "$name"
      ;;
    *)
      check "$file: applied" applied "$example"
      check "$file: its Jobs are gated" is_gated "$example" "$name"
      ;;
  esac
done
finish
