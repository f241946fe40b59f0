#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints docs/runbooks/README.md, rendered from charts/cronlatch/rules/alerts.yaml.
set -euo pipefail
RULES=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../charts/cronlatch/rules" && pwd)
cat <<'TEXT'
<!-- Rendered from charts/cronlatch/rules/alerts.yaml by `./dev gen`. Do not edit. -->
# Runbooks

Each alert has a runbook: its meaning, the diagnosis, the resolution. The chart value `prometheusRule.alerts.<name>`
sets `threshold`, `for` and the severity. An alert without a number in the column `threshold` has no threshold.
Dependencies between alerts and their inhibition: [operations.md](../operations.md#alerts).

| alert | severity | for | threshold | summary |
| --- | --- | --- | --- | --- |
TEXT
/usr/bin/yq . "$RULES/alerts.yaml" | jq -r '.groups[].rules[]
  | "| [\(.alert)](\(.alert).md) | \(.labels.severity) | \(.for // "at once") | \((.expr | capture("(?<n>[0-9.]+) # threshold") | .n) // "") | \(.annotations.summary) |"'
