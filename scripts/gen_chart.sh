#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the files that are generated from the chart (README, index of runbooks, dashboards, manifests); part of ./dev
# gen. Without helm the manifests are not written, and a message reports that.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"

# A failed rendering must not leave an incomplete file.
write() {
  local file=$1
  shift
  "$@" >"$file.new"
  mv "$file.new" "$file"
  echo "$file"
}

write "$CHART/values.schema.json" render_schema
write "$CHART/README.md" render_readme
write "$ROOT/docs/runbooks/README.md" render_runbook_index
render_dashboards "$CHART/dashboards"
if find_helm; then
  write "$ROOT/manifests/install.yaml" render_install
  write "$ROOT/manifests/policies.yaml" render_policies_manifest
else
  echo "gen: helm not found, so manifests/install.yaml and policies.yaml were not rendered; run ./dev cluster up, which builds helm" >&2
fi
