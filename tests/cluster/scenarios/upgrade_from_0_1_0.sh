#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An upgrade from version 0.1.0, image and chart, and back, while Jobs are created: each is gated and completes, held locks
# and statistics are kept, a stuck release is repaired.
# DIST=FOLDER upgrades to the chart and the image of a release, as the user of a private registry does.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/uninstall.sh
source "$ROOT/tests/cluster/uninstall.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"

if ! OLD_IMAGE=$(bash "$ROOT/scripts/baseline.sh" image 2>"$DIR/log/baseline.log") || ! OLD_CHART=$(bash "$ROOT/scripts/baseline.sh" chart 2>"$DIR/log/baseline.log"); then
  skip "all checks" "$(tail -n 1 "$DIR/log/baseline.log")"
  finish
fi
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'CHART="" restore_release' EXIT
NEW=dev  # tag of the image
if [ -n "${DIST:-}" ]; then
  NEW=release
  CHART=$(find "$DIST" -name 'cronlatch-*.tgz')
  check "the image of the release is copied" skopeo copy --quiet "oci-archive:$(find "$DIST" -name 'cronlatch_*.oci.tar')" \
    "docker-archive:$DIR/release.tar:cronlatch.test/cronlatch:$NEW"
  load_image "$DIR/release.tar"
fi
upgrade() { upgrade_to "$1" --set image.tag="$NEW" "${@:2}"; }  # upgrade LEVEL OPTION...

old_chart() {  # old_chart install|upgrade OPTION...
  helm "$1" cronlatch "$OLD_CHART" --namespace cronlatch --values "$DIR/values.yaml" --set image.tag=0.1.0 --wait --timeout 3m "${@:2}"
}
state() { helm list --namespace cronlatch --all -o json | jq -r '.[] | select(.name == "cronlatch").status'; }
state_is() { [ "$(state)" = "$1" ] || { state && return 1; }; }
wrapper_of() { k get pod "$(pod_of "$1")" -o 'jsonpath={.spec.initContainers[0].image}'; }
statistics() {  # of the lock of the CronJob `report`
  local name
  for name in acquired skipped stolen; do echo "$name $(counter "lock_${name}_total" "$NS/report")"; done
}
wrapper_is() { [[ $(wrapper_of "$1") == *":$2" ]] || { wrapper_of "$1" && return 1; }; }

# ---- version 0.1.0 ----
load_image "$OLD_IMAGE"
check "this version is uninstalled" uninstall
becomes "its policies are deleted" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
needs "no object of it remains" nothing_left
check "version 0.1.0 is installed" old_chart install
cronjob report lock=true -- "$HOLD"
cronjob quick lock=true -- "echo ran"
needs "version 0.1.0 gates a CronJob" gated quick
start_job report holder
needs "a run of version 0.1.0 holds its lock" holds holder
check "that run uses the wrapper of version 0.1.0" wrapper_is holder 0.1.0

# ---- an uninstall that version 0.1.0 refused ----
refuses "version 0.1.0 refuses its uninstall" uninstall
check "after that, an upgrade of the release fails" refused_with "has no deployed releases" upgrade_to info
kubectl -n cronlatch delete job cronlatch-uninstall-guard >/dev/null
revision() { helm list --namespace cronlatch --all -o json | jq -r '.[] | select(.name == "cronlatch").revision'; }
check "helm rollback to the same revision succeeds" helm rollback cronlatch "$(revision)" --namespace cronlatch --wait --timeout 3m
check "the state of the release is deployed" state_is deployed
check "the CronJob is gated after the rollback to the same revision" gated quick

# ---- the upgrade ----
check "helm accepts values of version 0.1.0 that have no effect any more" upgrade info --reset-then-reuse-values --dry-run=server
cronjob steady lock=true -- "echo ran"
# step SENTENCE COMMAND...: the command succeeds, and so does each Job that is created meanwhile.
step() {
  start_load quick
  start_runs steady
  check "$@"
  end_load
  end_runs
  check "no admission failed meanwhile" none_failed
  check "each admitted Job was gated" all_gated
  check "each Job that ran meanwhile was gated and completed" runs_completed
}
step "helm upgrade to this version succeeds" upgrade info
policies_are_kept() {
  [ "$(kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings -o json |
    jq '[.items[] | select(.metadata.annotations["helm.sh/resource-policy"] == "keep")] | length')" -eq 4 ]
}
check "an uninstall will keep the policies" policies_are_kept
check "the run of version 0.1.0 still runs" unfinished holder
# Replicas of version 0.1.0 answer until the API server sends them no more requests.
admitted_by() {
  k create job probe --from=cronjob/report --dry-run=server -o 'jsonpath={.spec.template.spec.initContainers[0].image}' | grep ":$1\$"
}
becomes "a Job is admitted by this version" admitted_by "$NEW"
start_job report other
becomes "a Job of this version completes while the run of version 0.1.0 holds the lock" complete other
check "it uses the wrapper of this version" wrapper_is other "$NEW"
check "its outcome is skipped" outcome_has other '"outcome":"skipped"' '"reason":"held"'
end_command holder
becomes "the run of version 0.1.0 completes" complete holder
check "its outcome is ran" outcome_has holder '"outcome":"ran"'
becomes "the operator of this version reports it" event Acquired Job/holder "held lock $NS/report"
check "the other CronJob is gated" gated quick

# ---- rollback ----
start_job report second
needs "a run of this version holds the lock" holds second
check "that run uses the wrapper of this version" wrapper_is second "$NEW"
before=$(statistics)
step "helm rollback to version 0.1.0 succeeds" helm rollback cronlatch --namespace cronlatch --wait --timeout 3m
check "the CronJob is gated after the rollback" gated quick
check "the run of this version still runs" unfinished second
check "the statistics of its lock are the same" [ "$(statistics)" = "$before" ]
becomes "a Job is admitted by version 0.1.0" admitted_by 0.1.0
start_job report third
becomes "a Job of version 0.1.0 completes while the run of this version holds the lock" complete third
check "its outcome is skipped" outcome_has third '"outcome":"skipped"' '"reason":"held"'
end_command second
becomes "the run of this version completes" complete second
check "its outcome is ran" outcome_has second '"outcome":"ran"'
step "the upgrade succeeds again" upgrade debug
check "the CronJob is gated after the second upgrade" gated quick
finish
