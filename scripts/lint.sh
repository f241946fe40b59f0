#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev lint [quick|fix]: the quick checks, the allowed uses of libraries, and (not quick) clang-tidy over every source file.
# fix formats every C++ file in place and runs no check.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = fix ]; then
  find src tests bench \( -name '*.cc' -o -name '*.h' \) -exec clang-format -i {} +
  exit
fi
status=0
bash scripts/lint_quick.sh || status=1
bash tests/binary/libraries_test.sh || status=1
if [ "${1:-}" != quick ]; then
  say "clang-tidy (checks: .clang-tidy), $JOBS in parallel"
  configure asan
  # The sources include generated files, which must exist.
  cmake --build build/asan --parallel "$JOBS" --target store >&2 || status=1
  find src \( -path src/operator -o -path src/rest -o -path src/gen \) -prune -o -name '*.cc' -print0 |
    xargs -0 -n 4 -P "$JOBS" clang-tidy --quiet -p build/asan || status=1
  # The asan build does not contain the operator's modules. Their compile commands are in the dev build.
  configure dev
  find src/operator src/rest src/gen -name '*.cc' -print0 |
    xargs -0 -n 4 -P "$JOBS" clang-tidy --quiet -p build/dev --extra-arg=-Wno-unknown-warning-option || status=1
fi
exit $status
