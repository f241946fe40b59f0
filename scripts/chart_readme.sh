#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints charts/cronlatch/README.md, rendered from values.yaml: the comment directly above a key documents it, `## `
# begins a section, and the defaults are read as YAML.
set -euo pipefail
CHART=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../charts/cronlatch" && pwd)
# shellcheck source=packaging/project.env
source "$CHART/../../packaging/project.env"

# One line for each section (`section`, name) and for each documented key (`key`, dotted path, description).
documented_keys() {
  awk '
    /^## / {
      section = substr($0, 4); print "section\t" section "\t"
      comment = ""; next
    }
    /^$/ { comment = ""; next }
    /^ *# / { sub(/^ *# /, ""); comment = comment (comment == "" ? "" : " ") $0; next }
    {
      depth = match($0, /[^ ]/) - 1
      if (depth % 2 || !match($0, /^ *[A-Za-z0-9.\/-]+:/)) { comment = ""; next }
      key = substr($0, RSTART + depth, RLENGTH - depth - 1)
      level = depth / 2
      keys[level] = key
      path = keys[0]
      for (i = 1; i <= level; i++) path = path "." keys[i]
      if (comment != "" && section != "") print "key\t" path "\t" comment
      comment = ""
    }' "$CHART/values.yaml"
}

version=$(sed -n 's/^version: //p' "$CHART/Chart.yaml")
cat <<TEXT
<!-- Rendered from values.yaml by \`./dev gen\`. Do not edit. -->
# cronlatch Helm chart

$(sed -n 's/^description: //p' "$CHART/Chart.yaml").
Version $version, Kubernetes $(sed -nE 's/^kubeVersion: ">=([0-9]+\.[0-9]+).*/\1/p' "$CHART/Chart.yaml") or newer, Helm 3.

    kubectl create namespace cronlatch
    kubectl -n cronlatch create secret generic cronlatch-store --from-literal=username=cron --from-literal=password=... --from-file=ca.crt
    helm install cronlatch oci://$REGISTRY/charts/cronlatch --version $version -n cronlatch --set store.url=rediss://redis.shop.svc.cluster.local.:6379
    helm test cronlatch -n cronlatch

Annotations, their effects, certificates, GitOps, upgrade and uninstall: \`docs/kubernetes.md\`. Example values: \`ci/\`.
A value below enables each object that the chart can render. An unknown key is refused.
TEXT
documented_keys | jq --raw-input --raw-output --slurp --argjson values "$(/usr/bin/yq . "$CHART/values.yaml")" '
  def default_of($path): $values | getpath($path | split(".")) | tojson;
  split("\n")[] | select(. != "") | split("\t")
  | if .[0] == "section" then "\n## \(.[1])\n\n| value | default | meaning |\n| --- | --- | --- |"
    else "| `\(.[1])` | `\(default_of(.[1]))` | \(.[2]) |" end'
