#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The image lookup: volumes, settings and rights when it is enabled, and none of them when it is disabled.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

POD='one("Deployment"; "cronlatch-operator").spec.template.spec'
SETTINGS='one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]'
SECRETS='[.[] | select(.kind == "Role" or .kind == "ClusterRole") | .metadata as $m | .rules[]
  | select((.resources | index("secrets")) and (.verbs | index("get"))) | select(.resourceNames == null) | $m.namespace]'

render "${BASE[@]}"
check "it is enabled by default, for well-known registries" holds "$SETTINGS"' | contains("lookup: true") and contains("\"docker.io\"") and contains("\"ghcr.io\"")'
check "by default the operator may read only its own Secrets" holds "$SECRETS == []"
check "logins are stored in memory only" holds "$POD"'.volumes | map(select(.name == "tmp")) == [{name: "tmp", emptyDir: {medium: "Memory", sizeLimit: "32Mi"}}]'
check "no login is mounted" holds "$POD"'.volumes[0].projected.sources | tostring | contains("registries/") | not'

render --values "$CHART/ci/gating-values.yaml"
check "a Secret with logins and a ConfigMap with CA certificates are mounted as files" holds "$POD"'.volumes[0].projected.sources
  | any(.secret.name == "logins" and .secret.items == [{key: ".dockerconfigjson", path: "registries/config.json"}])
    and any(.configMap.name == "authorities" and .configMap.items == [{key: "registries.pem", path: "registries/ca.crt"}])'
check "the operator may read Secrets in pullSecretNamespaces and in no other namespace" holds "$SECRETS | sort == [\"charts\", \"reports\"]"
check "it may read ServiceAccounts, which name Secrets, in the same namespaces" holds '[.[] | select(.kind == "Role" or .kind == "ClusterRole")
  | .metadata.namespace as $n | .rules[] | select(.resources | index("serviceaccounts")) | {n: $n, v: .verbs}] | sort_by(.n)
  == [{n: "charts", v: ["get"]}, {n: "reports", v: ["get"]}]'
check "each of them has a binding for the operator" holds '[.[] | select(.kind == "RoleBinding" and (.metadata.name | endswith("-logins")))
  | {n: .metadata.namespace, s: .subjects[0].name, r: .roleRef.name}] | length == 2 and all(.[]; .s == "cronlatch-operator" and (.r | endswith("-logins")))'

render "${BASE[@]}" --set entrypointLookup.caConfigMap=authorities
check "the key of the CA certificates is ca.crt by default" holds "$POD"'.volumes[0].projected.sources
  | any(.configMap.name == "authorities" and .configMap.items == [{key: "ca.crt", path: "registries/ca.crt"}])'

render "${BASE[@]}" --set entrypointLookup.enabled=false --set 'entrypointLookup.pullSecretNamespaces={shop}'
check "disabled: the settings contain no lookup" holds "$SETTINGS"' | contains("lookup: false") and (contains("lookup-") | not)'
check "disabled: no directory, no right" holds "($POD"'.volumes | map(.name) | index("tmp") | not) and '"($SECRETS == [])"

check "disabled: no right to get CronJobs, whose pull Secrets it would use" holds '[.[] | select(.kind == "ClusterRole") | .rules[] | select(.resources == ["cronjobs"]).verbs]
  == [["list", "watch", "patch"]]'

check "a registry with a path is refused" refused_with "registries" "${BASE[@]}" --set 'entrypointLookup.registries={ghcr.io/team}'
check "a registry with a login is refused" refused_with "registries" "${BASE[@]}" --set 'entrypointLookup.registries={me@ghcr.io}'
check "an unknown key is refused" refused_with "entrypointLookup" "${BASE[@]}" --set entrypointLookup.on=true
finish
