#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev chaos [MINUTES] [OPTION...]: builds the programs of the chaos runs, and starts tests/chaos/chaos.py.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# A variable that is exported in a developer's shell must not change a test.
unset "${!CRONLATCH_@}"

RESULTS=$ROOT/build/chaos
PROGRAMS=$RESULTS/programs
mkdir -p "$PROGRAMS"
# Not in a build tree: the preset `suites` compiles nothing, and needs them too.
build() {  # build OUTPUT SOURCE FLAG...
  local output=$1 source=$2
  shift 2
  [ "$output" -nt "$source" ] || c++ -std=c++20 -O1 -Wall -Wextra -Werror "$@" -o "$output" "$source"
}
build "$PROGRAMS/command" "$ROOT/tests/chaos/command.cc" -static
build "$PROGRAMS/clock.so" "$ROOT/tests/support/stepped_clock/clock.cc" -shared -fPIC
# The last --wrapper counts.
exec python3 -B "$ROOT/tests/chaos/chaos.py" --programs "$PROGRAMS" --results "$RESULTS" \
  --wrapper "${TESTED_BINARY:-$BINARY}" "$@"
