#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rendered objects have minimal privileges: Pod Security's level `restricted` for every pod, rights by name,
# webhooks and policies that apply to annotated objects only.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

PODS='[.[] | (select(.kind == "Deployment" or .kind == "Job") | .spec.template), (select(.kind == "CronJob") | .spec.jobTemplate.spec.template) | .spec]'
RESTRICTED="$PODS"' | length > 0 and all(.[]; .securityContext as $pod
  | (.hostPID or .hostIPC | not)
  and all((.containers + (.initContainers // []))[]; .securityContext
    | .allowPrivilegeEscalation == false and .capabilities.drop == ["ALL"] and (.privileged // false | not)
    and ((.runAsNonRoot // $pod.runAsNonRoot) == true)
    and ((.seccompProfile // $pod.seccompProfile).type == "RuntimeDefault")
    and ((.runAsUser // $pod.runAsUser // 1) != 0))
  and all(.volumes[]?; has("configMap") or has("emptyDir") or has("secret") or has("projected")))'
CHART_CONTAINERS="$PODS"' | all(.[]; all((.containers + (.initContainers // []))[] | select(.image | test("cronlatch")); .securityContext.readOnlyRootFilesystem and .resources))'
for values in $(values_files); do
  name=$(basename -- "$values" -values.yaml)
  render --values "$values"
  check "values $name: every pod passes the level restricted" holds "$RESTRICTED"
  check "values $name: the chart's containers have a read-only root and resources" holds "$CHART_CONTAINERS"
  if [ "$name" != host-network ]; then
    check "values $name: no pod is on the host's network" holds "$PODS"' | all(.[]; .hostNetwork // false | not)'
  fi
done
render "${BASE[@]}"
jq "$PODS | .[0].containers[0].securityContext.allowPrivilegeEscalation = true | [{kind: \"Job\", spec: {template: {spec: .[0]}}}]" \
  "$STAGE/objects.json" >"$STAGE/worse.json"
worse_is_found() { ! jq --exit-status "$RESTRICTED" "$STAGE/worse.json" >/dev/null; }
check "control: a pod that may gain privileges is found" worse_is_found

render "${BASE[@]}"
check "the status page has no binding by default, and its Role permits reading one Service" holds '
  all(.[]; .kind != "RoleBinding" or .metadata.name != "cronlatch-status")
  and (one("Role"; "cronlatch-status").rules == [{apiGroups: [""], resources: ["services/proxy"], verbs: ["get"],
    resourceNames: ["http:cronlatch-metrics:8080", "http:cronlatch-metrics:http-metrics"]}])'
render "${BASE[@]}" --set-json 'statusReaders=[{"kind":"Group","name":"on-call","apiGroup":"rbac.authorization.k8s.io"}]' \
  --set networkPolicy.enabled=true --set-json 'networkPolicy.apiServerCIDRs=["10.1.0.0/16"]'
check "status readers have a binding, and the API server may connect to the page" holds '
  one("RoleBinding"; "cronlatch-status").subjects == [{kind: "Group", name: "on-call", apiGroup: "rbac.authorization.k8s.io"}]
  and ([one("NetworkPolicy"; "cronlatch-operator").spec.ingress[] | select(.ports[0].port == 8080).from[] | .ipBlock.cidr] | index("10.1.0.0/16"))'

render "${BASE[@]}"
check "the operator is uid 65532, probed on its plain port, and drains before it terminates" holds '
  one("Deployment"; "cronlatch-operator").spec.template.spec | .securityContext.runAsUser == 65532
  and (.containers[0] | [.livenessProbe, .readinessProbe, .startupProbe | .httpGet.port] == ["http-metrics", "http-metrics", "http-metrics"]
    and .readinessProbe.httpGet.path == "/readyz" and .lifecycle.preStop.sleep.seconds < 30)
  and .terminationGracePeriodSeconds == 30'

RULES='[.[] | select(.kind == "ClusterRole" or .kind == "Role") as $role | .rules[]? | . + {role: $role.kind, name: $role.metadata.name, namespace: $role.metadata.namespace}]'
for values in $(values_files); do
  render --values "$values"
  check "values $(basename -- "$values" -values.yaml): no wildcard rights; Secrets and Leases only by name in a namespace, except to create them, to read logins of the values, and to write one name with redis.namespaceLabels" holds "$RULES"'
    | all(.[]; ([.verbs[], .resources[]?, .apiGroups[]?] | index("*") | not)
      and (if (.resources | index("secrets") or index("leases")) then .role == "Role" and (.resourceNames or .verbs == ["create"]
        or (.name == "cronlatch-logins" and .resources == ["secrets", "serviceaccounts"] and .verbs == ["get"]))
        or (.role == "ClusterRole" and .name == "cronlatch-redis" and (.resourceNames | length == 1) and .verbs == ["create", "patch"]) else true end)
      and (if (.resources | index("mutatingwebhookconfigurations")) then (.resourceNames | length == 1) else true end)
      and ([.verbs[]] | index("delete") or index("escalate") or index("bind") or index("impersonate") | not))'
done
render "${BASE[@]}"
check "cluster-wide rights: patch CronJobs, read Jobs and pods, create Events and patch them in the core API" holds '
  [one("ClusterRole"; "cronlatch-operator").rules[] | select(.resourceNames | not) | {key: (.apiGroups[] + "/" + .resources[]), value: .verbs}]
    | from_entries == {"batch/cronjobs": ["list", "watch", "patch"], "batch/jobs": ["get", "list", "watch"], "/pods": ["list", "watch"],
    "events.k8s.io/events": ["create"], "/events": ["patch"]}'
render "${BASE[@]}" --set patchCronJobs=false
check "with patchCronJobs=false the operator has no right to patch CronJobs, and no policy limits it" holds '
  ([one("ClusterRole"; "cronlatch-operator").rules[] | select(.resources == ["cronjobs"]).verbs] == [["list", "watch"]])
  and all(.[]; .metadata.name != "cronlatch-operator-patches")'
render "${BASE[@]}" --set rbac.create=false,serviceAccount.create=false,serviceAccount.name=lock-operator
check "with roles of another source, the policy still limits the operator's patches" holds '
  all(.[]; .kind | test("Role|ServiceAccount") | not)
  and (one("ValidatingAdmissionPolicy"; "cronlatch-operator-patches").spec.matchConditions[0].expression
    | endswith("system:serviceaccount:cronlatch:lock-operator\u0027"))
  and one("ValidatingAdmissionPolicyBinding"; "cronlatch-operator-patches").spec.validationActions == ["Deny"]'
render "${BASE[@]}" --set rbac.limitPatches=false
check "without rbac.limitPatches no policy limits the operator" holds 'all(.[]; .metadata.name != "cronlatch-operator-patches")'
render --values "$CHART/ci/gating-values.yaml"
check "the copier may write one Secret in its target namespaces, and read one Secret in the release's namespace" holds '
  [.[] | select(.kind == "Role") | .metadata.namespace as $n | .rules[] | select(.resources == ["secrets"] and .resourceNames) | [$n, .resourceNames[0]]] | sort
    == [["billing", "locks"], ["cronlatch", "cronlatch-webhook-tls"], ["cronlatch", "locks"], ["reports", "locks"]]'

render "${BASE[@]}"
check "the Job webhook fails closed, and applies only to CREATE of Jobs" holds '
  one("MutatingWebhookConfiguration"; "cronlatch").webhooks[1] | .failurePolicy == "Fail" and .sideEffects == "None"
    and .rules[0].operations == ["CREATE"] and .rules[0].resources == ["jobs"] and .reinvocationPolicy == "IfNeeded" and .timeoutSeconds == 5
    and (has("namespaceSelector") | not)'
check "the CronJob webhook fails open, because a policy refuses CronJobs that it did not process" holds '
  one("MutatingWebhookConfiguration"; "cronlatch").webhooks[0] | .failurePolicy == "Ignore" and .rules[0].operations == ["CREATE", "UPDATE"]'
# Every annotations map that an expression reads is tested with has() before, in the same disjunct.
GUARDED='[.[] | select(.kind == "MutatingWebhookConfiguration" or .kind == "ValidatingAdmissionPolicy")
    | .webhooks[]?.matchConditions[]?.expression, .spec.matchConditions[]?.expression] | map(select(contains("annotations")))
  | length >= 4 and all(.[]; [scan("[A-Za-z.]+\\.annotations(?=[.\\[])")] as $read | all($read[]; . as $path | $path))
  and all(.[]; . as $e | [scan("([A-Za-z]+(?:\\.[A-Za-z]+)*\\.annotations)(?:\\.exists|\\[)")[0]] | unique | all(.[]; . as $p | $e | contains("has(\($p))")))
  and all(.[]; . as $e | [scan("[A-Za-z.]+[tT]emplate\\.metadata(?=\\.annotations)")] | unique | all(.[]; . as $p | $e | contains("has(\($p))")))'
check "no condition reads annotations without has()" holds "$GUARDED"
unguarded() {
  jq 'map(if .kind == "MutatingWebhookConfiguration" then .webhooks[1].matchConditions[0].expression = "object.metadata.annotations['"'cronlatch.dev/lock'"'] != '"'false'"'" else . end)' \
    "$STAGE/objects.json" | jq --exit-status "$GUARDED" >/dev/null
}
refuses "control: a condition without a guard is found" unguarded
check "the policies fail closed, deny, and check the command only" holds '
  all(.[] | select(.kind == "ValidatingAdmissionPolicy"); .spec.failurePolicy == "Fail")
  and all(.[] | select(.kind == "ValidatingAdmissionPolicyBinding"); .spec.validationActions == ["Deny"])
  and (one("ValidatingAdmissionPolicy"; "cronlatch-gated-jobs").spec
    | (.validations[0].expression | contains("/cronlatch-bin/cronlatch") and (contains("cronlatch.dev/injected") | not))
    and ([.matchConditions[].expression] | all(.[]; contains("injected") | not)))'
finish
