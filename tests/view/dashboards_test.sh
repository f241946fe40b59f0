#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dashboards are up to date with `./dev gen` and pass tests/view/lint_dashboards.py. Controls show that the lint
# finds each error.
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

fresh() { render_dashboards "$STAGE/now" >/dev/null && diff -r "$CHART/dashboards" "$STAGE/now"; }
check "the dashboards are up to date (./dev gen)" fresh
same_index() { diff <(render_runbook_index) "$ROOT/docs/runbooks/README.md"; }
check "the index of runbooks is up to date (./dev gen)" same_index
lint() { python3 -B "$VIEW/lint_dashboards.py" "$@"; }
check "the dashboards pass the lint" lint

# control WHAT TEXT FILTER: the lint finds a dashboard with this change, and reports TEXT.
control() {
  rm -rf -- "$STAGE/broken"
  cp -r "$CHART/dashboards" "$STAGE/broken"
  jq "$3" "$CHART/dashboards/cronlatch-overview.json" >"$STAGE/broken/cronlatch-overview.json"
  check "control: $1 is found" lint_reports "$2"
}
lint_reports() {
  local seen
  if seen=$(lint "$STAGE/broken"); then echo "nothing was found" && return 1; fi
  [[ $seen == *"$1"* ]] || { printf 'found, but not "%s":\n%s\n' "$1" "$seen" && return 1; }
}
first='(first(.panels[] | select(.type == "timeseries")))'
control "a fixed data source" "variable datasource" "$first.datasource.uid = \"prometheus\""
control "a panel without a unit" "shows count in the unit none at all" "$first.fieldConfig.defaults.unit = \"\""
control "a rate shown as a count" "shows count/s in the unit short" "$first.targets[0].expr |= sub(\"increase\"; \"rate\")"
control "seconds shown as a count" "shows s in the unit short" \
  "$first.targets[0].expr = \"max(cronlatch_lock_hold_duration_percentile_seconds{job=~\\\"\$job\\\", cluster=~\\\"\$cluster\\\"})\""
control "a timestamp shown as a duration" "shows time in the unit s" '(.panels[] | select(.title == "Age of the lock statistics").targets[0].expr) |= sub("time\\(\\) - "; "")'
control "a column in another unit" "CronJob details, query A: shows s in the unit short" \
  '(.panels[] | select(.type == "table").fieldConfig.overrides[] | select(.matcher.options == "Last success").properties[] | select(.id == "unit").value) = "short"'
control "a sum of seconds and counts" "combines s and count with +" \
  "(.panels[] | select(.type == \"table\").targets[4].expr) |= . + \" + cronlatch_lock_held{job=~\\\"\$job\\\", cluster=~\\\"\$cluster\\\"}\""
control "a panel without a description" "no sentence" "$first.description = \"\""
control "a counter without rate or increase" "without rate or increase" "$first.targets[0].expr = \"sum(cronlatch_lock_acquired_total{job=~\\\"\$job\\\", cluster=~\\\"\$cluster\\\"})\""
control "a fixed window" "uses the window" "$first.targets[0].expr |= sub(\"__rate_interval\"; \"__interval\")"
control "a long subquery" "uses the window" "$first.targets[0].expr = \"sum(increase(cronlatch_lock_acquired_total{job=~\\\"\$job\\\", cluster=~\\\"\$cluster\\\"}[7d:30s]))\""
control "a recorded counter without increase" "without rate or increase" \
  "$first.targets[0].expr = \"sum(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{cluster=~\\\"\$cluster|\\\"})\""
control "a recording rule that does not exist" "does not list" \
  "$first.targets[0].expr = \"sum(increase(namespace_cronjob_lock:cronlatch_lock_taken_total:max{cluster=~\\\"\$cluster|\\\"}[24h]))\""
control "a fixed job" "selects a fixed job" "$first.targets[0].expr |= sub(\"job=~\\\"[\$]job\"; \"job=~\\\"cronlatch\")"
control "a metric that is not exported" "does not list" "$first.targets[0].expr |= sub(\"acquired\"; \"taken\")"
control "a query without the variable cluster" "not limited to" "$first.targets[0].expr |= sub(\"cluster=~\\\"[\$]cluster\\\", \"; \"\")"
control "an unknown variable" "is not a variable" "$first.targets[0].expr |= sub(\"[\$]lock\"; \"\$latch\")"
control "another uid" "no uid" '.uid = "x9"'
control "a link to a missing runbook" "links to a missing page" "$first.links = [{title: \"a\", url: \"\${runbooks}/CronlatchNothing.md\"}]"
rows='(.panels[] | select(.type == "table").fieldConfig.overrides[].properties[] | select(.id == "links").value[] | select(.url | startswith("/explore")))'
control "a link to Explore without a query" "without a query" "$rows.url = \"/explore\""
control "a link to Explore with an unknown data source" "an unknown data source: \${loki}" "$rows.url |= gsub(\"[{]logs[}]\"; \"{loki}\")"
control "a metric that is in no dashboard" "cronlatch_lock_stolen_total: is in no dashboard" \
  '(.. | strings) |= gsub("cronlatch_lock_stolen_total"; "cronlatch_lock_lost_total")'
control "a metric that is shown and listed as not shown" "cronlatch_lock_open: is in a dashboard" \
  '(.. | strings) |= gsub("cronlatch_lock_held\\b"; "cronlatch_lock_open")'
finish
