# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Common functions of the chart's tests: rendering, and jq filters over rendered objects. Sourced by
# tests/chart/*_test.sh.

# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=scripts/chart.sh
source "$ROOT/scripts/chart.sh"

# shellcheck disable=SC2034  # for the tests
BASE=(--set store.url=rediss://redis.shop.svc.cluster.local.)
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

for tool in "$YQ" jq; do
  if ! command -v "$tool" >/dev/null; then
    skip "everything" "$tool not found (./dev installs it)"
    exit 0
  fi
done
if ! find_helm; then
  skip "everything" "helm not found (./dev cluster builds it)"
  exit 0
fi

# render OPTION...: the objects as one JSON array in $STAGE/objects.json.
render() { chart_template "$@" >"$STAGE/objects.yaml" && objects_of "$STAGE/objects.yaml" >"$STAGE/objects.json"; }
objects_of() { "$YQ" . "$@" | jq --slurp 'map(select(. != null))'; }

# holds FILTER: the filter is true for the array of objects that were rendered last. `one(KIND; NAME)` returns one
# object.
holds() {
  jq --exit-status "def one(\$kind; \$name): map(select(.kind == \$kind and .metadata.name == \$name))
      | if length == 1 then .[0] else error(\"\(length) objects \(\$kind)/\(\$name)\") end;
    $1" "$STAGE/objects.json" >/dev/null || {
    echo "false: $1"
    jq -c '[.[] | "\(.kind)/\(.metadata.name)"]' "$STAGE/objects.json"
    return 1
  }
}

# refused_with TEXT OPTION...: rendering fails, and the error contains TEXT.
refused_with() {
  local text=$1 seen
  shift
  if seen=$(chart_template "$@" 2>&1); then
    echo "rendered: $*"
    return 1
  fi
  [[ $seen == *"$text"* ]] || { printf 'refused, but without "%s":\n%s\n' "$text" "$seen" && return 1; }
}

values_files() { find "$CHART/ci" -name '*-values.yaml' | sort; }
