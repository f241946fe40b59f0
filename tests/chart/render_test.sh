#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart renders: lint, every file of values in ci/, names, and the effect of each value that enables objects.
# shellcheck disable=SC2016  # the kubelet and jq have variables of their own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

check "lint finds no error" "$HELM" lint --strict --kube-version "$KUBE_VERSION" "$CHART" "${BASE[@]}"
check "there are at least 8 files of values" [ "$(values_files | wc -l)" -ge 8 ]

check "refuses the same port twice" refused_with "ports.plain: 8443 is also ports.admission. Set different ports" "${BASE[@]}" --set ports.plain=8443
check "refuses a port of metrics that the probes use" refused_with "ports.metrics: 8080 is also ports.plain" "${BASE[@]}" --set metrics.auth=token --set ports.metrics=8080
check "accepts it without metrics.auth token, which does not open it" chart_template "${BASE[@]}" --set ports.metrics=8080

is_valid() {
  render "$@" && holds 'length > 0 and all(.[]; .apiVersion and .kind and .metadata.name)' &&
    holds '[.[] | "\(.kind)/\(.metadata.namespace)/\(.metadata.name)"] | length == (unique | length)' &&
    holds 'all(.[] | select(.metadata.labels); .metadata.labels["app.kubernetes.io/instance"] == "cronlatch")' &&
    ! grep -nE '[[:space:]]$|<no value>|%!' "$STAGE/objects.yaml"
}
for values in $(values_files); do
  name=$(basename -- "$values" -values.yaml)
  check "values $name: lint finds no error" "$HELM" lint --strict --kube-version "$KUBE_VERSION" "$CHART" --values "$values"
  check "values $name: renders valid objects, each once" is_valid --values "$values"
done

render "${BASE[@]}"
check "two replicas, a budget, and both Services" holds '
  one("Deployment"; "cronlatch-operator").spec.replicas == 2
  and one("PodDisruptionBudget"; "cronlatch-operator").spec.maxUnavailable == 1
  and one("Service"; "cronlatch-webhook").spec.ports[0].port == 443
  and one("Service"; "cronlatch-metrics").spec.ports[0] == {name: "http-metrics", port: 8080, targetPort: "http-metrics", protocol: "TCP", appProtocol: "http"}'
check "the liveness probe fails after a minute of failures of /healthz, and readiness is /readyz" holds '
  one("Deployment"; "cronlatch-operator").spec.template.spec.containers[0]
  | .livenessProbe.httpGet.path == "/healthz" and .livenessProbe.periodSeconds * .livenessProbe.failureThreshold == 60
    and .readinessProbe.httpGet.path == "/readyz"'
check "the webhooks and the policies have their documented names" holds '
  [one("MutatingWebhookConfiguration"; "cronlatch").webhooks[].name]
    == ["cronjobs.cronlatch.dev", "annotated-jobs-need-the-operator.cronlatch.dev"]
  and one("ValidatingAdmissionPolicy"; "cronlatch-mirrored-cronjobs")
  and one("ValidatingAdmissionPolicy"; "cronlatch-gated-jobs")
  and one("ServiceAccount"; "cronlatch-operator")'
check "no certificate, no key and no caBundle is rendered" holds '
  all(.[] | select(.kind == "Secret"); has("data") or has("stringData") | not) and ([.. | objects | select(has("caBundle"))] | length == 0)'
same_twice() {
  render "${BASE[@]}" && cp "$STAGE/objects.yaml" "$STAGE/first.yaml" && render "${BASE[@]}" &&
    cmp "$STAGE/first.yaml" "$STAGE/objects.yaml"
}
check "two renderings are identical: no random values and no lookup" same_twice
check "no template reads from the cluster" bash -c "! grep -rnE '\\blookup +[\"(\$]|\\b(genCA|genSelfSignedCert|genSignedCert|randAlpha|uuidv4)\\b|\\bnow *[|)}]' '$CHART/templates'"
settings_change() {
  local before
  before=$(jq -r '.[] | select(.kind == "Deployment").spec.template.metadata.annotations["checksum/settings"]' "$STAGE/objects.json")
  render "${BASE[@]}" --set logLevel=debug && holds "one(\"Deployment\"; \"cronlatch-operator\")
    .spec.template.metadata.annotations[\"checksum/settings\"] != \"$before\""
}
check "changed settings restart the pods" settings_change

render --values "$CHART/ci/ha-values.yaml"
check "ha: three replicas, hard spread over nodes, image by digest" holds '
  one("Deployment"; "cronlatch-operator") | .spec.replicas == 3
  and (.spec.template.spec | .topologySpreadConstraints[0].whenUnsatisfiable == "DoNotSchedule"
    and .priorityClassName == "important" and .runtimeClassName == "gvisor" and .hostUsers == false
    and (.containers[0].image | startswith("registry.example/mirror/cronlatch@sha256:")))'
check "ha: another PriorityClass than one of the system needs no quota" holds 'all(.[]; .kind != "ResourceQuota")'
render "${BASE[@]}" --set ha.enabled=true
check "ha: the PriorityClass of the system, and the ResourceQuota that permits it" holds '
  one("Deployment"; "cronlatch-operator").spec.template.spec.priorityClassName as $class
  | $class == "system-cluster-critical"
  and one("ResourceQuota"; "cronlatch-priority").spec.scopeSelector.matchExpressions
    == [{scopeName: "PriorityClass", operator: "In", values: [$class]}]'
render "${BASE[@]}" --set ha.enabled=true,priorityClassQuota.enabled=false
check "the quota can be disabled" holds 'all(.[]; .kind != "ResourceQuota")'
render "${BASE[@]}" --set ha.enabled=true --namespace kube-system
check "kube-system needs no quota" holds 'all(.[]; .kind != "ResourceQuota")'

# ---- as a dependency of an umbrella chart ----
umbrella() {  # umbrella VALUES: renders a chart that depends on this chart
  mkdir -p "$STAGE/umbrella/charts"
  ln -sfn "$CHART" "$STAGE/umbrella/charts/cronlatch"
  printf '%s\n' 'apiVersion: v2' 'name: umbrella' 'version: 1.0.0' 'dependencies:' \
    '- {name: cronlatch, version: "*", repository: "", condition: cronlatch.enabled}' >"$STAGE/umbrella/Chart.yaml"
  printf '%s\n' "$1" >"$STAGE/umbrella/values.yaml"
  "$HELM" template cronlatch "$STAGE/umbrella" --namespace cronlatch --kube-version "$KUBE_VERSION" >"$STAGE/objects.yaml" &&
    objects_of "$STAGE/objects.yaml" >"$STAGE/objects.json"
}
STORE='store: {url: "rediss://redis.shop.svc.cluster.local."}'
check "an umbrella chart with keys of other charts in global renders" umbrella "
global: {imageRegistry: mirror.example, imagePullSecrets: [pull, {name: other}, pull], storageClass: fast}
cronlatch: {enabled: true, image: {registry: ghcr.io, pullSecrets: [{name: other}]}, $STORE}"
check "global.imageRegistry and global.imagePullSecrets apply to the operator, to the test and to the injected image" holds '
  [one("Deployment"; "cronlatch-operator"), one("Job"; "cronlatch-test")] | map(.spec.template.spec)
  | all(.[]; .imagePullSecrets == [{name: "other"}, {name: "pull"}] and (.containers[0].image | startswith("mirror.example/cronlatch/")))'
check "the injected image has the registry of global" holds '
  one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("image: \"mirror.example/cronlatch/cronlatch:")'
# helm removes a key whose value is null.
check "an umbrella chart with null for global and defaults renders" umbrella "
global: {imageRegistry: null, imagePullSecrets: null}
cronlatch: {enabled: true, global: null, defaults: null, $STORE}"
check "as without both" holds 'one("Deployment"; "cronlatch-operator").spec.template.spec | (has("imagePullSecrets") | not)
  and (.containers[0].image | startswith("ghcr.io/cronlatch/"))'
disabled_renders_nothing() { umbrella "cronlatch: {enabled: false, $STORE}" && holds 'length == 0'; }
check "cronlatch.enabled=false in an umbrella chart renders nothing" disabled_renders_nothing
for values in $(values_files); do
  render --values "$values" --set enabled=false
  check "values $(basename -- "$values" -values.yaml): enabled=false renders nothing" holds 'length == 0'
done

render --values "$CHART/ci/host-network-values.yaml"
check "host network: its own DNS policy, ports everywhere, no budget for one replica" holds '
  (one("Deployment"; "cronlatch-operator").spec
    | .template.spec.hostNetwork and .template.spec.dnsPolicy == "ClusterFirstWithHostNet"
    and [.template.spec.containers[0].ports[].containerPort] == [9843, 9880]
    and .strategy.rollingUpdate.maxUnavailable == 1)
  and (one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("\"[::]:9843\""))
  and all(.[]; .kind != "PodDisruptionBudget")'
render --values "$CHART/ci/certmanager-values.yaml"
check "cert-manager: its annotation, a mounted certificate, and no right to write the webhook" holds '
  one("MutatingWebhookConfiguration"; "cronlatch").metadata.annotations["cert-manager.io/inject-ca-from"] == "cronlatch/cronlatch-webhook"
  and one("Certificate"; "cronlatch-webhook").spec.issuerRef.name == "cronlatch-ca"
  and ([one("Deployment"; "cronlatch-operator").spec.template.spec.volumes[0].projected.sources[].secret.name]
    | index("cronlatch-webhook-cert"))
  and (one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("certificate-mode: files"))
  and ([one("ClusterRole"; "cronlatch-operator").rules[].resources[]] | index("mutatingwebhookconfigurations") | not)'
render --values "$CHART/ci/byo-cert-values.yaml"
check "existing certificate: its caBundle is in both webhooks" holds '
  [one("MutatingWebhookConfiguration"; "cronlatch").webhooks[].clientConfig.caBundle | @base64d | startswith("-----BEGIN")] == [true, true]'
check "the CA of the API servers' client certificates is mounted at the path in the settings" holds '
  ([one("Deployment"; "cronlatch-operator").spec.template.spec | .volumes[] | select(.name == "config").projected.sources[].secret
      | select(.name == "api-server-ca").items] == [[{key: "authorities.pem", path: "client-ca/ca.crt"}]])
  and ([one("Deployment"; "cronlatch-operator").spec.template.spec.containers[0].volumeMounts[] | select(.name == "config").mountPath] == ["/etc/cronlatch"])
  and (one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("client-ca-file: /etc/cronlatch/client-ca/ca.crt"))'
render "${BASE[@]}" --set webhook.clientCA.configMapName=authorities
check "the same from a ConfigMap" holds '
  [one("Deployment"; "cronlatch-operator").spec.template.spec.volumes[] | select(.name == "config").projected.sources[].configMap
    | select(.name == "authorities").items[0].key] == ["ca.crt"]'
render "${BASE[@]}"
check "without it the setting is missing" holds 'one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("client-ca") | not'
check "both at once are refused" refused_with "not both" "${BASE[@]}" --set webhook.clientCA.configMapName=a,webhook.clientCA.secretName=b
check "helm uninstall keeps the policies and their bindings, and no other object" holds '
  [.[] | select(.metadata.annotations["helm.sh/resource-policy"] == "keep") | .kind]
    == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"]
  and ([.[] | select(.kind == "ValidatingAdmissionPolicy").metadata.name]
    == ["cronlatch-operator-patches", "cronlatch-mirrored-cronjobs", "cronlatch-gated-jobs"])'
check "no Helm hook can make an uninstall, an upgrade or an install fail" holds '
  [.[].metadata.annotations["helm.sh/hook"] // empty] | unique == ["test"]'
render --values "$CHART/ci/policy-only-values.yaml"
check "policies without a webhook are rendered alone" holds '
  one("ValidatingAdmissionPolicyBinding"; "cronlatch-mirrored-cronjobs") and one("ValidatingAdmissionPolicyBinding"; "cronlatch-gated-jobs")
  and all(.[]; .kind != "MutatingWebhookConfiguration" and .kind != "Job")'
render --values "$CHART/ci/hooks-only-values.yaml"
check "without policies both webhooks fail closed, in the selected namespaces" holds '
  [one("MutatingWebhookConfiguration"; "cronlatch").webhooks[] | .failurePolicy, .namespaceSelector.matchLabels.team]
    == ["Fail", "reports", "Fail", "reports"]'
render --values "$CHART/ci/everything-else-values.yaml"
check "names, labels and annotations of the values are on every object, and extraObjects are rendered" holds '
  (map(select(.metadata.name | startswith("cronlatch") | not)) | all(.[]; .metadata.labels.team == "platform" and .metadata.annotations.owner == "platform"))
  and one("ConfigMap"; "cronlatch-map") and one("ConfigMap"; "cronlatch-text")
  and (one("Deployment"; "latch-operator").spec.template.spec.serviceAccountName == "platform-operator")
  and all(.[]; .kind | test("Role|ServiceAccount$") | not)'
render --values "$CHART/ci/netpol-values.yaml"
check "the NetworkPolicy allows the store's port, that of registries, and no other" holds '
  one("NetworkPolicy"; "cronlatch-operator").spec | [.egress[].ports[]?.port] == [53, 53, 6443, 6390, 443]
  and [.ingress[].ports[]?.port] == [8443, 8080]'
render --values "$CHART/ci/netpol-values.yaml" --set entrypointLookup.enabled=false
check "without the lookup, no port of registries" holds '
  one("NetworkPolicy"; "cronlatch-operator").spec | [.egress[].ports[]?.port] == [53, 53, 6443, 6390]'

render --values "$CHART/ci/postgres-values.yaml"
check "PostgreSQL: its usual port and that of the second host, to the namespace of the servers only" holds '
  one("NetworkPolicy"; "cronlatch-operator").spec.egress[2]
    | [.ports[].port] == [5432, 6432] and .to[0].namespaceSelector.matchLabels["kubernetes.io/metadata.name"] == "shop"'
check "PostgreSQL: the URL is unchanged in the settings and in a written-out gate" holds '
  "postgres://cron@db-1.shop.svc.cluster.local.,db-2.shop.svc.cluster.local.:6432/cronlatch?target_session_attrs=read-write" as $url
  | (one("ConfigMap"; "cronlatch-operator").data["operator.yaml"] | contains("store: \"\($url)\""))
  and (one("CronJob"; "nightly").spec.jobTemplate.spec.template.spec.containers[0].command | index("--store=\($url)"))'

check "a monitor without its CRD is not rendered" bash -c "! '$HELM' template x '$CHART' --kube-version $KUBE_VERSION ${BASE[*]} --set serviceMonitor.enabled=true | grep -q monitoring.coreos.com"
check "a monitor without its CRD fails with renderMode failIfMissing" refused_with "no ServiceMonitor" "${BASE[@]}" \
  --set serviceMonitor.enabled=true,serviceMonitor.renderMode=failIfMissing
check "mode existing requires a Secret" refused_with "certificates.existingSecret" "${BASE[@]}" --set certificates.mode=existing
check "a written-out CronJob requires a store" refused_with "store.url is empty" \
  --set cronJobs.x.schedule=@daily,cronJobs.x.image=i,'cronJobs.x.command={a}'
check "a written-out CronJob with concurrencyPolicy Replace requires on-busy" refused_with "on-busy: wait" "${BASE[@]}" \
  --set cronJobs.x.schedule=@daily,cronJobs.x.image=i,cronJobs.x.concurrencyPolicy=Replace,'cronJobs.x.command={a}'
render --values "$CHART/ci/no-operator-values.yaml"
check "a written-out CronJob: gate in the command, wrapper in an init container, one lock each, \$ escaped for the kubelet" holds '
  (one("CronJob"; "nightly").spec.jobTemplate.spec | .podReplacementPolicy == "Failed"
    and (.template.spec | .initContainers[0].command == ["/cronlatch", "install", "/cronlatch-bin"]
      and (.containers[0] | .command[0:3] == ["/cronlatch-bin/cronlatch", "run", "--isolated"]
        and (.command | index("--lock=cronlatch/nightly") and index("--ttl=3m") and index("--skip-command=[\"/bin/echo\",\"$$(NAME)\"]"))
        and .command[(.command | index("--")):] == ["--", "/app/report", "--price", "$(PRICE)"] and .args == ["--all"])))
  and (one("CronJob"; "shared") | .metadata.namespace == "billing"
    and (.spec.jobTemplate.spec.template.spec.containers[0].command | index("--lock=_cluster/month-end")))
  and ([.. | objects | .annotations? // {} | keys[] | select(startswith("cronlatch.dev/"))] | length == 0)'
# ---- labels of the chart and labels of the user ----
has_own_labels() { holds '[.[] | .metadata, .spec.template.metadata? | select(. and .labels).labels | ."app.kubernetes.io/part-of"] | unique == ["cronlatch"]'; }
has_each_key_once() {
  # shellcheck disable=SC2016  # python
  python3 - "$STAGE/objects.yaml" <<'PY'
import sys, yaml
class Once(yaml.SafeLoader):
    pass
def mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            sys.exit(f"line {node.start_mark.line}: {key} twice")
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)
Once.add_constructor("tag:yaml.org,2002:map", mapping)
list(yaml.load_all(open(sys.argv[1]), Once))
PY
}
renders_user_labels() {
  render "${BASE[@]}" --set 'commonLabels.app\.kubernetes\.io/part-of=platform,commonLabels.team=a,commonLabels.empty=x,podLabels.empty=,podLabels.team=b' \
    --set 'podLabels.app\.kubernetes\.io/name=x,podAnnotations.kubectl\.kubernetes\.io/default-container=x' \
    --set serviceMonitor.enabled=true,serviceMonitor.renderMode=alwaysRender,serviceMonitor.additionalLabels.team=c || return
  has_own_labels && has_each_key_once && holds 'one("Deployment"; "cronlatch-operator").spec.template.metadata
    | .labels.team == "b" and .labels.empty == "" and .labels."app.kubernetes.io/name" == "cronlatch"
    and .annotations."kubectl.kubernetes.io/default-container" == "operator"'
}
check "labels of the user do not replace those of the chart, and no key occurs twice" renders_user_labels
check "a release whose name begins with a digit is refused" refused_with "begins with a digit" "${BASE[@]}" --set fullnameOverride=9a
has_dot() { [[ $("$HELM" template eu.west "$CHART" --kube-version "$KUBE_VERSION" "$@" 2>&1) == *'the name "eu.west-cronlatch" contains a dot, and Kubernetes refuses such a Service'* ]]; }
check "a release whose name contains a dot is refused" has_dot "${BASE[@]}"
check "but not with fullnameOverride" "$HELM" template eu.west "$CHART" --kube-version "$KUBE_VERSION" "${BASE[@]}" --set fullnameOverride=locks
check "a pause before the end that is too long is refused" refused_with "preStopSleepSeconds" "${BASE[@]}" --set terminationGracePeriodSeconds=4
check "select names a namespace that the operator does not serve" refused_with "is not in namespaces" "${BASE[@]}" --set-json 'namespaces=["shop"]' \
  --set-json 'select=[{"namespace":"other","annotations":{"lock":"true"}}]'
check "a written-out CronJob without access to the Redis of the chart" refused_with "Add it to redis.namespaces" --set redis.enabled=true \
  --set-json 'cronJobs={"a":{"namespace":"billing","schedule":"@daily","image":"i","command":["a"]}}'
check "a written-out CronJob with a cluster-wide lock in the Redis of the chart" refused_with "clusterLockNamespaces" --set redis.enabled=true \
  --set-json 'cronJobs={"a":{"lockScope":"cluster","schedule":"@daily","image":"i","command":["a"]}}'
check "on-busy: wait of the defaults applies to Replace" render "${BASE[@]}" --set defaults.on-busy=wait \
  --set-json 'cronJobs={"a":{"concurrencyPolicy":"Replace","schedule":"@daily","image":"i","command":["a"]}}'

# ---- names that YAML reads as another type: 2024 is a number, on is true ----
renders_names_as_text() {
  "$HELM" template 2024 "$CHART" --set fullnameOverride=locks --namespace 123 --kube-version "$KUBE_VERSION" "$@" >"$STAGE/objects.yaml" &&
    objects_of "$STAGE/objects.yaml" >"$STAGE/objects.json" &&
    holds '[.. | objects | to_entries[] | select(.key | IN("name", "namespace", "secretName", "serviceAccountName", "policyName", "key", "priorityClassName", "runtimeClassName", "storageClassName",
      "app.kubernetes.io/name", "app.kubernetes.io/instance")).value | select(type != "string")] == []' &&
    holds '[.[] | select(.kind == "Deployment").metadata | .name, .namespace] == ["locks-operator", "123"]'
}
check "names that are numbers are text" renders_names_as_text "${BASE[@]}" --set-string nameOverride=2024,store.secretName=1,store.caConfigMap=2,serviceAccount.name=3 \
  --set-string webhook.clientCA.secretName=4,webhook.clientCA.key=5,entrypointLookup.dockerConfigSecret=6,entrypointLookup.caConfigMap=7 \
  --set certificates.mode=existing --set-string certificates.existingSecret=8,priorityClassName=9,runtimeClassName=10 --set serviceMonitor.enabled=true,serviceMonitor.renderMode=alwaysRender
check "names that are booleans are text" renders_names_as_text --set redis.enabled=true --set-string nameOverride=2024,store.secretName=on,serviceAccount.name=off \
  --set-string redis.priorityClassName=1,redis.persistence.storageClass=2,'cronJobs.nightly.schedule=0 2 * * *,cronJobs.nightly.image=x,cronJobs.nightly.command={true},cronJobs.nightly.containerName=3'
finish
