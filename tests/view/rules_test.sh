#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every alert has a case in which it fires, a case in which it does not fire, and a runbook. The cases fail when an
# alert is changed.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

check "promtool finds no error in the rules" promtool check rules "$RULES/recording.yaml" "$RULES/alerts.yaml"
mapfile -t names < <(alerts)
check "there are alerts" [ "${#names[@]}" -ge 20 ]

# cases_pass ALERT FILE: the cases of the alert pass with the alert as it is in FILE and the recording rules. Without the other
# alerts, because promtool evaluates all rules of a file at every minute.
cases_pass() {
  local root=$STAGE/$1
  mkdir -p "$root/charts/cronlatch/rules" "$root/tests/view/rules"
  cp "$RULES/recording.yaml" "$root/charts/cronlatch/rules/"
  cp "$VIEW/rules/$1.yaml" "$root/tests/view/rules/"
  jq --arg alert "$1" '.groups[].rules |= map(select(.alert == $alert)) | .groups |= map(select(.rules != []))' \
    "$2" >"$root/charts/cronlatch/rules/alerts.yaml"
  promtool test rules "$root/tests/view/rules/$1.yaml"
}
"$YQ" . "$RULES/alerts.yaml" >"$STAGE/alerts.yaml"

# has_pair ALERT: the file with its name has both kinds of case, and no other alert.
has_pair() {
  "$YQ" . "$VIEW/rules/$1.yaml" | jq --exit-status --arg alert "$1" '[.tests[].alert_rule_test[]]
    | all(.[]; .alertname == $alert) and any(.[]; .exp_alerts | length > 0) and any(.[]; .exp_alerts | length == 0)'
}
# A runbook has all sections, and commands.
is_runbook() {
  local page=$ROOT/docs/runbooks/$1.md part
  for part in "# $1" '## What it means' '## What to look at' '## What to do' '```'; do
    grep -qxF -- "$part" "$page" || { echo "docs/runbooks/$1.md has no line '$part'" && return 1; }
  done
}
# The first command of a runbook reads the state of the locks, and no command of the diagnosis changes anything.
CHANGES=' (restart|delete|undo|rollback|annotate|patch|set|scale|apply|create job [a-z]+ --from|upgrade|--force)( |$)'
looks_first() {
  local commands
  commands=$(sed -n '/^## What to look at/,/^## What to do/p' "$ROOT/docs/runbooks/$1.md" | sed -n '/^```$/,/^```$/p' | grep -v '^```')
  [[ $commands == "kubectl cronlatch "* ]] || { echo "docs/runbooks/$1.md: the first command is not kubectl cronlatch" && return 1; }
  ! grep -E "$CHANGES" <<<"$commands"
}
# "What to do" begins with a text, which contains the decision, or with a command that changes nothing.
decides_first() {  # decides_first PAGE
  local first
  mapfile -t first < <(sed '1,/^## What to do/d' "$1" | grep -v '^$' | head -n 2)
  [ "${first[0]}" != '```' ] || ! grep -iE "$CHANGES" <<<"${first[1]}"
}
for name in "${names[@]}"; do
  check "$name: its runbook begins with kubectl cronlatch, and looks before it changes" looks_first "$name"
  check "$name: what to do begins with a text, or with a command that reads" decides_first "$ROOT/docs/runbooks/$name.md"
  check "$name: has a case that fires and a case that does not" has_pair "$name"
  check "$name: its cases pass" cases_pass "$name" "$STAGE/alerts.yaml"
  check "$name: has a runbook" is_runbook "$name"
done
same_names() { diff <(printf '%s\n' "${names[@]}") <(find "$@" -printf '%f\n' | sed 's/\.[a-z]*$//' | sort); }
check "each case has an alert" same_names "$VIEW/rules" -name '*.yaml'
check "each runbook has an alert" same_names "$ROOT/docs/runbooks" -name 'Cronlatch*.md'
has_annotations() {
  "$YQ" . "$RULES/alerts.yaml" | jq --exit-status '[.groups[].rules[]] | all(.[]; . as $rule
    | (.labels.severity | IN("critical", "warning", "info"))
    and (.annotations | (.summary | endswith(".")) and (.description | endswith("."))
      and .runbook_url == "docs/runbooks/\($rule.alert).md" and (.dashboard_url | test("^/d/cronlatch-(overview|operator)"))))'
}
check "each alert has a severity, a summary, a description, a runbook and a dashboard" has_annotations

# all_found FILTER: changes every alert with the filter. The cases of each changed alert must then fail. Prints
# the alerts whose cases pass. Each of the seven controls tests a seventh of the alerts, and each alert is in one control;
# with LONG_TESTS=1 each control tests all of them.
cases_hold() { cases_pass "$1" "$STAGE/broken.yaml" >/dev/null 2>&1 && echo "cases still pass: $1"; }
export -f cases_hold cases_pass
export STAGE RULES VIEW
all_found() {
  local changed
  "$YQ" . "$RULES/alerts.yaml" | jq "(.groups[].rules[] | select(.alert)) |= ($1)" >"$STAGE/broken.yaml"
  promtool check rules "$STAGE/broken.yaml" || return
  mapfile -t changed < <(diff <(lines "$RULES/alerts.yaml") <(lines "$STAGE/broken.yaml") | sed -n 's/^> //p' | cut -f 1 | sort -u)
  [ ${#changed[@]} -gt 0 ] || { echo "no alert was changed" && return 1; }
  ! printf '%s\n' "${changed[@]}" | in_turn | xargs -P "$JOBS" -I '{}' bash -c 'cases_hold {}' | grep .
}
TURN=0
in_turn() {
  if [ -n "${LONG_TESTS:-}" ]; then cat; else grep -xF -f <(printf '%s\n' "${names[@]}" | awk -v turn="$TURN" 'NR % 7 == turn % 7'); fi
}
lines() { "$YQ" . "$1" | jq -r '.groups[].rules[] | "\(.alert)\t\(tojson)"'; }
control() {
  TURN=$((TURN + 1))
  check "control: $1 is found" all_found "$2"
}
# Without a change all cases passed above. A failure below is therefore caused by the change.
control "each alert that cannot fire" '.expr = "vector(0) > 1"'
control "each alert that always fires" '.expr = "vector(1)" | del(.for)'
control "each changed threshold" '.expr |= sub("(?<n>[0-9.]+) # threshold"; "\((.n | tonumber) * 2 + 5)")'
control "each inverted comparison" '.expr |= gsub("(?<before>[^=!<>]) (?<sign>[<>]) "; "\(.before) \({"<": ">", ">": "<"}[.sign]) ") | .expr |= gsub(" [!=]= "; " > ")'
control "each alert with twice its \`for\`" 'if .for then .for |= (capture("(?<n>[0-9]+)(?<u>.)") | "\((.n | tonumber) * 2)\(.u)") else . end'
control "each alert without its \`for\`" 'del(.for)'
control "each changed summary" '.annotations.summary += "!"'
finish
