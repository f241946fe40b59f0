#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every alert has a case in which it fires, one in which it does not, and a runbook; and the cases notice when an alert is broken.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

check "promtool finds nothing wrong with the rules" promtool check rules "$RULES/recording.yaml" "$RULES/alerts.yaml"
mapfile -t names < <(alerts)
check "there are alerts" [ "${#names[@]}" -ge 17 ]

# has_pair ALERT: both kinds of case, of this alert and no other, in the file of its name.
has_pair() {
  "$YQ" . "$VIEW/rules/$1.yaml" | jq --exit-status --arg alert "$1" '[.tests[].alert_rule_test[]]
    | all(.[]; .alertname == $alert) and any(.[]; .exp_alerts | length > 0) and any(.[]; .exp_alerts | length == 0)'
}
# A runbook says what it means, what to look at, and what to do, with commands.
is_runbook() {
  local page=$ROOT/docs/runbooks/$1.md part
  for part in "# $1" '## What it means' '## What to look at' '## What to do' '```'; do
    grep -qxF -- "$part" "$page" || { echo "docs/runbooks/$1.md has no line '$part'" && return 1; }
  done
}
for name in "${names[@]}"; do
  check "$name: has a case that fires and one that does not" has_pair "$name"
  check "$name: its cases hold" promtool test rules "$VIEW/rules/$name.yaml"
  check "$name: has a runbook" is_runbook "$name"
done
same_names() { diff <(printf '%s\n' "${names[@]}") <(find "$@" -printf '%f\n' | sed 's/\.[a-z]*$//' | sort); }
check "there is no case without an alert" same_names "$VIEW/rules" -name '*.yaml'
check "there is no runbook without an alert" same_names "$ROOT/docs/runbooks" -name 'Cronlatch*.md'
says_all() {
  "$YQ" . "$RULES/alerts.yaml" | jq --exit-status '[.groups[].rules[]] | all(.[]; . as $rule
    | (.labels.severity | IN("critical", "warning", "info"))
    and (.annotations | (.summary | endswith(".")) and (.description | endswith("."))
      and .runbook_url == "docs/runbooks/\($rule.alert).md" and (.dashboard_url | test("^/d/cronlatch-(overview|operator)"))))'
}
check "each alert says its severity, what happens, and where to look" says_all

# all_found FILTER: every alert is broken by it at once: the cases of each that it changes must notice, alone with its
# recording rules (promtool works out all that a file holds, at every minute). Prints those that did not.
cases_hold() {
  local root=$STAGE/$1
  mkdir -p "$root/charts/cronlatch/rules" "$root/tests/view/rules"
  cp "$RULES/recording.yaml" "$root/charts/cronlatch/rules/"
  cp "$VIEW/rules/$1.yaml" "$root/tests/view/rules/"
  jq --arg alert "$1" '.groups[].rules |= map(select(.alert == $alert)) | .groups |= map(select(.rules != []))' \
    "$STAGE/broken.yaml" >"$root/charts/cronlatch/rules/alerts.yaml"
  promtool test rules "$root/tests/view/rules/$1.yaml" >/dev/null 2>&1 && echo "not noticed: $1"
}
export -f cases_hold
export STAGE RULES VIEW
all_found() {
  local changed
  "$YQ" . "$RULES/alerts.yaml" | jq "(.groups[].rules[] | select(.alert)) |= ($1)" >"$STAGE/broken.yaml"
  promtool check rules "$STAGE/broken.yaml" || return
  mapfile -t changed < <(diff <(lines "$RULES/alerts.yaml") <(lines "$STAGE/broken.yaml") | sed -n 's/^> //p' | cut -f 1 | sort -u)
  [ ${#changed[@]} -gt 0 ] || { echo "nothing was broken" && return 1; }
  ! printf '%s\n' "${changed[@]}" | xargs -P "$JOBS" -I '{}' bash -c 'cases_hold {}' | grep .
}
lines() { "$YQ" . "$1" | jq -r '.groups[].rules[] | "\(.alert)\t\(tojson)"'; }
control() { check "control: $1 is noticed" all_found "$2"; }
# The cases alone, unbroken, hold: what fails below fails because it was broken.
unbroken() {
  "$YQ" . "$RULES/alerts.yaml" >"$STAGE/broken.yaml"
  ! printf '%s\n' "${names[@]}" | xargs -P "$JOBS" -I '{}' bash -c 'cases_hold {} >/dev/null || echo "fails: {}"' | grep .
}
check "control: an alert alone is judged like all together" unbroken
control "each alert that cannot fire" '.expr = "vector(0) > 1"'
control "each alert that always fires" '.expr = "vector(1)" | del(.for)'
control "each threshold that moved" '.expr |= sub("(?<n>[0-9.]+) # threshold"; "\((.n | tonumber) * 2 + 5)")'
control "each comparison that was turned round" '.expr |= gsub("(?<before>[^=!<>]) (?<sign>[<>]) "; "\(.before) \({"<": ">", ">": "<"}[.sign]) ") | .expr |= gsub(" [!=]= "; " > ")'
control "each alert that waits twice as long" 'if .for then .for |= (capture("(?<n>[0-9]+)(?<u>.)") | "\((.n | tonumber) * 2)\(.u)") else . end'
control "each alert that does not wait" 'del(.for)'
control "each word that changed" '.annotations.summary += "!"'
finish
