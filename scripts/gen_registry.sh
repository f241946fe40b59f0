#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes REGISTRY and SOURCE of packaging/project.env into the chart, and both into every text that names them; the version
# into the commands that download a release. Part of ./dev gen. tests/packaging/registry_test.sh compares them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/project.env
source packaging/project.env

# What the chart contains until now: image.registry and the folder of image.repository, and home.
former=$(sed -nE '/^image:/,/^  tag:/ s/^  registry: "?([^"]*)"?$/\1/p' charts/cronlatch/values.yaml)/$(
  sed -nE '/^image:/,/^  tag:/ s,^  repository: (.*)/cronlatch$,\1,p' charts/cronlatch/values.yaml)
former_source=$(sed -n 's/^home: //p' charts/cronlatch/Chart.yaml)
version=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
sed -i -E "/^image:/,/^  tag:/ { s,^  registry: .*,  registry: ${REGISTRY%%/*}, ; s,^  repository: .*,  repository: ${REGISTRY#*/}/cronlatch, }" \
  charts/cronlatch/values.yaml
sed -i -E "s,^home: .*,home: $SOURCE, ; s,^sources: .*,sources: [$SOURCE], ; s,^icon: .*,icon: $SOURCE/raw/main/packaging/icon.svg, ; s,^(      image: ).*/cronlatch:,\1$REGISTRY/cronlatch:," \
  charts/cronlatch/Chart.yaml
texts() { { grep -rlF "$1" README.md docs --include='*.md' || true; } | grep -v '^docs/decisions/' || true; }
[ "$former_source" = "$SOURCE" ] || texts "$former_source/releases/" | xargs -r sed -i "s,$former_source/releases/,$SOURCE/releases/,g"
[ "$former" = "$REGISTRY" ] || texts "${former#/}/" | xargs -r sed -i "s,\(oci://\|[ =\"\`]\)${former#/}/,\1$REGISTRY/,g"
number='[0-9]+\.[0-9]+\.[0-9]+'
{ texts "$SOURCE/releases/download/" && texts "$REGISTRY/"; } | sort -u |
  xargs -r sed -i -E "s,(/releases/download/v)$number,\1$version,g; s,(cronlatch[_-])$number([_-]),\1$version\2,g; s,($REGISTRY/(charts/cronlatch --version |cronlatch:))$number,\1$version,g
    s,(targetRevision: )$number,\1$version,; s,(semver: )[0-9]+\.[0-9]+\.x,\1${version%.*}.x,"
