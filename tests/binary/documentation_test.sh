#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command, flag, metric, alert, annotation, Event reason, log event and chart value in the documentation exists.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$ROOT" || exit 1

exist() { python3 tests/binary/documented.py "$BINARY" "$PLUGIN" "$@"; }
# A decision record names what existed when it was written.
pages=(README.md CONTRIBUTING.md SECURITY.md charts/cronlatch/README.md tests/cluster/README.md docs/*.md
  docs/migrating/*.md docs/reference/*.md docs/runbooks/*.md)
check "everything that ${#pages[@]} pages name exists" exist "${pages[@]}"

# Controls: one wrong name in a page is found, and the same page with the correct name is accepted.
page=$(mktemp)
trap 'rm -f -- "$page"' EXIT
control() {  # control WHAT CORRECT WRONG
  printf '%s\n' "$2" >"$page"
  check "control: $1 that exists is accepted" exist "$page"
  printf '%s\n' "$3" >"$page"
  refuses "control: $1 that does not exist is found" exist "$page"
}
# shellcheck disable=SC2016 # the backticks are those of Markdown
code() { printf '```\n%s\n```' "$1"; }
# shellcheck disable=SC2016 # the backticks are those of Markdown
{
  control "a subcommand" '`cronlatch show LOCK`' '`cronlatch display LOCK`'
  control "a subcommand in a block" "$(code 'cronlatch ls')" "$(code 'cronlatch list')"
  control "an option" '`cronlatch run --on-busy wait -- a --b`' '`cronlatch run --if-busy wait -- a --b`'
  control "another program" '`cronlatch as lockrun --wait`' '`cronlatch as lockrum --wait`'
  control "a flag of another program" '`cronlatch as lockrun --lockfile=a`' '`cronlatch as lockrun --lock=a`'
  control "a flag" "$(code 'cronlatch release a --no-wait')" "$(code 'cronlatch release a --nowait')"
  control "a verb" '`kubectl cronlatch why A`' '`kubectl cronlatch where A`'
  control "a flag of a verb" '`kubectl cronlatch release A --force`' '`kubectl cronlatch why A --force`'
  control "a command of developers" '`./dev gen`' '`./dev generate`'
  control "a metric" '`cronlatch_lock_wait_duration_seconds_bucket`' '`cronlatch_lock_wait_seconds_bucket`'
  control "an alert" '`CronlatchDown`' '`CronlatchOff`'
  control "an annotation" '`cronlatch.dev/on-busy: wait`' '`cronlatch.dev/if-busy: wait`'
  control "the reason of an Event" '`reason=Skipped`' '`reason=SkippedRun`'
  control "a log event" '`credentials_kept`' '`credentials_stay`'
  control "a chart value" '`prometheusRule.enabled`' '`prometheusRule.active`'
}
finish
