#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a person reads after an install: the next step, and each hazard that the values show, but no other.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# `helm template` renders no notes: a copy of the chart has them in a ConfigMap.
cp -r "$CHART" "$STAGE/chart"
cat >"$STAGE/chart/templates/said.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: said}
data:
  text: |
    {{- include "cronlatch.notes" . | nindent 4 }}
YAML
notes() {
  "$HELM" template cronlatch "$STAGE/chart" --namespace cronlatch --kube-version "$KUBE_VERSION" "$@" \
    --show-only templates/said.yaml | "$YQ" -r .data.text
}
says() {
  local text=$1 seen
  shift
  seen=$(notes "$@") || return 1
  [[ $seen == *"$text"* ]] || { printf 'no "%s" in:\n%s\n' "$text" "$seen" && return 1; }
}
says_no_hazard() {
  local seen
  seen=$(notes "$@") || return 1
  printf '%s\n' "$seen"
  [[ $seen != *"Look at this"* ]]
}

check "names the next step" says "annotate cronjob NAME cronlatch.dev/lock=true" "${BASE[@]}"
check "names the dashboards" says 'folder Latches' "${BASE[@]}" --set dashboards.enabled=true,dashboards.folder=Latches
check "sees no hazard in a good install" says_no_hazard "${BASE[@]}"
SELECT='select=[{"namespace":"shop","name":"etcd-*","annotations":{"lock":"true"}},{"namespace":"shop","labels":{"a":"b"},"annotations":{"lock":"x"}}]'
check "says what holds for CronJobs that are selected by name" says "by namespace and name (select[0]): the API server refuses such a CronJob" "${BASE[@]}" --set-json "$SELECT"
check "says what does not hold for those selected by labels" says "by labels (select[1]): the API server refuses a new or changed CronJob" "${BASE[@]}" --set-json "$SELECT"
check "a selection is no hazard" says_no_hazard "${BASE[@]}" --set-json "$SELECT"
mentions_select() { says "select" "${BASE[@]}"; }
refuses "says nothing of select where there is none" mentions_select
hazard() { check "warns of $1" says "$2" "${BASE[@]}" "${@:3}"; }
check "warns of no store" says "store.url is empty"
hazard "one replica" "one replica" --set replicaCount=1
hazard "a store without TLS" "not encrypted" --set store.url=redis://redis.shop.svc.cluster.local.
hazard "a host that is not fully qualified" 'Write "redis.shop.svc.cluster.local."' --set store.url=rediss://redis.shop.svc.cluster.local:6379
hazard "a host that other namespaces cannot resolve" "has no dot" --set store.url=rediss://redis
hazard "the host's network" "hostNetwork" --set hostNetwork=true
hazard "policies that are off" "policies are off" --set policies.enabled=false
hazard "policies that only warn" "do not deny" --set 'policies.validationActions={Warn}'
hazard "a selection without policies" "select without policies that deny" --set policies.enabled=false --set-json "$SELECT"
hazard "a selection that is only watched" "is not annotated until it is applied again" --set patchCronJobs=false --set-json "$SELECT"
hazard "no webhook" "annotated Jobs are refused" --set webhook.enabled=false
hazard "namespaces that are left out" "without a word" --set webhook.namespaceSelector.matchLabels.a=b
hazard "API servers that must show a certificate" "AdmissionConfiguration" --set webhook.clientCA.secretName=x
hazard "a certificate nobody trusts" "caBundle is empty" --set certificates.mode=existing,certificates.existingSecret=x
hazard "a monitor that was not rendered" "not rendered" --set podMonitor.enabled=true
hazard "rules that were not rendered" "prometheusRule.enabled, but" --set prometheusRule.enabled=true
hazard "alerts on what nobody scrapes" "CronlatchDown fires" --set prometheusRule.enabled=true
hazard "values of an uninstall that have no effect" "an uninstall always keeps the policies" --set uninstall.guard=false
check "says what to run before an uninstall" says "kubectl cronlatch uninstall-check" "${BASE[@]}"
hazard "a check that is off" "pretend to be the store" --set defaults.tls-skip-verify=true
check "takes an address for what it is" says_no_hazard --set store.url=rediss://10.0.0.7:6379
check "takes an IPv6 address for what it is" says_no_hazard --set 'store.url=rediss://[2001:db8::7]:6379'
check "says that annotations do nothing without an operator" says "Annotations do nothing" --values "$CHART/ci/no-operator-values.yaml"
finish
