#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes what is rendered from the chart and for it (README, index of runbooks, dashboards, manifest); part of ./dev gen.
# Without helm no manifest, and it says so.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"

# A rendering that breaks off must not leave half a file.
write() {
  local file=$1
  shift
  "$@" >"$file.new"
  mv "$file.new" "$file"
  echo "$file"
}

write "$CHART/README.md" render_readme
write "$ROOT/docs/runbooks/README.md" render_runbook_index
render_dashboards "$CHART/dashboards"
if find_helm; then
  write "$ROOT/manifests/install.yaml" render_install
  write "$ROOT/manifests/policies.yaml" render_policies_manifest
else
  echo "gen: no helm here (./dev cluster builds one), so manifests/install.yaml and policies.yaml stay as they are" >&2
fi
