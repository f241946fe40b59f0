# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of programs for arm64. Sourced by tests/arm64/*_test.sh.
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=tests/binary/static_program.sh
source "$ROOT/tests/binary/static_program.sh"
# Dynamic programs for arm64 find their loader and libraries there.
export QEMU_LD_PREFIX=$ROOT/build/sysroot/arm64

# start_in_arm64 PROGRAM PRESET ARGUMENT...: starts the test again where the kernel starts programs of arm64 with qemu-user.
start_in_arm64() {
  local program=$1 preset=$2 cannot
  shift 2
  [ "${1:-}" != inside ] || return 0
  [ -x "$program" ] || { skip "programs of arm64" "./dev build $preset creates ${program#"$ROOT/"}" && finish; }
  cannot=$(bash "$ROOT/scripts/with_arm64.sh" true 2>&1) || { skip "programs of arm64" "$cannot" && finish; }
  exec bash "$ROOT/scripts/with_arm64.sh" bash "$0" inside
}

contains_no_path() { ! grep -aoF "$ROOT/" "$1" | sort | uniq -c; }
