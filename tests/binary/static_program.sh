# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The properties of a released program, whatever its architecture. Sourced after lib.sh.

is_for_amd64() { readelf -hW "$1" | grep -E 'Machine: +Advanced Micro Devices X86-64'; }
is_for_arm64() { readelf -hW "$1" | grep -E 'Machine: +AArch64'; }
has_no_interpreter() { readelf -lW "$1" && ! readelf -lW "$1" | grep -q INTERP; }
needs_no_library() { readelf -dW "$1" && ! readelf -dW "$1" | grep -q NEEDED; }
is_stripped() { ! readelf -SW "$1" | grep -E '\.(symtab|debug_info)'; }
is_small() { stat -c '%s bytes' "$1" && [ "$(stat -c %s "$1")" -le "$2" ]; }
stack_is_not_executable() { readelf -lW "$1" | grep -E 'GNU_STACK.* RW +0x'; }
has_relro() { readelf -lW "$1" | grep GNU_RELRO; }

check_static_program() {  # check_static_program PROGRAM SIZE-LIMIT
  local name
  name=$(basename -- "$1")
  if [ ! -x "$1" ]; then
    fail "the program $1 exists (./dev build creates it)"
    finish
  fi
  printf '      %s has %s bytes\n' "$name" "$(stat -c %s "$1")"
  check "$name has no interpreter" has_no_interpreter "$1"
  check "$name needs no shared library" needs_no_library "$1"
  check "$name is stripped" is_stripped "$1"
  check "$name has at most $2 bytes" is_small "$1" "$2"
  check "$name has a stack that cannot be executed" stack_is_not_executable "$1"
  check "$name makes relocated data read-only" has_relro "$1"
}
