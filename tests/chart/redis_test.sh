#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Redis of the chart (redis.enabled): its objects, its address, the rights of the operator, and values that contradict it.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

REDIS=(--set redis.enabled=true)
URL=rediss://cronlatch-redis.cronlatch.svc.cluster.local.:6379

render "${BASE[@]}"
check "without redis.enabled there is no object of it, and no right for it" holds '
  all(.[]; (.metadata.labels["app.kubernetes.io/component"] == "redis" or (.metadata.name | endswith("-redis"))) | not)'
check "and no setting of it" holds 'one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("store-server") | not'

render "${REDIS[@]}"
check "redis.enabled alone is sufficient: the store is the Redis of the chart, with TLS" holds "
  one(\"ConfigMap\"; \"cronlatch-operator\").data[\"operator.yaml\"]
  | contains(\"store: \\\"$URL\\\"\") and contains(\"store-server: true\") and contains(\"store-server-namespaces: []\")"
check "its objects" holds '
  [.[] | select(.metadata.labels["app.kubernetes.io/component"] == "redis").kind] | sort
    == ["ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "Secret", "Service", "StatefulSet"]'
check "one pod with a volume, which Pod Security restricted admits" holds '
  one("StatefulSet"; "cronlatch-redis").spec
  | .replicas == 1 and .volumeClaimTemplates[0].spec.resources.requests.storage == "1Gi"
  and (.template.spec | .automountServiceAccountToken == false and .securityContext.runAsNonRoot and .securityContext.seccompProfile.type == "RuntimeDefault"
    and (.containers[0] | .image == "docker.io/valkey/valkey:8.1" and .resources.limits.memory == "256Mi"
      and (.securityContext | .allowPrivilegeEscalation == false and .readOnlyRootFilesystem and .capabilities.drop == ["ALL"])))'
check "three probes send PING over TLS" holds '
  one("StatefulSet"; "cronlatch-redis").spec.template.spec.containers[0] | [.startupProbe, .readinessProbe, .livenessProbe]
  | all(.[]; .exec.command == ["valkey-cli", "--tls", "--cacert", "/etc/redis/ca.crt", "PING"])'
check "the pod waits for the files of the operator, and gets no private key of the CA" holds '
  one("StatefulSet"; "cronlatch-redis").spec.template.spec.volumes[0].projected.sources[1].secret
  | (has("optional") | not) and [.items[].key] == ["ca.crt", "tls.crt", "tls.key", "users.acl"]'
check "the Secret has no data" holds 'one("Secret"; "cronlatch-redis") | has("data") or has("stringData") | not'
check "the configuration keeps every write, evicts nothing, and has no port without TLS" holds '
  one("ConfigMap"; "cronlatch-redis").data["redis.conf"] | split("\n")
  | contains(["port 0", "tls-port 6379", "appendonly yes", "appendfsync always", "maxmemory-policy noeviction", "aclfile /etc/redis/users.acl"])'
check "the operator mounts the credentials of its reader, and no other key" holds '
  [one("Deployment"; "cronlatch-operator").spec.template.spec.volumes[] | select(.name == "config").projected.sources[].secret | values]
  == [{name: "cronlatch-redis", optional: true, items: [{key: "operator-username", path: "store/username"},
       {key: "operator-password", path: "store/password"}, {key: "ca.crt", path: "store/ca.crt"}]}]'
check "helm test uses the Secret of the runs" holds 'one("Job"; "cronlatch-test").metadata.annotations["cronlatch.dev/store-secret"] == "cronlatch-store"'
check "rights: two Secrets by name, in the release's namespace only" holds '
  [.[] | select(.metadata.name == "cronlatch-redis" and (.kind | endswith("Role"))) | {kind, namespace: .metadata.namespace, rules: [.rules[] | [.resources[0], .resourceNames[0], .verbs]]}]
  == [{kind: "Role", namespace: "cronlatch", rules: [["secrets", "cronlatch-redis", ["get", "update"]], ["secrets", "cronlatch-store", ["create", "patch"]]]}]'
check "connections: from the release's namespace, and none from the pod" holds '
  one("NetworkPolicy"; "cronlatch-redis").spec
  | .policyTypes == ["Ingress", "Egress"] and (has("egress") | not)
  and .ingress[0].from == [{namespaceSelector: {matchExpressions: [{key: "kubernetes.io/metadata.name", operator: "In", values: ["cronlatch"]}]}}]'
same_twice() {
  render "${REDIS[@]}" && cp "$STAGE/objects.yaml" "$STAGE/first.yaml" && render "${REDIS[@]}" && cmp "$STAGE/first.yaml" "$STAGE/objects.yaml"
}
check "two renderings are identical" same_twice
in_namespace() {
  render "${REDIS[@]}" --namespace demo && holds '
    one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("rediss://cronlatch-redis.demo.svc.cluster.local.:6379")'
}
check "the address contains the release's namespace" in_namespace

render --values "$CHART/ci/redis-values.yaml"
check "namespaces: a role in each, once; with labels a ClusterRole that cannot read a Secret" holds '
  [.[] | select(.metadata.name == "cronlatch-redis" and (.kind | endswith("Role"))) | [.kind, .metadata.namespace]] | sort
    == [["ClusterRole", null], ["Role", "billing"], ["Role", "cronlatch"], ["Role", "reports"]]'
check "the ClusterRole lists namespaces, and writes Secrets of one name" holds '
  one("ClusterRole"; "cronlatch-redis").rules | [.[] | [.resources[0], .resourceNames, .verbs]]
    == [["namespaces", null, ["list"]], ["secrets", ["cronlatch-store"], ["create", "patch"]]]'
check "the settings contain namespaces and labels" holds '
  one("ConfigMap"; "cronlatch-operator").data["operator.yaml"]
  | contains("store-server-namespaces: [\"reports\",\"billing\"]") and contains("store-server-namespace-labels: {\"cronlatch.dev/redis\":\"true\"}")'
check "an image of Redis, and its client" holds '
  one("StatefulSet"; "cronlatch-redis").spec.template.spec.containers[0]
  | .image == "registry.example/mirror/redis:7.2" and .livenessProbe.exec.command[0] == "redis-cli"'
check "connections are permitted from the namespaces, the labels and the additional rule" holds '
  one("NetworkPolicy"; "cronlatch-redis").spec.ingress
  | .[0].from[0].namespaceSelector.matchExpressions[0].values == ["cronlatch", "reports", "billing"]
  and .[0].from[1].namespaceSelector.matchLabels == {"cronlatch.dev/redis": "true"} and .[1].from[0].ipBlock.cidr == "203.0.113.0/24"'
check "the operator may connect to its port" holds '[one("NetworkPolicy"; "cronlatch-operator").spec.egress[].ports[]?.port] | index(6379)'
render "${REDIS[@]}" --set redis.persistence.enabled=false,redis.podDisruptionBudget.enabled=false,redis.networkPolicy.enabled=false
check "without a volume, a budget and a policy" holds '
  (one("StatefulSet"; "cronlatch-redis").spec | (has("volumeClaimTemplates") | not) and (.template.spec.volumes[1] == {name: "data", emptyDir: {}}))
  and all(.[] | select(.metadata.name == "cronlatch-redis"); .kind != "PodDisruptionBudget" and .kind != "NetworkPolicy")'
render "${REDIS[@]}" --set global.imageRegistry=mirror.example
check "global.imageRegistry applies" holds 'one("StatefulSet"; "cronlatch-redis").spec.template.spec.containers[0].image == "mirror.example/valkey/valkey:8.1"'
render "${REDIS[@]}" --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"]}}'
check "written-out gates use it, too" holds "one(\"CronJob\"; \"a\").spec.jobTemplate.spec.template.spec.containers[0].command | index(\"--store=$URL\")"

check "refuses a second store" refused_with "store.url is set, too" "${BASE[@]}" "${REDIS[@]}"
check "refuses it without the operator" refused_with "operator.enabled is false" "${REDIS[@]}" --set operator.enabled=false
check "refuses the copier" refused_with "Remove copier.source" "${REDIS[@]}" --set 'copier.source=a,copier.namespaces={b}'
check "refuses another Secret of the operator" refused_with "store.operatorSecretName" "${REDIS[@]}" --set store.operatorSecretName=a
check "refuses strict" refused_with "defaults.strict: does not apply" "${REDIS[@]}" --set defaults.strict=true
check "refuses a user for all runs" refused_with "defaults.redis-username" "${REDIS[@]}" --set defaults.redis-username=a
for sizes in 256mb=256Mi 1gb=512Mi 1gb=1G 192mb=0.1Gi 201mb=200e6 192mb=201326592 192mb=201326592000m 2gb=2Gi; do
  check "refuses maxMemory ${sizes%=*} with the limit ${sizes#*=}" refused_with "is not below redis.resources.limits.memory" "${REDIS[@]}" \
    --set "redis.maxMemory=${sizes%=*}" --set-string "redis.resources.limits.memory=${sizes#*=}"
done
check "refuses a limit that is a small number" refused_with "is not below redis.resources.limits.memory" "${REDIS[@]}" --set-json redis.resources.limits.memory=201326592
check "refuses a limit that is no quantity" refused_with "/redis/resources/limits/memory" "${REDIS[@]}" --set redis.resources.limits.memory=1GB
for sizes in 192mb=201326593 1gb=1.1Gi 190mb=200e6 3gb=1Ti 192mb=0.21G; do
  check "accepts maxMemory ${sizes%=*} with the limit ${sizes#*=}" chart_template "${REDIS[@]}" \
    --set "redis.maxMemory=${sizes%=*}" --set-string "redis.resources.limits.memory=${sizes#*=}"
done
for none in redis.resources redis.resources.limits redis.resources.limits.memory; do
  check "accepts any maxMemory with $none=null" chart_template "${REDIS[@]}" --set redis.maxMemory=64gb --set-json "$none=null"
done
check "accepts a limit that is a large number" chart_template "${REDIS[@]}" --set-json redis.resources.limits.memory=536870912
check "refuses an unknown value" refused_with "values don't meet" "${REDIS[@]}" --set redis.replicas=3
check "refuses a budget of two pods" refused_with "values don't meet" "${REDIS[@]}" --set redis.podDisruptionBudget.maxUnavailable=2
finish
