#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The store's CA certificates from a ConfigMap: for the operator, for gates that are written out, and in the settings.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# The sources of the operator's volume that write the file of the CA.
OPERATOR='[one("Deployment"; "cronlatch-operator").spec.template.spec.volumes[] | select(.name == "config").projected.sources[]
  | (.secret // .configMap) | {name, optional, keys: [.items // [] | .[] | select(.path == "store/ca.crt").key]} | select(.keys != [])]'
GATE='[one("CronJob"; "nightly").spec.jobTemplate.spec.template.spec.volumes[] | select(.name == "cronlatch-store")]'
SETTINGS='one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]'
NIGHTLY=(--set 'cronJobs.nightly.schedule=@daily,cronJobs.nightly.image=i,cronJobs.nightly.command={a}')

render "${BASE[@]}" "${NIGHTLY[@]}"
check "by default the operator reads ca.crt of its Secret" holds "$OPERATOR"' == [{name: "cronlatch-store", optional: true, keys: ["ca.crt"]}]'
check "by default a written-out gate mounts the Secret" holds "$GATE"' == [{name: "cronlatch-store", secret: {secretName: "cronlatch-store", optional: true}}]'
check "by default the settings contain no ConfigMap" holds "$SETTINGS"' | contains("store-ca") | not'

render "${BASE[@]}" "${NIGHTLY[@]}" --set store.caConfigMap=platform-cas
check "the operator reads the ConfigMap and not ca.crt of its Secret: the API server refuses two sources of one path" \
  holds "$OPERATOR"' == [{name: "platform-cas", optional: true, keys: ["ca.crt"]}]'
check "the settings contain the ConfigMap and the default key" holds "$SETTINGS"' | contains("store-ca-config-map: \"platform-cas\"\nstore-ca-key: \"ca.crt\"\n")'

render "${BASE[@]}" "${NIGHTLY[@]}" --set store.caConfigMap=platform-cas,store.caConfigMapKey=bundle.pem
check "the operator reads another key" holds "$OPERATOR"' == [{name: "platform-cas", optional: true, keys: ["bundle.pem"]}]'
check "a written-out gate mounts the ConfigMap behind the Secret, so that its ca.crt replaces the Secret's" holds "$GATE"'[0].projected.sources == [
  {secret: {name: "cronlatch-store", optional: true}},
  {configMap: {name: "platform-cas", optional: true, items: [{key: "bundle.pem", path: "ca.crt"}]}}]'

check "an empty key is refused" refused_with "caConfigMapKey" "${BASE[@]}" --set store.caConfigMapKey=
finish
