# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Common functions of the tests of rules and dashboards. Sourced by tests/view/*_test.sh.
# shellcheck disable=SC2034  # some of these variables are for the tests

# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"

VIEW=$ROOT/tests/view
RULES=$CHART/rules
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

for tool in "$YQ" jq promtool python3; do
  if ! command -v "$tool" >/dev/null; then
    skip "everything" "$tool not found (./dev installs it)"
    exit 0
  fi
done

alerts() { "$YQ" -r '.groups[].rules[].alert' "$RULES/alerts.yaml" | sort -u; }
