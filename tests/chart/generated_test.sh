#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The files generated from the chart are up to date with `./dev gen`, and the examples contain every annotation.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

same_as() { diff <("$2") "$1"; }
check "charts/cronlatch/values.schema.json has the names of the alerts (./dev gen)" same_as "$CHART/values.schema.json" render_schema
check "charts/cronlatch/README.md is up to date (./dev gen)" same_as "$CHART/README.md" render_readme
check "manifests/install.yaml is up to date (./dev gen)" same_as "$ROOT/manifests/install.yaml" render_install
check "manifests/policies.yaml is up to date (./dev gen)" same_as "$ROOT/manifests/policies.yaml" render_policies_manifest
all_parts() {  # KIND/NAME of each object, without the Namespace that only the manifest contains
  "$YQ" -r 'select(. != null) | "\(.kind)/\(.metadata.name)"' "$@" | grep -vx Namespace/cronlatch | sort
}
both_are_the_chart() {
  diff <(chart_template --no-hooks --values "$ROOT/manifests/install-values.yaml" | all_parts) \
    <(all_parts "$ROOT/manifests/install.yaml" "$ROOT/manifests/policies.yaml")
}
check "install.yaml and policies.yaml together contain the objects of the chart" both_are_the_chart
# The policy for the operator's own patches is deleted together with the operator.
leaves_policies() { ! all_parts "$ROOT/manifests/install.yaml" | grep '^ValidatingAdmissionPolicy' | grep -v '/cronlatch-operator-patches$'; }
check "kubectl delete -f manifests/install.yaml leaves the policies" leaves_policies
cp "$CHART/README.md" "$STAGE/stale.md"
echo "| \`x\` |" >>"$STAGE/stale.md"
refuses "control: an outdated page is found" same_as "$STAGE/stale.md" render_readme

has_no_hook() { ! grep -n 'helm.sh/hook' "$ROOT/manifests/install.yaml"; }
check "manifests/install.yaml contains no Helm hook" has_no_hook
same_version() {
  local program chart
  program=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")
  chart=$(sed -nE 's/^appVersion: (.*)/\1/p' "$CHART/Chart.yaml")
  echo "CMakeLists.txt: $program, Chart.yaml: $chart"
  [ -n "$program" ] && [ "$program" = "$chart" ] && grep -qE "^ +image: .*:$chart$" "$CHART/Chart.yaml"
}
check "the chart installs the version of this source tree" same_version

mapfile -t examples < <(find "$ROOT/manifests/examples" -name '*.yaml' | sort)
for example in "${examples[@]}"; do
  objects_of "$example" >"$STAGE/objects.json"
  check "example $(basename -- "$example"): one object in namespace demo, only annotations of cronlatch.dev" holds '
    length == 1 and (.[0] | .metadata.namespace == "demo" and (.kind == "CronJob" or .kind == "Job"))
    and ([.. | objects | .annotations? // {} | keys[] | select(startswith("cronlatch.dev/") | not)] | length == 0)'
done
# The options that may be annotations, as the schema lists them for written-out CronJobs, and the keys that are not
# options.
shown() { grep -ohE 'cronlatch\.dev/[a-z-]+: ' "${examples[@]}" | sed 's#cronlatch.dev/##; s/: //' | sort -u; }
expected() {
  {
    jq -r '.definitions.runOptions.properties | keys[]' "$CHART/values.schema.json"
    printf '%s\n' lock lock-scope once-per-schedule container command store-secret alert-after
  } | sort
}
each_is_shown() { diff <(expected) <(shown); }
check "each annotation is in an example" each_is_shown
each_is_documented() {
  local key undocumented=0
  for key in $(expected); do
    grep -qF "\`cronlatch.dev/$key\`" "$ROOT/docs/kubernetes.md" || { echo "docs/kubernetes.md does not document $key" && undocumented=1; }
  done
  return "$undocumented"
}
check "each annotation is documented in docs/kubernetes.md" each_is_documented
finish
