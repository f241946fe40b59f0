#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NOTES.txt contains the next steps and a warning for each dangerous value, and no other warning.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# `helm template` renders no notes: a copy of the chart has them in a ConfigMap.
cp -r "$CHART" "$STAGE/chart"
cat >"$STAGE/chart/templates/notes.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data:
  text: |
    {{- include "cronlatch.notes" . | nindent 4 }}
YAML
notes() {
  "$HELM" template cronlatch "$STAGE/chart" --namespace cronlatch --kube-version "$KUBE_VERSION" "$@" \
    --show-only templates/notes.yaml | "$YQ" -r .data.text
}
notes_contain() {
  local text=$1 seen
  shift
  seen=$(notes "$@") || return 1
  [[ $seen == *"$text"* ]] || { printf 'no "%s" in:\n%s\n' "$text" "$seen" && return 1; }
}
notes_lack() {
  local text=$1 seen
  shift
  seen=$(notes "$@") || return 1
  [[ $seen != *"$text"* ]] || { printf '%s\n' "$seen" && return 1; }
}
no_warning() {
  local seen
  seen=$(notes "$@") || return 1
  printf '%s\n' "$seen"
  [[ $seen != *"Warnings:"* ]]
}

check "the notes contain the next step" notes_contain "annotate cronjob NAME cronlatch.dev/lock=true" "${BASE[@]}"
check "the notes contain the dashboards" notes_contain 'folder Latches' "${BASE[@]}" --set dashboards.enabled=true,dashboards.folder=Latches
check "the default values give no warning" no_warning "${BASE[@]}"
SELECT='select=[{"namespace":"shop","name":"etcd-*","annotations":{"lock":"true"}},{"namespace":"shop","labels":{"a":"b"},"annotations":{"lock":"x"}}]'
check "the notes describe CronJobs that are selected by name" notes_contain "by namespace and name (select[0]): the API server refuses such a CronJob" "${BASE[@]}" --set-json "$SELECT"
check "the notes describe CronJobs that are selected by labels" notes_contain "by labels (select[1]): the API server refuses a new or changed CronJob" "${BASE[@]}" --set-json "$SELECT"
check "a selection gives no warning" no_warning "${BASE[@]}" --set-json "$SELECT"
mentions_select() { notes_contain "select" "${BASE[@]}"; }
refuses "the notes do not mention select without a selection" mentions_select
names_test() { notes_contain "test cronlatch" "${BASE[@]}" "$@"; }
check "the notes name the test of the chart" names_test
refuses "but not where it is not rendered: without the webhook" names_test --set webhook.enabled=false
refuses "but not where it is not rendered: with helmTest.enabled=false" names_test --set helmTest.enabled=false
refuses "but not where it is not rendered: with other namespaces" names_test --set 'namespaces={shop}'
refuses "but not where it is not rendered: with another namespace selected by its name" names_test --set 'webhook.namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=shop'
check "with a selector, the notes contain why the test can fail" notes_contain "does not select namespace cronlatch" "${BASE[@]}" --set webhook.namespaceSelector.matchLabels.team=a
hazard() { check "warning: $1" notes_contain "$2" "${BASE[@]}" "${@:3}"; }
check "warning: no store" notes_contain "store.url is empty"
hazard "one replica" "one replica" --set replicaCount=1
hazard "no replica" "replicaCount is 0: no operator runs" --set replicaCount=0
check "which is not one replica" notes_lack "one replica" "${BASE[@]}" --set replicaCount=0
check "with ha there are three" no_warning "${BASE[@]}" --set replicaCount=0,ha.enabled=true
hazard "a store without TLS" "not encrypted" --set store.url=redis://redis.shop.svc.cluster.local.
hazard "a PostgreSQL without TLS" "sslmode=disable and is not encrypted" --set 'store.url=postgres://cron@db.example./cronlatch?sslmode=disable'
hazard "a PostgreSQL that is not verified" "certificate is not verified" --set 'store.url=postgres://cron@db.example./cronlatch?sslmode=require'
check "a verified PostgreSQL gives no warning" no_warning --set store.url=postgres://cron@db.example./cronlatch
check "the notes of a PostgreSQL store contain the command that creates the schema" \
  notes_contain "--store 'postgres://OWNER@db.example./cronlatch'" --set store.url=postgres://cron@db.example./cronlatch
mentions_init() { notes_contain "store init" "${BASE[@]}"; }
refuses "the notes of a Redis store do not contain it" mentions_init
hazard "a host that is not fully qualified" 'Write "redis.shop.svc.cluster.local."' --set store.url=rediss://redis.shop.svc.cluster.local:6379
hazard "a host that other namespaces cannot resolve" "has no dot" --set store.url=rediss://redis
hazard "selected namespaces" "namespaces: annotations in other namespaces" --set 'namespaces={shop}'
hazard "the host's network" "hostNetwork" --set hostNetwork=true
hazard "a user namespace on the host's network" "UserNamespacesHostNetworkSupport" --set hostNetwork=true --set-json hostUsers=false
warns_of_users() { notes_contain "hostUsers" "${BASE[@]}" "$@"; }
refuses "but not with the host's users" warns_of_users --set hostNetwork=true --set-json hostUsers=true
refuses "but not with a user namespace alone" warns_of_users --set-json hostUsers=false
hazard "the host's network with a port for the metrics" "8080 and 8444 must be free" --set hostNetwork=true,metrics.auth=token
hazard "a NetworkPolicy without addresses" "networkPolicy without apiServerCIDRs" --set networkPolicy.enabled=true
check "a NetworkPolicy with addresses gives no warning" no_warning "${BASE[@]}" --set 'networkPolicy.enabled=true,networkPolicy.apiServerCIDRs={192.0.2.1/32}'
hazard "readers without tokens" "metrics.readers has no effect" --set 'metrics.readers[0].kind=User,metrics.readers[0].name=x'
check "the notes contain the right that Prometheus needs" notes_contain "--clusterrole=cronlatch-metrics-reader" "${BASE[@]}" --set metrics.auth=token
check "metrics with tokens give no warning" no_warning "${BASE[@]}" --set metrics.auth=token
hazard "disabled policies" "policies are disabled" --set policies.enabled=false
hazard "policies that only warn" "has no Deny" --set 'policies.validationActions={Warn}'
hazard "a selection without policies" "select without policies that deny" --set policies.enabled=false --set-json "$SELECT"
hazard "a selection without patchCronJobs" "is not annotated until it is applied again" --set patchCronJobs=false --set-json "$SELECT"
hazard "no webhook" "annotated Jobs are refused" --set webhook.enabled=false
hazard "a webhook that cannot wait for a lookup" "webhook.timeoutSeconds below 4" --set webhook.timeoutSeconds=3
check "a webhook that waits for a lookup gives no warning" no_warning "${BASE[@]}" --set webhook.timeoutSeconds=4
check "a shorter wait without lookups gives no warning" no_warning "${BASE[@]}" --set webhook.timeoutSeconds=1,entrypointLookup.enabled=false
hazard "excluded namespaces" "this is not reported" --set webhook.namespaceSelector.matchLabels.a=b
hazard "API servers that must send a client certificate" "AdmissionConfiguration" --set webhook.clientCA.secretName=x
hazard "a certificate without caBundle" "caBundle is empty" --set certificates.mode=existing,certificates.existingSecret=x
hazard "two monitors" "scrapes each pod twice" --set serviceMonitor.enabled=true,podMonitor.enabled=true
check "but not of one" notes_lack "scrapes each pod twice" "${BASE[@]}" --set serviceMonitor.enabled=true
hazard "dashboards without the recording rules" "have no data" --set dashboards.enabled=true
hazard "a monitor that was not rendered" "not rendered" --set podMonitor.enabled=true
hazard "rules that were not rendered" "prometheusRule.enabled, but" --set prometheusRule.enabled=true
hazard "alerts on metrics that are not scraped" "CronlatchDown fires" --set prometheusRule.enabled=true
hazard "values of an uninstall that have no effect" "an uninstall always keeps the policies" --set uninstall.guard=false
check "the notes contain the command before an uninstall" notes_contain "kubectl cronlatch uninstall-check" "${BASE[@]}"
hazard "a mounted image without a digest" "no digest: gated pods mount what the tag of ghcr.io/cronlatch/cronlatch:" --set injection=image-volume
hazard "a mounted image without a digest, with auto" "injection auto with an image that has no digest" --set injection=auto
hazard "the same in written-out gates" "that has no digest" --set operator.enabled=false,injection=image-volume,inject.image=mirror.corp/cronlatch:1
DIGEST=sha256:$(printf '0%.0s' {1..64})
check "a mounted image with a digest gives no warning" no_warning "${BASE[@]}" --set injection=image-volume,image.digest="$DIGEST"
check "inject.image with a digest gives no warning" no_warning "${BASE[@]}" --set injection=auto,inject.image="mirror.corp/cronlatch@$DIGEST"
OPEN="reaches port 8443 of the operator can send admission reviews"
check "the notes contain that the webhook's port is open" notes_contain "$OPEN" "${BASE[@]}"
says_open() { notes_contain "$OPEN" "${BASE[@]}" "$@"; }
refuses "but not with a NetworkPolicy" says_open --set 'networkPolicy.enabled=true'
refuses "but not with webhook.clientCA" says_open --set webhook.clientCA.secretName=x
refuses "but not without the webhook" says_open --set webhook.enabled=false
hazard "a disabled certificate check" "impersonate the store" --set defaults.tls-skip-verify=true
# Each word that the table of options calls unsafe, in each place.
for pair in on-lost=warn on-lost=term leftovers=leave on-store-down=run guardian=off; do
  hazard "$pair as a default" "defaults.$pair: " --set "defaults.$pair"
  hazard "$pair in select" "select[0].annotations.$pair: " --set-json "select=[{\"namespace\":\"a\",\"annotations\":{\"lock\":\"true\",\"${pair%=*}\":\"${pair#*=}\"}}]"
  hazard "$pair in cronJobs" "cronJobs.a.options.$pair: " --set operator.enabled=false \
    --set-json "cronJobs={\"a\":{\"schedule\":\"@daily\",\"image\":\"i\",\"command\":[\"a\"],\"options\":{\"${pair%=*}\":\"${pair#*=}\"}}}"
done
check "without the chart's objects, no option is unsafe" notes_lack "on-lost=warn" "${BASE[@]}" --set enabled=false,defaults.on-lost=warn \
  --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"on-lost":"warn"}}}'
check "the safe words give no warning" no_warning "${BASE[@]}" --set defaults.on-lost=kill,defaults.leftovers=wait,defaults.on-store-down=wait,defaults.guardian=auto,defaults.tls-skip-verify=false
unsafe_options() { jq -r '.definitions | .runOptions, .allOptions | .properties | to_entries[] | select(.value.description // "" | contains("unsafe")).key' "$CHART/values.schema.json" | sort; }
each_unsafe_option_is_listed() { [ "$(unsafe_options)" = "$(grep -oP '^ +"\K[a-z-]+(?==)' "$CHART/templates/_hazards_options.tpl" | grep -vx guardian | sort -u)" ]; }
check "each option that the table calls unsafe is listed" each_unsafe_option_is_listed
check "an IPv4 address gives no warning" no_warning --set store.url=rediss://10.0.0.7:6379
check "an IPv6 address gives no warning" no_warning --set 'store.url=rediss://[2001:db8::7]:6379'
check "the notes state that annotations have no effect without an operator" notes_contain "Annotations have no effect" --values "$CHART/ci/no-operator-values.yaml"
# ---- values without an effect ----
unused() {  # unused VALUE ASSIGNMENT OPTION...: the note names the value, and not with the option that uses it
  hazard "$1 without effect" "$1" --set "$2"
  check "but not where it is used: ${*:3}" notes_lack "  * $1" "${BASE[@]}" --set "$2" "${@:3}"
}
unused copier.source copier.source=x --set 'copier.namespaces={shop}'
unused "copier.namespaces without copier.source" 'copier.namespaces={shop}' --set copier.source=x
unused certificates.existingSecret certificates.existingSecret=x --set certificates.mode=existing
unused certificates.caBundle certificates.caBundle=-----BEGIN\ CERTIFICATE----- --set certificates.mode=existing,certificates.existingSecret=x
unused certificates.certManager.issuerRef certificates.certManager.issuerRef.name=x --set certificates.mode=cert-manager
unused networkPolicy.apiServerCIDRs 'networkPolicy.apiServerCIDRs={192.0.2.1/32}' --set networkPolicy.enabled=true
unused networkPolicy.storePorts 'networkPolicy.storePorts={7000}' --set networkPolicy.enabled=true
unused networkPolicy.extraEgress 'networkPolicy.extraEgress[0].ports[0].port=5353' --set networkPolicy.enabled=true
for key in dockerConfigSecret caConfigMap; do
  hazard "entrypointLookup.$key without lookups" "entrypointLookup.$key has no effect" --set "entrypointLookup.enabled=false,entrypointLookup.$key=x"
  check "but not with lookups" no_warning "${BASE[@]}" --set "entrypointLookup.$key=x"
done
hazard "pullSecretNamespaces without lookups" "entrypointLookup.pullSecretNamespaces has no effect" --set 'entrypointLookup.enabled=false,entrypointLookup.pullSecretNamespaces={shop}'
hazard "cluster-wide locks for another namespace" "clusterLockNamespaces: bank is not in namespaces" --set 'namespaces={shop},clusterLockNamespaces={shop,bank}'
hazard "a copy for another namespace" "copier.namespaces: bank is not in namespaces" --set 'namespaces={shop},copier.namespaces={bank},copier.source=x'
check "without namespaces, each namespace is served" no_warning "${BASE[@]}" --set 'clusterLockNamespaces={bank},copier.namespaces={bank},copier.source=x'
REDIS=(--set redis.enabled=true)
check "the Redis of the chart gives no warning" no_warning "${REDIS[@]}"
check "its notes contain what it is not, and its namespaces" notes_contain "It has no failover" "${REDIS[@]}"
check "its notes contain the namespaces" notes_contain "cronlatch, shop, and namespaces with the labels" "${REDIS[@]}" \
  --set 'redis.namespaces={shop}' --set redis.namespaceLabels.a=b
asks_for_a_secret() { notes_contain "create secret generic" "${REDIS[@]}"; }
refuses "its notes do not require a Secret" asks_for_a_secret
check "warning: a Redis without a volume" notes_contain "all locks are lost" "${REDIS[@]}" --set redis.persistence.enabled=false
hazard "namespaces without redis.enabled" "have no effect without redis.enabled" --set 'redis.namespaces={shop}'
finish
