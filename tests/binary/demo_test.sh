#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each demo reaches its end within a limit: it checks every one of its steps, and fails when a result differs from its
# description. README and ./dev help promise less than a minute for the first one, after the build.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

export TESTED_BINARY=$BINARY
# demo SECONDS [NAME]
demo() {
  local seen limit=$1 start=$SECONDS
  shift
  seen=$(timeout --verbose "$limit" bash "$ROOT/scripts/demo.sh" "$@" 2>&1) || { printf '%s\n' "$seen" && return 1; }
  [[ $seen == *$'\nResult: '* ]] || { printf 'no result:\n%s\n' "$seen" && return 1; }
  echo "$((SECONDS - start)) s"
}
check "demo: a run, a skipped run and a takeover on Redis, in less than a minute" demo 60
check "demo postgres: the same on PostgreSQL, and a failover that loses no grant" demo 120 postgres
check "demo failover: a failover of Redis that grants a lock twice, and the same with strict, which does not" demo 120 failover
check "demo migrate: a fleet with cronlock that is moved host by host" demo 120 migrate
refuses "an unknown demo is refused" demo 60 postgresql
finish
