#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench gate measures each subject with the scripts and options of today. Its figures are not judged here.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

measured() {
  local seen
  seen=$(bash "$ROOT/scripts/bench.sh" gate 2 2>&1)
  grep -qF '| budget | measured | at most | |' <<<"$seen" || { printf '%s\n' "$seen" && return 1; }
}
check "every subject of the gate's benchmark runs" measured
finish
