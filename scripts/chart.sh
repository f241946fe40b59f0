# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What renders the chart, and what is rendered from it or for it: its README, the index of runbooks, the dashboards,
# manifests/install.yaml and manifests/policies.yaml. Sourced by scripts/gen_chart.sh, which writes them, and by the tests, which compare them.

CHART=$ROOT/charts/cronlatch
# Debian's, which is jq for YAML; another program of that name speaks another language.
# shellcheck disable=SC2034  # for tests/chart
YQ=/usr/bin/yq
# The oldest API server that is supported: what renders for it renders for every newer one.
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

# chart_template OPTION...: rendered without asking any cluster.
chart_template() {
  "$HELM" template cronlatch "$CHART" --namespace cronlatch --kube-version "$KUBE_VERSION" "$@"
}

render_readme() { bash "$ROOT/scripts/chart_readme.sh"; }
render_runbook_index() { bash "$ROOT/scripts/runbook_index.sh"; }
render_dashboards() { python3 -B "$ROOT/scripts/dashboards/generate.py" "$1"; }

# kubectl does not know helm's annotation "keep". The policies therefore have a file of their own, which an uninstall leaves out.
render_operator() {  # render_operator VALUES-FILE OPTION...: everything but the policies
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
# Rendered from charts/cronlatch with manifests/install-values.yaml by `./dev gen`. Do not edit: write your store's address into
# install-values.yaml and render again, or use the chart. Then:
#   kubectl apply --server-side -f manifests/policies.yaml -f manifests/install.yaml
# To uninstall: kubectl delete -f manifests/install.yaml. The policies stay, as after helm uninstall, and refuse annotated Jobs;
# kubectl cronlatch uninstall-check --remove deletes them when no CronJob asks for a lock.
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
# Rendered from charts/cronlatch with manifests/install-values.yaml by `./dev gen`. Do not edit. The two policies that refuse Jobs
# without a gate; apply this file together with install.yaml, and leave it out of kubectl delete.
YAML
  render_policies "$ROOT/manifests/install-values.yaml"
}
