#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# metrics.auth: token. The port of metrics and status page, its rights, its monitors; none of them by default.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

TOKEN=("${BASE[@]}" --set metrics.auth=token)
SETTINGS='one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]'
REVIEWS='[.[] | select(.kind == "Role" or .kind == "ClusterRole") | .kind as $kind | .rules[] | select(.resources // [] | any(test("reviews$"))) | {kind: $kind, resources, verbs}]'

render "${BASE[@]}"
check "by default the operator may not review tokens" holds "$REVIEWS == []"
check "by default there is no account and no right for the pages" holds '[.[] | select(.metadata.name | test("-status$|-reader$")) | .kind] == ["Role"]'
check "by default the settings contain no metrics-auth" holds "$SETTINGS"' | contains("metrics-") | not'

render --values "$CHART/ci/token-values.yaml"
check "the settings have the port" holds "$SETTINGS"' | contains("metrics-auth: token") and contains("metrics-address: \"[::]:9444\"")'
check "the operator may review tokens and rights, and nothing else of these groups" holds "$REVIEWS"' == [
  {kind: "ClusterRole", resources: ["tokenreviews"], verbs: ["create"]}, {kind: "ClusterRole", resources: ["subjectaccessreviews"], verbs: ["create"]}]'
check "each page has a ClusterRole of its own" holds '[one("ClusterRole"; "cronlatch-metrics-reader", "cronlatch-status-reader").rules]
  == [[{nonResourceURLs: ["/metrics"], verbs: ["get"]}], [{nonResourceURLs: ["/status"], verbs: ["get"]}]]'
check "Prometheus may read the metrics" holds 'one("ClusterRoleBinding"; "cronlatch-metrics-reader")
  | .subjects == [{kind: "ServiceAccount", name: "prometheus-k8s", namespace: "monitoring"}] and .roleRef.name == "cronlatch-metrics-reader"'
check "the account of the plugin may read the status page, and its token is not mounted" holds '
  (one("ClusterRoleBinding"; "cronlatch-status-reader") | .subjects == [{kind: "ServiceAccount", name: "cronlatch-status", namespace: "cronlatch"}])
  and (one("ServiceAccount"; "cronlatch-status").automountServiceAccountToken == false)
  and ([.[] | select(.kind | endswith("Binding")) | select([.subjects[]?.name] | index("cronlatch-status")) | .metadata.name] == ["cronlatch-status-reader"])'
check "status readers may create its tokens, and send them to this Service" holds 'one("Role"; "cronlatch-status").rules == [
  {apiGroups: [""], resources: ["services"], verbs: ["get"], resourceNames: ["cronlatch-metrics"]},
  {apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"], resourceNames: ["cronlatch-status"]},
  {apiGroups: [""], resources: ["services/proxy"], verbs: ["create"], resourceNames: ["https:cronlatch-metrics:8080", "https:cronlatch-metrics:https-metrics"]}]'
check "the plugin finds the account at the Service" holds 'one("Service"; "cronlatch-metrics")
  | .metadata.annotations["cronlatch.dev/status-account"] == "cronlatch-status" and .metadata.labels["cronlatch.dev/port"] == "https-metrics"
  and .spec.ports[0] == {name: "https-metrics", port: 8080, targetPort: "https-metrics", protocol: "TCP", appProtocol: "https"}'
check "the other Service has no such annotation" holds 'one("Service"; "cronlatch-webhook").metadata | has("annotations") | not'
check "probes use the plain port, without TLS" holds 'one("Deployment"; "cronlatch-operator").spec.template.spec.containers[0]
  | ([.ports[] | [.name, .containerPort]] == [["admission", 9443], ["http-health", 9080], ["https-metrics", 9444]])
  and ([.livenessProbe, .readinessProbe, .startupProbe | .httpGet | [.port, .scheme]] | unique == [["http-health", null]])'
check "the NetworkPolicy opens the new port instead of the plain port" holds '
  one("NetworkPolicy"; "cronlatch-operator").spec | [.ingress[].ports[].port] == [9443, 9444]'
ENDPOINT='one("ServiceMonitor"; "cronlatch-operator").spec'
check "the ServiceMonitor has scheme, CA, name and token file" holds "$ENDPOINT"' | .selector.matchLabels["cronlatch.dev/port"] == "https-metrics"
  and (.endpoints[0] | .port == "https-metrics" and .scheme == "https" and .bearerTokenFile == "/var/run/secrets/kubernetes.io/serviceaccount/token"
    and .tlsConfig == {serverName: "cronlatch-webhook.cronlatch.svc", ca: {secret: {name: "cronlatch-webhook-tls", key: "ca.crt"}}})'
check "the PodMonitor has those of its values" holds 'one("PodMonitor"; "cronlatch-operator").spec.podMetricsEndpoints[0]
  | .scheme == "https" and .authorization.credentials.name == "prometheus-token" and .tlsConfig.ca.configMap.name == "cronlatch-ca" and (has("bearerTokenFile") | not)'

MONITOR=(--set 'serviceMonitor.enabled=true,serviceMonitor.renderMode=alwaysRender')
render "${TOKEN[@]}" "${MONITOR[@]}" --set certificates.mode=cert-manager
check "with cert-manager the CA is that of its Secret" holds "$ENDPOINT"'.endpoints[0].tlsConfig.ca.secret.name
  == one("Certificate"; "cronlatch-webhook").spec.secretName'
render "${TOKEN[@]}" "${MONITOR[@]}" --set serviceMonitor.authorization.credentials.name=t,serviceMonitor.authorization.credentials.key=k
check "credentials of the values replace the token file" holds "$ENDPOINT"'.endpoints[0] | .authorization.credentials.name == "t" and (has("bearerTokenFile") | not)'
render "${TOKEN[@]}"
check "without readers Prometheus has no binding" holds 'all(.[]; .kind != "ClusterRoleBinding" or .metadata.name != "cronlatch-metrics-reader")'
render "${TOKEN[@]}" --set rbac.create=false
check "without rbac.create none of these rights is rendered" holds 'all(.[]; .kind | test("Role") | not)'

check "refused: a ServiceMonitor in another namespace without a CA" refused_with "set serviceMonitor.tlsConfig" "${TOKEN[@]}" "${MONITOR[@]}" --set serviceMonitor.namespace=monitoring
check "refused: a ServiceMonitor without a CA for an existing certificate" refused_with "set serviceMonitor.tlsConfig" "${TOKEN[@]}" "${MONITOR[@]}" \
  --set certificates.mode=existing,certificates.existingSecret=a
check "refused: a PodMonitor without credentials" refused_with "Set podMonitor.authorization" "${TOKEN[@]}" --set podMonitor.enabled=true,podMonitor.renderMode=alwaysRender
check "refused: another word" refused_with "values don't meet" "${BASE[@]}" --set metrics.auth=basic
finish
