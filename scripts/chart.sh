# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Renders the chart and the files that are generated from it: its README, the index of runbooks, the dashboards,
# manifests/install.yaml and manifests/policies.yaml. Sourced by scripts/gen_chart.sh, which writes these files, and by
# the tests, which compare them.

CHART=$ROOT/charts/cronlatch
# Debian's yq, a wrapper of jq for YAML. Another program of that name has another syntax.
# shellcheck disable=SC2034  # for tests/chart
YQ=/usr/bin/yq
# The oldest supported version of the API server.
KUBE_VERSION=1.30.0

# Sets HELM: the one in the environment, the one built for the test clusters, or the one on the path.
find_helm() {
  local candidate
  for candidate in "${HELM:-}" "$ROOT/build/cluster/tools/helm" "$(command -v helm || true)"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      HELM=$candidate
      return
    fi
  done
  return 1
}

# chart_template OPTION...: renders without a cluster.
chart_template() {
  "$HELM" template cronlatch "$CHART" --namespace cronlatch --kube-version "$KUBE_VERSION" "$@"
}

# The schema with the names of the alerts. cronlatch-gen renders its other generated lines.
render_schema() {
  local names
  names=$("$YQ" . "$CHART/rules/alerts.yaml" | jq -c '[.groups[].rules[].alert | values] | unique') || return
  sed "s|^    \"alertName\": .*|    \"alertName\": {\"type\": \"string\", \"enum\": $names},|" "$CHART/values.schema.json"
}
render_readme() { bash "$ROOT/scripts/chart_readme.sh"; }
render_runbook_index() { bash "$ROOT/scripts/runbook_index.sh"; }
render_dashboards() { python3 -B "$ROOT/scripts/dashboards/generate.py" "$1"; }

# kubectl ignores helm's annotation "keep". The policies therefore have a file of their own, which an uninstall does not
# delete.
render_operator() {  # render_operator VALUES-FILE OPTION...: all objects except the policies
  local values=$1
  shift
  chart_template --no-hooks --values "$values" --set policies.enabled=false "$@"
}
render_policies() {  # render_policies VALUES-FILE OPTION...
  local values=$1
  shift
  chart_template --show-only templates/webhook/policies.yaml --values "$values" "$@"
}

render_install() {
  cat <<'YAML'
# SPDX-License-Identifier: Apache-2.0
# Rendered from charts/cronlatch with manifests/install-values.yaml by `./dev gen`. Do not edit: write the address of
# your store into install-values.yaml and render again, or use the chart. Then:
#   kubectl apply --server-side -f manifests/policies.yaml -f manifests/install.yaml
# To uninstall: kubectl delete -f manifests/install.yaml. The policies remain, as after helm uninstall, and refuse
# annotated Jobs. kubectl cronlatch uninstall-check --remove deletes them when no CronJob requests a lock.
apiVersion: v1
kind: Namespace
metadata:
  name: cronlatch
  labels:
    pod-security.kubernetes.io/enforce: restricted
YAML
  render_operator "$ROOT/manifests/install-values.yaml"
}

render_policies_manifest() {
  cat <<'YAML'
# SPDX-License-Identifier: Apache-2.0
# Rendered from charts/cronlatch with manifests/install-values.yaml by `./dev gen`. Do not edit. The two policies that
# refuse Jobs without a gate. Apply this file together with install.yaml, and do not pass it to kubectl delete.
YAML
  render_policies "$ROOT/manifests/install-values.yaml"
}
