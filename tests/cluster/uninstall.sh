# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions of the uninstall scenarios: kubectl cronlatch uninstall-check as a user runs it, the remaining objects of the
# chart, and whether a Job of a CronJob is gated, refused or runs without a lock. Sourced by scenarios.

# kubectl finds the plugin in PATH by its name.
user() { in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" "$@"; }

installed() { helm status cronlatch --namespace cronlatch; }
uninstall() { helm uninstall cronlatch --namespace cronlatch --wait --timeout 90s; }
upgrade_to() { set_values --set logLevel="$1" "${@:2}"; }  # upgrade_to LEVEL OPTION...: an upgrade that changes a setting
# Restores the release that the other scenarios use, with its own values, from any state.
restore_release() {
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
  installed >/dev/null 2>&1 && upgrade_to info >/dev/null 2>&1 && return
  helm uninstall cronlatch --namespace cronlatch --no-hooks --wait >/dev/null 2>&1
  helm upgrade --install cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --take-ownership \
    --wait --timeout 3m >/dev/null
}

PARTS=mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings
parts_left() {
  kubectl get "$PARTS" -o name | grep cronlatch
  kubectl -n cronlatch get all,leases -o name
  kubectl -n cronlatch get secret cronlatch-webhook-tls --ignore-not-found -o name
}
nothing_left() { finds_none parts_left; }
# The two policies and their bindings, and no other part.
only_policies_left() {
  local left
  left=$(parts_left)
  printf '%s\n' "$left"
  [ "$(grep -c '^validatingadmissionpolic' <<<"$left")" -eq 4 ] && [ "$(wc -l <<<"$left")" -eq 4 ]
}

# check_has EXIT-CODE TEXT OPTION...: uninstall-check exits with this code, and its output contains the text.
check_has() {
  local code=$1 text=$2 seen status=0
  shift 2
  seen=$(user kubectl cronlatch uninstall-check "$@" 2>&1) || status=$?
  printf 'exit code %s\n%s\n' "$status" "$seen"
  [ "$status" -eq "$code" ] && [[ $seen == *"$text"* ]]
}
# Runs the command that uninstall-check prints for a CronJob of this namespace, unchanged.
run_printed_command() {
  local command
  command=$(user kubectl cronlatch uninstall-check -o json |
    jq -r ".cronjobs[] | select(.namespace == \"$NS\" and .cronjob == \"$1\") | .remove_lock")
  echo "$command"
  [ -n "$command" ] && user bash -c "$command"
}

# refused CRONJOB: the policy refuses its Job; a webhook without an operator is another reason.
refused() { refused_with "requests a lock" k create job "refused-$RANDOM" --from="cronjob/$1"; }
# gated CRONJOB: a Job of it is admitted, acquires the lock and completes.
gated() {
  local job=gated-$RANDOM
  await 60 admitted "$1" >/dev/null && start_job "$1" "$job" && await "$PATIENCE" complete "$job" && outcome_has "$job" '"outcome":"ran"'
}
# ungated CRONJOB: a Job of it runs the user's command without a gate.
ungated() {
  local job=ungated-$RANDOM seen
  await 60 start_job "$1" "$job"
  seen=$(k get job "$job" -o 'jsonpath={.spec.template.spec.containers[0].command}')
  echo "$seen"
  [[ $seen != *cronlatch* ]] && await "$PATIENCE" complete "$job"
}
