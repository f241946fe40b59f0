#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/release/sign_key.sh CHART.YAML: writes the annotation artifacthub.io/signKey, from CHART_SIGN_KEY="FINGERPRINT URL":
# the OpenPGP key of the chart's provenance file, and the address of its public part. Without it, the file is unchanged.
set -euo pipefail
[ -n "${CHART_SIGN_KEY:-}" ] || exit 0
if [[ ! $CHART_SIGN_KEY =~ ^([0-9A-F]{40})\ (https://[^[:space:]]+)$ ]]; then
  echo "CHART_SIGN_KEY: '$CHART_SIGN_KEY' is not a fingerprint of 40 hex digits, a blank and an https:// URL" >&2
  exit 64
fi
key="fingerprint: ${BASH_REMATCH[1]}
url: ${BASH_REMATCH[2]}
"
# shellcheck disable=SC2016  # yq has variables of its own
/usr/bin/yq -y --arg key "$key" '.annotations["artifacthub.io/signKey"] = $key' "$1" >"$1.new"
mv "$1.new" "$1"
