#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The name of the cluster: in the settings and in written-out gates, the right to read it, and a key prefix of its own.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

SETTINGS='one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]'
COMMAND='one("CronJob"; "nightly").spec.jobTemplate.spec.template.spec.containers[0].command'
NAMESPACE_RULES='[one("ClusterRole"; "cronlatch-operator").rules[] | select(.resources | index("namespaces"))]'
NIGHTLY=(--set 'cronJobs.nightly.schedule=@daily,cronJobs.nightly.image=i,cronJobs.nightly.command={a}')

render "${BASE[@]}" "${NIGHTLY[@]}"
check "by default the operator may read kube-system, and no other namespace" holds "$NAMESPACE_RULES"'
  == [{apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"]}]'
check "by default the settings contain no name and no key prefix" holds "$SETTINGS"' | (contains("cluster-name") or contains("key-prefix")) | not'
check "by default the holder of a written-out gate has no cluster" holds "$COMMAND"' | index("--holder=cronlatch/$(CRONLATCH_POD)")'

render "${BASE[@]}" "${NIGHTLY[@]}" --set clusterName=eu-1
check "with a name the operator reads no namespace" holds "$NAMESPACE_RULES"' == []'
check "the settings contain the name" holds "$SETTINGS"' | contains("cluster-name: \"eu-1\"\n")'
check "the holder of a written-out gate contains the name" holds "$COMMAND"' | index("--holder=cronlatch/$(CRONLATCH_POD)@eu-1")'
check "a name alone does not change the keys" holds "$SETTINGS"' | contains("key-prefix") | not'

render "${BASE[@]}" "${NIGHTLY[@]}" --set clusterName=eu-1,separateClusters=true
check "separateClusters: the key prefix contains the name, for the operator, for gated Jobs and for written-out gates" holds "
  ($SETTINGS"' | contains("key-prefix: \"cronlatch:eu-1:\"")) and ('"$COMMAND"' | index("--key-prefix=cronlatch:eu-1:"))'
render "${BASE[@]}" --set clusterName=eu-1,separateClusters=true --set-string defaults.key-prefix=prod:
check "separateClusters keeps the key prefix of the values" holds "$SETTINGS"' | contains("key-prefix: \"prod:eu-1:\"")'

check "separateClusters requires a name" refused_with "Set clusterName" "${BASE[@]}" --set separateClusters=true
check "a name with another character is refused" refused_with "clusterName" "${BASE[@]}" --set clusterName=eu@1
finish
