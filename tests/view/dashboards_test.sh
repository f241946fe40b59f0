#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dashboards are what `./dev gen` would write now, and keep the rules of tests/view/lint_dashboards.py, which notices when they do not.
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

fresh() { render_dashboards "$STAGE/now" >/dev/null && diff -r "$CHART/dashboards" "$STAGE/now"; }
check "the dashboards are fresh (./dev gen)" fresh
same_index() { diff <(render_runbook_index) "$ROOT/docs/runbooks/README.md"; }
check "the index of runbooks is fresh (./dev gen)" same_index
lint() { python3 -B "$VIEW/lint_dashboards.py" "$@"; }
check "the dashboards keep the rules" lint

# control WHAT TEXT FILTER: a dashboard changed so is found, for that reason.
control() {
  rm -rf -- "$STAGE/broken"
  cp -r "$CHART/dashboards" "$STAGE/broken"
  jq "$3" "$CHART/dashboards/cronlatch-overview.json" >"$STAGE/broken/cronlatch-overview.json"
  check "control: $1 is found" says_why "$2"
}
says_why() {
  local seen
  if seen=$(lint "$STAGE/broken"); then echo "nothing was found" && return 1; fi
  [[ $seen == *"$1"* ]] || { printf 'found, but not "%s":\n%s\n' "$1" "$seen" && return 1; }
}
first='(first(.panels[] | select(.type == "timeseries")))'
control "a fixed data source" "variable datasource" "$first.datasource.uid = \"prometheus\""
control "a panel without a unit" "has no unit" "$first.fieldConfig.defaults.unit = \"\""
control "a panel without a description" "no sentence" "$first.description = \"\""
control "a counter as it is" "as it is" "$first.targets[0].expr = \"sum(cronlatch_lock_acquired_total{job=~\\\"\$job\\\", cluster=~\\\"\$cluster\\\"})\""
control "a window of its own" "looks back" "$first.targets[0].expr |= sub(\"__rate_interval\"; \"__interval\")"
control "a job by name" "names a job" "$first.targets[0].expr |= sub(\"job=~\\\"[\$]job\"; \"job=~\\\"cronlatch\")"
control "a metric that nobody exports" "does not know" "$first.targets[0].expr |= sub(\"acquired\"; \"taken\")"
control "a query for every cluster" "not limited to" "$first.targets[0].expr |= sub(\"cluster=~\\\"[\$]cluster\\\", \"; \"\")"
control "an unknown variable" "is no variable" "$first.targets[0].expr |= sub(\"[\$]lock\"; \"\$latch\")"
control "another uid" "no uid" '.uid = "x9"'
control "a link to no runbook" "what is not there" "$first.links = [{title: \"a\", url: \"\${runbooks}/CronlatchNothing.md\"}]"
finish
