#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes REGISTRY and SOURCE of packaging/project.env into the chart, and the registry into every text that names it; part
# of ./dev gen. tests/packaging/registry_test.sh compares them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/project.env
source packaging/project.env

# What the chart contains until now: image.registry and the folder of image.repository.
former=$(sed -nE '/^image:/,/^  tag:/ s/^  registry: "?([^"]*)"?$/\1/p' charts/cronlatch/values.yaml)/$(
  sed -nE '/^image:/,/^  tag:/ s,^  repository: (.*)/cronlatch$,\1,p' charts/cronlatch/values.yaml)
sed -i -E "/^image:/,/^  tag:/ { s,^  registry: .*,  registry: ${REGISTRY%%/*}, ; s,^  repository: .*,  repository: ${REGISTRY#*/}/cronlatch, }" \
  charts/cronlatch/values.yaml
sed -i -E "s,^home: .*,home: $SOURCE, ; s,^sources: .*,sources: [$SOURCE], ; s,^(      image: ).*/cronlatch:,\1$REGISTRY/cronlatch:," \
  charts/cronlatch/Chart.yaml
[ "$former" != "$REGISTRY" ] || exit 0
grep -rlF "${former#/}/cronlatch" README.md docs --include='*.md' | xargs -r sed -i "s,\(oci://\|[ =\"\`]\)${former#/}/,\1$REGISTRY/,g"
