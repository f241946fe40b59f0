#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The look-up of images: what is mounted, opened and allowed for it when it is on, and that nothing of it is left when it is off.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

POD='one("Deployment"; "cronlatch-operator").spec.template.spec'
SETTINGS='one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]'
SECRETS='[.[] | select(.kind == "Role" or .kind == "ClusterRole") | .metadata as $m | .rules[]
  | select((.resources | index("secrets")) and (.verbs | index("get"))) | select(.resourceNames == null) | $m.namespace]'

render "${BASE[@]}"
check "it is on by default, for registries that everybody knows" holds "$SETTINGS"' | contains("lookup: true") and contains("\"docker.io\"") and contains("\"ghcr.io\"")'
check "by default no Secret may be read but the operator's own" holds "$SECRETS == []"
check "logins pass through memory only" holds "$POD"'.volumes | map(select(.name == "tmp")) == [{name: "tmp", emptyDir: {medium: "Memory", sizeLimit: "32Mi"}}]'
check "no login is mounted" holds "$POD"'.volumes[0].projected.sources | tostring | contains("registries/") | not'

render --values "$CHART/ci/gating-values.yaml"
check "a Secret with logins and a ConfigMap with authorities are mounted as files" holds "$POD"'.volumes[0].projected.sources
  | any(.secret.name == "logins" and .secret.items == [{key: ".dockerconfigjson", path: "registries/config.json"}])
    and any(.configMap.name == "authorities" and .configMap.items == [{key: "ca.crt", path: "registries/ca.crt"}])'
check "Secrets may be read in the named namespaces and in no other" holds "$SECRETS | sort == [\"charts\", \"reports\"]"
check "each of them has a binding for the operator" holds '[.[] | select(.kind == "RoleBinding" and (.metadata.name | endswith("-logins")))
  | {n: .metadata.namespace, s: .subjects[0].name, r: .roleRef.name}] | length == 2 and all(.[]; .s == "cronlatch-operator" and (.r | endswith("-logins")))'

render "${BASE[@]}" --set entrypointLookup.enabled=false --set 'entrypointLookup.pullSecretNamespaces={shop}'
check "switched off: nobody is asked" holds "$SETTINGS"' | contains("lookup: false") and (contains("lookup-") | not)'
check "switched off: no directory, no right" holds "($POD"'.volumes | map(.name) | index("tmp") | not) and '"($SECRETS == [])"

check "a registry with a path is refused" refused_with "registries" "${BASE[@]}" --set 'entrypointLookup.registries={ghcr.io/team}'
check "a registry with a login is refused" refused_with "registries" "${BASE[@]}" --set 'entrypointLookup.registries={me@ghcr.io}'
check "an unknown key is refused" refused_with "entrypointLookup" "${BASE[@]}" --set entrypointLookup.on=true
finish
