#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target once over its seeds in tests/fuzz/corpus, with the sanitizers: what was found once stays fixed.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

status=0
for source in "$ROOT"/tests/fuzz/*_fuzz.cc; do
  target=$(basename -- "$source" _fuzz.cc)
  corpus=$ROOT/tests/fuzz/corpus/$target
  seeds=$(find "$corpus" -type f 2>/dev/null | wc -l)
  log=$(mktemp)
  if [ "$seeds" -gt 0 ] &&
    "$ROOT/build/asan/tests/fuzz/fuzz_$target" -runs=0 -timeout=10 -rss_limit_mb=1024 "$corpus" >"$log" 2>&1; then
    echo "ok    fuzz: $target, $seeds seeds"
  else
    echo "FAIL  fuzz: $target, $seeds seeds"
    tail -n 40 "$log"
    status=1
  fi
  rm -f "$log"
done
exit $status
