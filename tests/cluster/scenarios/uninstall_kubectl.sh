#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# After an installation by kubectl from rendered manifests, a delete leaves the same policies, and a new install adopts them.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/uninstall.sh
source "$ROOT/tests/cluster/uninstall.sh"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'cleanup' EXIT

# The files of manifests/ with this cluster's store and image.
HELM=$TOOLS/helm
FILES=$(mktemp -d)
render() { render_operator "$DIR/values.yaml" "$@" >"$FILES/install.yaml" && render_policies "$DIR/values.yaml" >"$FILES/policies.yaml"; }
apply() { kubectl apply --server-side --force-conflicts -f "$FILES/policies.yaml" -f "$FILES/install.yaml"; }
delete_operator() { kubectl delete --ignore-not-found --wait --timeout=90s -f "$FILES/install.yaml"; }
cleanup() {
  [ ! -s "$FILES/install.yaml" ] || installed >/dev/null 2>&1 || delete_operator >/dev/null 2>&1
  restore_release
  rm -rf -- "$FILES"
}
rolled_out() { kubectl -n cronlatch rollout status deployment cronlatch-operator --timeout=120s; }

check "helm uninstall removes the release" uninstall
becomes "the policies are deleted" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
needs "no object of the release remains" nothing_left

render
check "kubectl apply installs the manifests" apply
needs "the operator is ready" rolled_out
cronjob report lock=true -- "echo ran"
needs "a CronJob is gated" gated report

check "kubectl delete -f install.yaml succeeds while a CronJob is annotated" delete_operator
becomes "only the policies remain, as after helm uninstall" only_policies_left
check "a Job of the CronJob is refused" refused report
check "uninstall-check lists the CronJob" check_has 1 "refused by policy cronlatch-gated-jobs"
check "uninstall-check deletes no policy" check_has 1 "nothing was deleted" --remove

check "kubectl apply installs the manifests again" apply
check "the operator is ready again" rolled_out
check "the CronJob is gated again" gated report
render --set logLevel=debug
check "an upgrade by kubectl apply works after that" apply
check "the changed operator is ready" rolled_out
check "the CronJob is gated after the upgrade" gated report

# ---- from kubectl to helm, with the remaining policies ----
check "kubectl deletes the operator again" delete_operator
becomes "only the policies remain again" only_policies_left
check "helm does not adopt the objects of kubectl without --take-ownership" refused_with "invalid ownership metadata" \
  helm install cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml"
adopt() {
  helm upgrade --install cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --take-ownership \
    --wait --timeout 3m
}
check "helm adopts the objects with --take-ownership" adopt
check "the CronJob is gated by helm's release" gated report
check "an upgrade of the release works" upgrade_to debug
finish
