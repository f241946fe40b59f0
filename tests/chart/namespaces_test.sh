#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value `namespaces`: a Role in each of them instead of a ClusterRole, and webhook and policies for them only.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

ROLES='[.[] | select(.kind == "Role" and .metadata.name == "cronlatch-runs") | {namespace: .metadata.namespace, rules}] | sort_by(.namespace)'
RIGHTS='map([.apiGroups[0], .resources[0], (.verbs | join(","))] | join(" "))'
SELECTORS='[one("MutatingWebhookConfiguration"; "cronlatch").webhooks[].namespaceSelector,
  (.[] | select(.kind == "ValidatingAdmissionPolicy" and .metadata.name != "cronlatch-operator-patches").spec.matchConstraints.namespaceSelector)]'

render "${BASE[@]}"
check "by default there is no such Role, and the ClusterRole reads runs" holds "($ROLES == []) and "'
  ([one("ClusterRole"; "cronlatch-operator").rules[].resources[0]] | index("jobs") and index("pods") and index("cronjobs"))'
check "by default webhook and policies select no namespace" holds "$SELECTORS == [null, null, null, null]"

render "${BASE[@]}" --set 'namespaces={shop,bank}'
check "each namespace has the Role" holds "$ROLES | map(.namespace) == [\"bank\", \"shop\"]"
check "it contains the rights of the ClusterRole, and no other" holds "$ROLES | all(.[]; .rules | $RIGHTS
  == [\"batch cronjobs list,watch,patch\", \"batch jobs get,list,watch\", \" pods list,watch\", \"events.k8s.io events create\", \" events patch\"])"
check "each Role is bound to the operator" holds '[.[] | select(.kind == "RoleBinding" and .metadata.name == "cronlatch-runs")
  | .roleRef == {apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "cronlatch-runs"} and .subjects[0].name == "cronlatch-operator"] == [true, true]'
check "the ClusterRole contains only objects without a namespace, by name" holds '
  one("ClusterRole"; "cronlatch-operator").rules | all(.[]; .resourceNames | length == 1)
  and (map(.resources[0]) | sort) == ["mutatingwebhookconfigurations", "namespaces"]'
EVENTS='[.[] | select(.kind == "Role" and .metadata.name == "cronlatch-operator").rules[] | select(.resources == ["events"]).verbs[]]'
check "the operator can record an Event on its own pod" holds "$EVENTS"' == ["create", "patch"]'
check "webhook and policies apply to these namespaces only" holds "$SELECTORS"' == [range(4) |
  {matchExpressions: [{key: "kubernetes.io/metadata.name", operator: "In", values: ["shop", "bank"]}]}]'
check "the operator reads these namespaces only" holds 'one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("namespaces: [\"shop\",\"bank\"]\n")'
check "a test of the chart in another namespace would not be gated, and is not rendered" holds 'all(.[]; .kind != "Job")'
render "${BASE[@]}" --set 'namespaces={shop,cronlatch}'
check "the test is rendered where its namespace is served" holds 'one("Job"; "cronlatch-test")'
check "no second right to Events is rendered there" holds "$EVENTS == []"
render "${BASE[@]}" --set 'namespaces={shop}' --set webhook.namespaceSelector.matchLabels.team=reports
check "the value webhook.namespaceSelector applies, too" holds "$SELECTORS"' | all(.[]; .matchLabels == {team: "reports"} and (.matchExpressions | length == 1))'
render "${BASE[@]}" --set 'namespaces={shop}' --set clusterName=eu-1,certificates.mode=cert-manager
check "with a name and certificates of cert-manager there is no ClusterRole" holds 'all(.[]; .kind != "ClusterRole" and .kind != "ClusterRoleBinding")'
render "${BASE[@]}" --set 'namespaces={shop}' --set patchCronJobs=false
check "without patchCronJobs no Role has the right to patch CronJobs" holds "$ROLES | all(.[]; .rules[0].verbs == [\"list\", \"watch\"])"
check "Secrets of another namespace are refused" refused_with "pullSecretNamespaces: bank is not in namespaces" "${BASE[@]}" \
  --set 'namespaces={shop},entrypointLookup.pullSecretNamespaces={shop,bank}'
check "and accepted without lookups, which need no right" chart_template "${BASE[@]}" \
  --set 'namespaces={shop},entrypointLookup.pullSecretNamespaces={bank},entrypointLookup.enabled=false'
check "the same namespace twice is refused" refused_with "namespaces" "${BASE[@]}" --set 'namespaces={shop,shop}'
finish
