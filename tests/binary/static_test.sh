#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Properties of the released programs: fully static, stripped, small, hardened, and without the operator's libraries. The
# wrapper is copied into every gated pod, so it has no JSON library; only the plugin of kubectl needs one.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

has_no_interpreter() { readelf -lW "$1" && ! readelf -lW "$1" | grep -q INTERP; }
needs_no_library() { readelf -dW "$1" && ! readelf -dW "$1" | grep -q NEEDED; }
is_stripped() { ! readelf -SW "$1" | grep -E '\.(symtab|debug_info)'; }
is_small() { stat -c '%s bytes' "$1" && [ "$(stat -c %s "$1")" -le "$2" ]; }
stack_is_not_executable() { readelf -lW "$1" | grep -E 'GNU_STACK.* RW +0x'; }
has_relro() { readelf -lW "$1" | grep GNU_RELRO; }
# A stripped program still contains type names: N5boost..., N10prometheus..., N3web4http... (cpprest).
contains_no_type_of() { ! grep -aoE "N$2" "$1" | sort | uniq -c; }
prints_its_version() { [ -n "$("$1" version)" ]; }
prints_its_help() { "$1" help | grep -q "kubectl cronlatch"; }

check_program() {  # check_program PROGRAM SIZE-LIMIT
  local name library
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
  for library in 5boost 10prometheus '3web4(http|json)'; do
    check "$name contains no type of $library" contains_no_type_of "$1" "$library"
  done
}
check_program "$BINARY" "$SIZE_LIMIT"
check_program "$PLUGIN" "$PLUGIN_SIZE_LIMIT"
check "cronlatch contains no type of the JSON library" contains_no_type_of "$BINARY" 8nlohmann
refuses "control: kubectl-cronlatch contains types of the JSON library" contains_no_type_of "$PLUGIN" 8nlohmann
check "cronlatch prints its version" prints_its_version "$BINARY"
check "kubectl-cronlatch prints its help" prints_its_help "$PLUGIN"

# Controls: the same checks must fail for other programs.
stage=$(mktemp -d)
trap 'rm -rf -- "$stage"' EXIT
printf '#include <typeinfo>\nnamespace boost { struct thing { virtual ~thing() {} }; }\n' >"$stage/wrong.cc"
printf 'int main() { boost::thing t; return typeid(t).name()[0] == 0; }\n' >>"$stage/wrong.cc"
check "control: a dynamic program can be built" g++ -g -o "$stage/wrong" "$stage/wrong.cc"
refuses "control: an interpreter is found" has_no_interpreter "$stage/wrong"
refuses "control: a needed library is found" needs_no_library "$stage/wrong"
refuses "control: symbols are found" is_stripped "$stage/wrong"
refuses "control: a size of one byte above the limit is found" is_small "$stage/wrong" $(($(stat -c %s "$stage/wrong") - 1))
refuses "control: a type of another library is found" contains_no_type_of "$stage/wrong" 5boost
finish
