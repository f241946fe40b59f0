#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rules and dashboards as the chart renders them: the files in rules/ and dashboards/ with settings from the values;
# none by default.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

ON=("${BASE[@]}" --set 'prometheusRule.enabled=true,prometheusRule.renderMode=alwaysRender')
rules() { jq '.[] | select(.kind == "PrometheusRule").spec' "$STAGE/objects.json"; }
sources() { "$YQ" . "$CHART/rules/recording.yaml" "$CHART/rules/alerts.yaml" | jq --slurp '{groups: map(.groups[])}'; }

render "${BASE[@]}"
check "by default neither rules nor dashboards are rendered" holds 'all(.[]; .kind != "PrometheusRule" and .kind != "GrafanaDashboard" and (.metadata.name | contains("dashboard") | not))'
render "${ON[@]}"
same_as_source() { diff <(sources | jq --sort-keys .) <(rules | jq --sort-keys .); }
check "without settings the rules are identical to those of rules/" same_as_source

render --values "$CHART/ci/view-values.yaml"
rules >"$STAGE/rules.json"
check "rules with settings are valid" promtool check rules "$STAGE/rules.json"
alert() { jq --exit-status --arg name "$1" "[.groups[].rules[] | select(.alert == \$name)] | $2" "$STAGE/rules.json"; }
check "a threshold, a time and a severity are values" alert CronlatchMostlySkipping \
  '.[0] | (.expr | contains("> 0.8 # threshold")) and .for == "6h" and .labels.severity == "warning"'
check "an alert can be disabled" alert CronlatchWaitTimeouts 'length == 0'
check "labels from the values: for all alerts, and for one alert" alert CronlatchLockStolen '.[0].labels == {severity: "warning", team: "platform", page: "no"}'
check "links use the URLs of runbooks and Grafana from the values" alert CronlatchDown '.[0].annotations | .runbook_url == "https://runbooks.example/cronlatch/CronlatchDown.md"
  and .dashboard_url == "https://grafana.example/d/cronlatch-operator"'
check "groups have the interval from the values" jq --exit-status 'all(.groups[]; .interval == "30s")' "$STAGE/rules.json"
check "the object has the labels by which it is selected" holds 'one("PrometheusRule"; "cronlatch") | .metadata.namespace == "monitoring" and .metadata.labels.release == "prometheus"'

# Two clusters with a store each: equal names belong to different locks.
cat >"$STAGE/worlds.yaml" <<'YAML'
rule_files: [rules.json]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'cronlatch_lock_stolen_total{cluster="east", namespace="a", cronjob="b", lock="c"}', values: '0x5 3x40'}
  - {series: 'cronlatch_lock_stolen_total{cluster="west", namespace="a", cronjob="b", lock="c"}', values: '9x45'}
  promql_expr_test:
  - expr: namespace_cronjob_lock:cronlatch_lock_stolen_total:max
    eval_time: 10m
    exp_samples:
    - {labels: 'namespace_cronjob_lock:cronlatch_lock_stolen_total:max{cluster="east", namespace="a", cronjob="b", lock="c"}', value: 3}
    - {labels: 'namespace_cronjob_lock:cronlatch_lock_stolen_total:max{cluster="west", namespace="a", cronjob="b", lock="c"}', value: 9}
  - expr: count by (cluster) (ALERTS{alertname="CronlatchLockStolen"})
    eval_time: 10m
    exp_samples: [{labels: '{cluster="east"}', value: 1}]
YAML
check "the lock statistics of several stores are separate" promtool test rules "$STAGE/worlds.yaml"
jq '.groups[].rules[].expr |= gsub("by \\(cluster, namespace, cronjob, lock"; "by (namespace, cronjob, lock")' "$STAGE/rules.json" >"$STAGE/mixed.json"
mv "$STAGE/mixed.json" "$STAGE/rules.json"
refuses "control: mixed lock statistics are found" promtool test rules "$STAGE/worlds.yaml"

check "a threshold for an alert without a threshold is refused" refused_with "has no threshold" "${ON[@]}" --set prometheusRule.alerts.CronlatchDown.threshold=1
check "an alert that does not exist is refused" refused_with "values don't meet" "${ON[@]}" --set prometheusRule.alerts.CronlatchUp.enabled=false
schema_lists_alerts() {
  diff <("$YQ" -r '.groups[].rules[].alert' "$CHART/rules/alerts.yaml" | sort -u) <(jq -r '.definitions.alertName.enum[]' "$CHART/values.schema.json")
}
check "the schema lists each alert" schema_lists_alerts
check "rules without their CRD fail with renderMode failIfMissing" refused_with "no PrometheusRule" "${BASE[@]}" --set prometheusRule.enabled=true,prometheusRule.renderMode=failIfMissing

check "dashboards have the label and the folder of the sidecar" holds '[.[] | select(.kind == "ConfigMap" and (.metadata.name | contains("dashboard")))]
  | map(.metadata.name) == ["cronlatch-dashboard-operator", "cronlatch-dashboard-overview"]
  and all(.[]; .metadata.labels["dashboards.example/grafana"] == "yes" and .metadata.annotations["k8s-sidecar-target-directory"] == "Platform")'
check "dashboards: several clusters, links to the runbooks URL of the values" holds 'all(.[] | select(.kind == "ConfigMap" and (.metadata.name | contains("dashboard"))) | .data[] | fromjson;
  (.templating.list | any(.[]; .name == "cluster" and .hide == 0) and any(.[]; .name == "runbooks" and .query == "https://runbooks.example/cronlatch")))'
row_links() { jq '[.[] | select(.kind == "ConfigMap" and .metadata.name == "cronlatch-dashboard-overview").data[] | fromjson.panels[] | select(.type == "table")
  .fieldConfig.overrides[].properties[] | select(.id == "links").value[].url]' "$STAGE/objects.json"; }
links_to_logs() { row_links | jq --exit-status 'map(select(contains("${logs}"))) == [] and any(.[]; contains("kube_job_status"))
  and any(.[]; . == "https://logs.example/?q=namespace:${__data.fields.Namespace}&pod=${__data.fields.CronJob}-*")'; }
check "dashboards: the link to the logs is that of the values" links_to_logs
check "GrafanaDashboards refer to the ConfigMaps" holds '[.[] | select(.kind == "GrafanaDashboard")] | length == 2 and all(.[]; .spec
  | .configMapRef.key == (.configMapRef.name | sub("-dashboard"; "")) + ".json" and .folder == "Platform" and .instanceSelector.matchLabels.dashboards == "platform")'
render "${BASE[@]}" --set dashboards.enabled=true
is_verbatim() {
  local page
  for page in "$CHART"/dashboards/*.json; do
    diff "$page" <(jq -j --arg key "$(basename -- "$page")" '.[] | select(.kind == "ConfigMap") | .data[$key] // empty' "$STAGE/objects.json") || return
  done
}
check "without settings the dashboards are identical to those of dashboards/" is_verbatim

render --values "$CHART/ci/monitoring-values.yaml"
check "monitors keep the namespace of the CronJob" holds 'all(.[] | select(.kind == "ServiceMonitor" or .kind == "PodMonitor") | (.spec.endpoints // .spec.podMetricsEndpoints)[]; .honorLabels)'
finish
