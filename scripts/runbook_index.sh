#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints docs/runbooks/README.md, rendered from charts/cronlatch/rules/alerts.yaml.
set -euo pipefail
RULES=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../charts/cronlatch/rules" && pwd)
cat <<'TEXT'
<!-- Rendered from charts/cronlatch/rules/alerts.yaml by `./dev gen`. Do not edit. -->
# Runbooks

One page for each alert: what it means, what to look at, what to do. `threshold`, `for` and the severity are the chart's values
`prometheusRule.alerts.<name>`; an alert without a number has nothing to set. How they belong together, and which of them
silence others: [operations.md](../operations.md#alerts).

| alert | severity | for | threshold | summary |
| --- | --- | --- | --- | --- |
TEXT
/usr/bin/yq . "$RULES/alerts.yaml" | jq -r '.groups[].rules[]
  | "| [\(.alert)](\(.alert).md) | \(.labels.severity) | \(.for // "at once") | \((.expr | capture("(?<n>[0-9.]+) # threshold") | .n) // "") | \(.annotations.summary) |"'
