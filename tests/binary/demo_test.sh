#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each demo reaches its end: it checks every one of its steps, and fails when a result differs from its description.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

export TESTED_BINARY=$BINARY
demo() {
  local seen start=$SECONDS
  seen=$(bash "$ROOT/scripts/demo.sh" "$@" 2>&1) || { printf '%s\n' "$seen" && return 1; }
  [[ $seen == *$'\nResult: '* ]] || { printf 'no result:\n%s\n' "$seen" && return 1; }
  echo "$((SECONDS - start)) s"
}
check "demo: a run, a skipped run and a takeover on Redis" demo
check "demo postgres: the same on PostgreSQL, and a failover that loses no grant" demo postgres
check "demo failover: a failover of Redis that grants a lock twice, and the same with strict, which does not" demo failover
check "demo migrate: a fleet with cronlock that is moved host by host" demo migrate
refuses "an unknown demo is refused" demo postgresql
finish
